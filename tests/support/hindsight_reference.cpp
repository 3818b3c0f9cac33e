#include "support/hindsight_reference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "support/larger_error.hpp"

namespace hindsight::testing {

HindsightReference::HindsightReference(const Graph& graph) : graph_(graph) {
  for (const NodeId node : graph.nodes())
    for (int unit = 0; unit < graph.shape(node).units; ++unit) units_.push_back({node, unit});
  readers_.resize(units_.size());
  for (const UnitRef& unit : units_)
    for (const Graph::Parent& parent : graph.parents(unit.node))
      for (int from = 0; from < graph.shape(parent.node).units; ++from) {
        if (parent.connectivity) {
          const auto read = parent.connectivity->parents_of(unit.unit);
          if (std::find(read.begin(), read.end(), from) == read.end()) continue;
        }
        readers_[number({parent.node, from})].push_back(number(unit));
      }
}

/// By relaxing until nothing changes: an edge costs nothing if it leads into a deterministic unit.
std::vector<int> HindsightReference::distances(const UnitRef& unit) const {
  std::vector<int> distance(units_.size(), -1);
  distance[number(unit)] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t from = 0; from < units_.size(); ++from) {
      if (distance[from] < 0) continue;
      for (const std::size_t to : readers_[from]) {
        const int length = distance[from] + (graph_.is_deterministic(units_[to].node) ? 0 : 1);
        if (distance[to] >= 0 && distance[to] <= length) continue;
        distance[to] = length;
        changed = true;
      }
    }
  }
  return distance;
}

bool HindsightReference::reads(RewardId reward, NodeId node) const {
  const auto read = graph_.reads(reward);
  if (std::find(read.begin(), read.end(), node) != read.end()) return true;
  for (const NodeId child : graph_.children(node))
    if (graph_.is_deterministic(child) && reads(reward, child)) return true;
  return false;
}

bool HindsightReference::is_upstream(NodeId node, RewardId reward) const {
  return upstream_of(graph_, reward)[static_cast<std::size_t>(node.index)];
}

std::vector<UnitRef> HindsightReference::summed_out(const UnitRef& unit, RewardId reward, int steps) const {
  std::vector<UnitRef> summed;
  const std::vector<int> distance = distances(unit);
  for (const UnitRef& other : units_)
    if (distance[number(other)] > 0 && distance[number(other)] < steps && graph_.is_stochastic(other.node) &&
        !reads(reward, other.node))
      summed.push_back(other);
  return summed;
}

int HindsightReference::depth(const UnitRef& unit, RewardId reward) const {
  const std::vector<int> distance = distances(unit);
  int deepest = 0;
  for (const UnitRef& other : summed_out(unit, reward, every_step))
    deepest = std::max(deepest, distance[number(other)]);
  return deepest;
}

double posterior_error(const RandomGraph& random, const BasicModel<double>& model, NodeId node,
                       RewardId reward, int steps) {
  const HindsightReference reference(random.graph);
  const int units = random.graph.shape(node).units, outcome_count = random.graph.shape(node).outcome_count();
  std::vector<RewardFunction> rewards = random.rewards;
  for (RewardFunction& one : rewards)
    one.value = [is_credited = one.reward == reward](const JointOutcome&) { return is_credited ? 1.0 : 0.0; };
  using Key = std::vector<int>;
  std::vector<std::map<Key, std::vector<double>>> joint(static_cast<std::size_t>(units));
  const auto keys = [&](const JointOutcome& outcome, int unit) {
    const std::vector<UnitRef> summed = reference.summed_out({node, unit}, reward, steps);
    Key key{outcome.input_row()};
    for (const NodeId other : random.stochastic)
      for (int u = 0; u < random.graph.shape(other).units; ++u) {
        const UnitRef ref{other, u};
        if (ref == UnitRef{node, unit} || std::find(summed.begin(), summed.end(), ref) != summed.end())
          continue;
        key.push_back(outcome(other, u));
      }
    return key;
  };
  std::vector<std::vector<double>> storage;
  const auto inputs = random.bind(storage);
  for_each_state<double>(model, inputs, rewards, [&](const State<double>& state) {
    for (int unit = 0; unit < units; ++unit) {
      auto& of = joint[static_cast<std::size_t>(unit)][keys(*state.outcome, unit)];
      of.resize(static_cast<std::size_t>(outcome_count), 0.0);
      of[static_cast<std::size_t>((*state.outcome)(node, unit))] += state.probability;
    }
  });
  double largest = 0;
  for_each_state<double>(model, inputs, rewards, [&](const State<double>& state) {
    const auto log_probs = state.run->log_probs(node), credit = state.run->credit(node);
    for (int unit = 0; unit < units; ++unit) {
      const auto& of = joint[static_cast<std::size_t>(unit)][keys(*state.outcome, unit)];
      double total = 0;
      for (const double one : of) total += one;
      for (int k = 0; k < outcome_count; ++k) {
        const double posterior =
            std::exp(log_probs(0, unit * outcome_count + k)) + credit(0, unit * outcome_count + k);
        largest = larger_error(largest, std::abs(posterior - of[static_cast<std::size_t>(k)] / total));
      }
    }
  });
  return largest;
}

}  // namespace hindsight::testing
