#pragma once

#include <optional>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::internal {

/// How many samples of each input the baselines of a graph want. One workspace can hold only one number.
class SamplesOfInputs {
 public:
  /// Of one pair after another. None: it goes with those before.
  std::optional<Diagnostic> check(const Graph&, NodeId, RewardId, const AnyBaseline&);

 private:
  std::optional<AnyBaseline> first_;  ///< that wants several
};

/// Chosen for the node, not just for the reward.
bool has_baseline_of_its_own(const Graph&, NodeId, RewardId);
/// The estimator is made of slopes and has no use for it.
Diagnostic explain_unused_baseline(const Graph&, NodeId, RewardId, const AnyEstimator&);

}  // namespace hindsight::internal
