#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <hindsight/graph/choices.hpp>
#include <hindsight/graph/microscope.hpp>

namespace hindsight {
namespace {

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

/// What the best contenders come to, at every node that may choose among those of one number of replicas.
struct Advice {
  double cost = 0;
  std::map<NodeId, const Comparison::Row*> best;
};

Advice advise_among(const Graph& graph, const Comparison& comparison, int replicas) {
  Advice advice;
  for (std::size_t i = 0; i < comparison.nodes.size(); ++i) {
    if (!graph.is_stochastic(comparison.nodes[i].id)) continue;
    double least = std::numeric_limits<double>::infinity();
    for (const Comparison::Row& row : comparison.rows) {
      if (!row.refusal.empty() || row.replicas != replicas) continue;
      const Comparison::View& view = row.nodes[i];
      const double cost = view.best_variance() * row.seconds_per_sample;
      if (!view.applies || !view.unbiased || std::abs(view.z) > certain_z || !(cost < least)) continue;
      least = cost;
      advice.best[comparison.nodes[i].id] = &row;
    }
    if (std::isfinite(least)) advice.cost += least;
  }
  return advice;
}

}  // namespace

Graph advise(const Graph& graph, const Comparison& comparison) {
  Advice best;
  for (const Comparison::Row& row : comparison.rows) {
    if (!row.refusal.empty()) continue;
    Advice advice = advise_among(graph, comparison, row.replicas);
    // The more nodes have a choice the better: a cost of nothing is no merit.
    if (best.best.size() < advice.best.size() ||
        (best.best.size() == advice.best.size() && advice.cost < best.cost))
      best = std::move(advice);
  }
  Graph advised = graph;
  for (const auto& [node, row] : best.best) copy_choices(*row, node, advised);
  return advised;
}

}  // namespace hindsight
