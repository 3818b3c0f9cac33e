#pragma once

#include <hindsight/core/estimator.hpp>
#include <hindsight/graph/clamped_blocks.hpp>
#include <hindsight/graph/contraction.hpp>

namespace hindsight::internal {

/// Multiplications per sample that telling the node by running its children again takes; 0 where messages do.
/// Asking a known reward that reads the node is no message.
double rerun_cost(const Graph& graph, NodeId node, const Downstream& below, const Facts& facts);

/// Evidence for a node whose children are reached through deterministic nodes: for every unit and every other
/// outcome of it, what follows from that outcome is computed anew, all routes at once, and each child counts
/// once.
template <class S>
class ClampedRerun {
 public:
  /// Refers to the node's placement and to the elements of `nodes`.
  ClampedRerun(const Placement& node, const Downstream& below, std::span<const Placement> placements,
               std::span<const std::optional<AnyNode>> nodes)
      : node_(node), blocks_(below.functions, below.children, placements, nodes) {}

  /// Adds to the evidence in `actual`. `trial` is a copy of its features, outcomes and bits for the blocks to
  /// work in, with everything clamped; it is left as it was found, but for log-probabilities.
  void send(const Frame<S>& actual, const Frame<S>& trial) const;
  /// The same trial, for whatever else depends on the node: calls visit(unit, tried) with every sample of the
  /// trial showing the outcome tried[sample], and all that follows from it, until every outcome that was not
  /// sampled was shown.
  template <class Visit>
  void for_each_candidate(const Frame<S>& actual, const Frame<S>& trial, const Visit& visit) const;

  bool reads_bits() const { return blocks_.reads_bits(); }
  ScratchSize scratch(int lanes) const { return blocks_.scratch(lanes); }

 private:
  const Placement& node_;
  ClampedBlocks<S> blocks_;
};

template <class S>
template <class Visit>
void ClampedRerun<S>::for_each_candidate(const Frame<S>& actual, const Frame<S>& trial,
                                         const Visit& visit) const {
  const Outcome outcome_count = node_.shape.outcome_count();
  for (std::size_t unit = 0; unit < static_cast<std::size_t>(node_.shape.units); ++unit) {
    const Outcome* const sampled = actual.outcome(node_.unit_row + unit);
    // Every sample tries the outcome that is `shift` further than its own.
    for (Outcome shift = 1; shift < outcome_count; ++shift) {
      Outcome tried[chunk_samples];
      for (int i = 0; i < actual.lanes; ++i) tried[i] = (sampled[i] + shift) % outcome_count;
      show(trial, node_, unit, tried);
      blocks_.run(trial);
      visit(unit, static_cast<const Outcome*>(tried));
    }
    show(trial, node_, unit, sampled);
  }
  blocks_.restore(actual, trial);
}

}  // namespace hindsight::internal
