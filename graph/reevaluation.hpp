#pragma once

#include <optional>
#include <span>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/node.hpp>
#include <hindsight/graph/contraction.hpp>

namespace hindsight {

/// Multiplications per sample that telling the node by re-evaluation takes; 0 where messages do.
double reevaluation_cost(const Graph& graph, NodeId node, const Downstream& below);

/// Evidence for a node whose children are reached through deterministic nodes: for every unit and every other
/// outcome of it, what follows from that outcome is computed anew, all routes at once, and each child counts
/// once.
template <class S>
class Reevaluation {
 public:
  /// Refers to the node's placement and to `nodes`.
  Reevaluation(const Placement& node, const Downstream& below, std::span<const Placement> placements,
               std::span<const std::optional<AnyNode>> nodes);

  /// Adds to the evidence in `actual`. `trial` is a copy of its features, outcomes and bits for the blocks to
  /// work in, with everything clamped; it is left as it was found, but for log-probabilities.
  void send(const Frame<S>& actual, const Frame<S>& trial) const;

  bool reads_bits() const;
  ScratchSize scratch(int lanes) const;

 private:
  [[noreturn]] void refuse_not_a_number(const std::string& child) const;
  void show(const Frame<S>& trial, std::size_t unit, const Outcome* outcomes) const;

  const Placement& node_;
  std::vector<Placement> functions_, children_;  ///< that want no messages and no slopes
  Blocks<S> blocks_;                             ///< of both, in the order of the forward pass
};

}  // namespace hindsight
