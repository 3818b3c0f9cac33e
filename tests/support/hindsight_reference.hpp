#pragma once

#include <vector>

#include "support/random_graphs.hpp"

namespace hindsight::testing {

/// What hindsight over several steps is by definition, from every joint outcome: slow, and independent of
/// how the library finds it.
class HindsightReference {
 public:
  explicit HindsightReference(const Graph& graph);

  /// The units that the reward does not read and that descend from the unit by less than `steps` edges,
  /// deterministic nodes not counted.
  std::vector<UnitRef> summed_out(const UnitRef& unit, RewardId reward, int steps) const;
  /// The largest distance of an unread descendant; 0: there is none.
  int depth(const UnitRef& unit, RewardId reward) const;
  bool reads(RewardId reward, NodeId node) const;
  bool is_upstream(NodeId node, RewardId reward) const;

 private:
  /// Edges from every unit to every other; -1: none leads there.
  std::vector<int> distances(const UnitRef& unit) const;
  std::size_t number(const UnitRef& unit) const {
    return graph_.first_unit(unit.node) + static_cast<std::size_t>(unit.unit);
  }

  const Graph& graph_;
  std::vector<UnitRef> units_;
  std::vector<std::vector<std::size_t>> readers_;  ///< per unit, deterministic ones included
};

/// The largest difference, over all joint outcomes, between the posterior of the node's units under the
/// reward and P(unit | everything but the unit and what is summed out). The graph's only credit must be that
/// of the node and the reward; all others are given signal 0.
double posterior_error(const RandomGraph& random, const BasicModel<double>& model, NodeId node,
                       RewardId reward, int steps);

}  // namespace hindsight::testing
