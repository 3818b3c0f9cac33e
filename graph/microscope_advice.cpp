#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <hindsight/graph/choices.hpp>
#include <hindsight/graph/microscope.hpp>

namespace hindsight {
namespace {

/// What one contender would be at one node.
struct Offer {
  const Comparison::Row* row = nullptr;
  double variance = 0;
  double seconds = 0;  ///< the node's share of what the contender adds to the quickest of all
};

/// A node, the contenders it may choose among, and the choice.
struct Chooser {
  NodeId node;
  std::vector<Offer> offers;
  std::size_t chosen = 0;
};

bool is_sound(const Comparison::View& view) {
  return view.applies && view.unbiased && std::abs(view.z) <= certain_z;
}

bool competes(const Comparison::Row& row, int replicas) {
  return row.refusal.empty() && row.replicas == replicas;
}

/// Choices for all nodes that minimise the product of all variance and all time, node by node until none
/// gains by another choice.
class Advice {
 public:
  Advice(const Graph& graph, const Comparison& comparison, int replicas)
      : variance_(0), seconds_(std::numeric_limits<double>::infinity()) {
    for (const Comparison::Row& row : comparison.rows)
      if (competes(row, replicas)) seconds_ = std::min(seconds_, row.seconds_per_sample);
    const double quickest = seconds_;
    for (const Comparison::Node& node : comparison.nodes)
      if (graph.is_stochastic(node.id)) choosers_.push_back({node.id, {}});
    for (const Comparison::Row& row : comparison.rows)
      if (competes(row, replicas)) add_offers(graph, comparison, row, row.seconds_per_sample - quickest);
    std::erase_if(choosers_, [](const Chooser& chooser) { return chooser.offers.empty(); });
    for (const Chooser& chooser : choosers_) {
      variance_ += chooser.offers.front().variance;
      seconds_ += chooser.offers.front().seconds;
    }
    while (improve()) {
    }
  }

  std::span<const Chooser> choosers() const { return choosers_; }
  double cost() const { return variance_ * seconds_; }

 private:
  /// Time is shared out by units: blocks work many nodes at once, and no clock can tell them apart.
  void add_offers(const Graph& graph, const Comparison& comparison, const Comparison::Row& row,
                  double extra) {
    double units = 0;
    for (std::size_t i = 0; i < comparison.nodes.size(); ++i)
      if (row.nodes[i].applies) units += graph.shape(comparison.nodes[i].id).units;
    auto chooser = choosers_.begin();
    for (std::size_t i = 0; i < comparison.nodes.size(); ++i) {
      if (!graph.is_stochastic(comparison.nodes[i].id)) continue;
      if (is_sound(row.nodes[i]))
        chooser->offers.push_back(
            {&row, row.nodes[i].best_variance(), extra * graph.shape(chooser->node).units / units});
      ++chooser;
    }
  }

  bool improve() {
    bool changed = false;
    for (Chooser& chooser : choosers_)
      for (std::size_t k = 0; k < chooser.offers.size(); ++k) {
        const Offer &now = chooser.offers[chooser.chosen], &other = chooser.offers[k];
        const double variance = variance_ - now.variance + other.variance,
                     seconds = seconds_ - now.seconds + other.seconds;
        if (!(variance * seconds < cost() * (1 - 1e-9))) continue;
        chooser.chosen = k;
        variance_ = variance;
        seconds_ = seconds;
        changed = true;
      }
    return changed;
  }

  std::vector<Chooser> choosers_;
  double variance_, seconds_;
};

void copy_choices(const Comparison::Row& from, NodeId node, Graph& to) {
  estimate_everywhere(to, node, from.graph.choice(node));
  for (int r = 0; r < to.reward_count(); ++r)
    if (from.graph.has_own_choice(node, {r})) to.estimate_with(node, {r}, from.graph.choice(node, {r}));
  const auto& estimator = from.contender.estimator;
  if (!from.contender.baseline || (estimator && estimator->needs().pathwise)) return;
  to.baseline(node, *from.contender.baseline);
  for (int r = 0; r < to.reward_count(); ++r)
    if (to.chosen_baseline(node, {r}) != nullptr) to.baseline(node, {r}, *from.contender.baseline);
}

}  // namespace

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
