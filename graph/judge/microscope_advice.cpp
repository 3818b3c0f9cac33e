#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <set>

#include <hindsight/graph/microscope.hpp>

namespace hindsight {
namespace {

/// What one contender would be at one node.
struct Offer {
  const Comparison::Row* row = nullptr;
  double variance = 0;
  double seconds = 0;  ///< the node's share of what the contender adds to the quickest of all
};

/// A node, what it may choose, and the choice. The offers are those that are best at some price of time, the
/// quickest first.
struct Chooser {
  NodeId node;
  std::vector<Offer> offers;
  std::size_t chosen = 0;

  /// What a second must be worth for the next offer to be taken: variance per second.
  double next_price() const {
    const Offer &now = offers[chosen], &next = offers[chosen + 1];
    return (now.variance - next.variance) / (next.seconds - now.seconds);
  }
};

bool is_sound(const Comparison::View& view) { return view.unbiased && !view.is_seen_biased(); }

/// Leaves the lower left hull: at every price of time one of them is as good as any.
void keep_best(std::vector<Offer>& offers) {
  std::sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    return std::pair(a.seconds, a.variance) < std::pair(b.seconds, b.variance);
  });
  std::vector<Offer> best;
  for (const Offer& offer : offers) {
    if (!best.empty() && offer.variance >= best.back().variance) continue;
    const auto is_above = [&](const Offer& a, const Offer& b) {
      return (a.variance - b.variance) * (offer.seconds - b.seconds) <=
             (b.variance - offer.variance) * (b.seconds - a.seconds);
    };
    while (best.size() > 1 && is_above(best[best.size() - 2], best.back())) best.pop_back();
    best.push_back(offer);
  }
  offers = std::move(best);
}

/// Choices for all nodes with the least product of all variance and all time. It lies on the hull of what all
/// nodes together can choose, which is walked from the quickest on, a step of one node at a time, the step
/// that gains the most per second first.
class Advice {
 public:
  Advice(const Graph& graph, const Comparison& comparison, int replicas) {
    for (const Comparison::Row& row : comparison.rows) {
      if (!row.refusal.empty() || row.replicas != replicas) continue;
      Competitor& competitor = competitors_.emplace_back(Competitor{&row});
      for (std::size_t i = 0; i < comparison.nodes.size(); ++i)
        if (row.nodes[i].applies) competitor.units += graph.shape(comparison.nodes[i].id).units;
      quickest_ = std::min(quickest_, row.seconds_per_sample);
    }
    for (std::size_t i = 0; i < comparison.nodes.size(); ++i)
      if (graph.is_stochastic(comparison.nodes[i].id)) add_chooser(graph, comparison, i);
    walk();
  }

  std::span<const Chooser> choosers() const { return choosers_; }
  double cost() const { return cost_; }

 private:
  /// A contender, and the units that it credits.
  struct Competitor {
    const Comparison::Row* row = nullptr;
    double units = 0;
  };

  void add_chooser(const Graph& graph, const Comparison& comparison, std::size_t i) {
    Chooser chooser{comparison.nodes[i].id, {}};
    // Time is shared out by units: blocks work many nodes at once, and no clock can tell them apart.
    for (const auto& [row, units] : competitors_)
      if (row->nodes[i].applies && is_sound(row->nodes[i]))
        chooser.offers.push_back(
            {row, row->nodes[i].best_variance(),
             (row->seconds_per_sample - quickest_) * graph.shape(chooser.node).units / units});
    if (chooser.offers.empty()) return;
    keep_best(chooser.offers);
    choosers_.push_back(std::move(chooser));
  }

  void walk() {
    double variance = 0, seconds = quickest_;
    using Step = std::pair<double, std::size_t>;  // its price, and the node that takes it
    std::priority_queue<Step> steps;
    const auto offer_next = [&](std::size_t i) {
      if (choosers_[i].chosen + 1 < choosers_[i].offers.size()) steps.emplace(choosers_[i].next_price(), i);
    };
    for (std::size_t i = 0; i < choosers_.size(); ++i) {
      variance += choosers_[i].offers.front().variance;
      seconds += choosers_[i].offers.front().seconds;
      offer_next(i);
    }
    std::vector<Chooser> best = choosers_;
    cost_ = variance * seconds;
    while (!steps.empty()) {
      Chooser& chooser = choosers_[steps.top().second];
      const Offer &now = chooser.offers[chooser.chosen], &next = chooser.offers[chooser.chosen + 1];
      variance += next.variance - now.variance;
      seconds += next.seconds - now.seconds;
      ++chooser.chosen;
      const std::size_t i = steps.top().second;
      steps.pop();
      offer_next(i);
      taken_.push_back(i);
      if (variance * seconds < cost_) {
        cost_ = variance * seconds;
        kept_ = taken_.size();
      }
    }
    choosers_ = std::move(best);
    for (std::size_t step = 0; step < kept_; ++step) ++choosers_[taken_[step]].chosen;
  }

  std::vector<Competitor> competitors_;
  double quickest_ = std::numeric_limits<double>::infinity(), cost_ = 0;
  std::vector<Chooser> choosers_;
  std::vector<std::size_t> taken_;  ///< whose steps, one after another
  std::size_t kept_ = 0;            ///< how many of them to take
};

void copy_choices(const Comparison::Row& from, NodeId node, Graph& to) {
  estimate_everywhere(to, node, from.graph.choice(node));
  for (const RewardId reward : to.rewards())
    if (from.graph.has_own_choice(node, reward))
      to.estimate_with(node, reward, from.graph.choice(node, reward));
  const auto& estimator = from.contender.estimator;
  if (!from.contender.baseline || (estimator && estimator->needs().pathwise)) return;
  to.baseline(node, *from.contender.baseline);
  for (const RewardId reward : to.rewards())
    if (to.chosen_baseline(node, reward) != nullptr) to.baseline(node, reward, *from.contender.baseline);
}

}  // namespace

std::optional<std::size_t> best_single(const Comparison& comparison) {
  std::optional<std::size_t> best;
  const auto cost = [&](std::size_t r) {
    return comparison.rows[r].variance() * comparison.rows[r].seconds_per_sample;
  };
  for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
    const Comparison::Row& row = comparison.rows[r];
    if (row.refusal.empty() && std::all_of(row.nodes.begin(), row.nodes.end(), is_sound) &&
        (!best || cost(r) < cost(*best)))
      best = r;
  }
  return best;
}

Graph advise(const Graph& graph, const Comparison& comparison) {
  std::set<int> replicas;
  for (const Comparison::Row& row : comparison.rows)
    if (row.refusal.empty()) replicas.insert(row.replicas);
  std::optional<Advice> best;
  for (const int count : replicas) {
    Advice advice(graph, comparison, count);
    // A node without a choice costs nothing, which is no merit.
    const auto choices = [](const Advice& of) { return of.choosers().size(); };
    if (!best || choices(*best) < choices(advice) ||
        (choices(*best) == choices(advice) && advice.cost() < best->cost()))
      best = std::move(advice);
  }
  Graph advised = graph;
  if (best)
    for (const Chooser& chooser : best->choosers())
      copy_choices(*chooser.offers[chooser.chosen].row, chooser.node, advised);
  return advised;
}

}  // namespace hindsight
