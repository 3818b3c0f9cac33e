#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/node.hpp>
#include <hindsight/graph/contraction.hpp>

namespace hindsight {

/// Multiplications per sample that telling the node by re-evaluation takes; 0 where messages do. Asking a
/// known reward that reads the node is no message.
double reevaluation_cost(const Graph& graph, NodeId node, const Downstream& below, const Facts& known);

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
  /// The same trial, for whatever else depends on the node: calls visit(unit, tried) with every sample of the
  /// trial showing the outcome tried[sample], and all that follows from it, until every outcome that was not
  /// sampled was shown.
  template <class Visit>
  void for_each_candidate(const Frame<S>& actual, const Frame<S>& trial, const Visit& visit) const;

  bool reads_bits() const;
  ScratchSize scratch(int lanes) const;

 private:
  [[noreturn]] void refuse_not_a_number(const std::string& child) const;
  void show(const Frame<S>& trial, std::size_t unit, const Outcome* outcomes) const;

  const Placement& node_;
  std::vector<Placement> functions_, children_;  ///< that want no messages and no slopes
  Blocks<S> blocks_;                             ///< of both, in the order of the forward pass
};

template <class S>
template <class Visit>
void Reevaluation<S>::for_each_candidate(const Frame<S>& actual, const Frame<S>& trial,
                                         const Visit& visit) const {
  const Outcome outcomes = node_.shape.outcomes();
  for (std::size_t unit = 0; unit < static_cast<std::size_t>(node_.shape.units); ++unit) {
    const Outcome* const sampled = actual.outcome(node_.unit_row + unit);
    // Every sample tries the outcome that is `shift` further than its own.
    for (Outcome shift = 1; shift < outcomes; ++shift) {
      Outcome tried[chunk_samples];
      for (int i = 0; i < actual.lanes; ++i) tried[i] = (sampled[i] + shift) % outcomes;
      show(trial, unit, tried);
      for (const auto& block : blocks_) block->forward(trial);
      visit(unit, static_cast<const Outcome*>(tried));
    }
    show(trial, unit, sampled);
  }
  for (const Placement& function : functions_)
    for (std::size_t u = 0; u < static_cast<std::size_t>(function.shape.units); ++u)
      std::copy_n(actual.feature(function.feature_row + u), actual.lanes,
                  trial.feature(function.feature_row + u));
}

}  // namespace hindsight
