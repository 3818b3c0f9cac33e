#pragma once

#include <optional>
#include <vector>

#include <hindsight/graph/validator.hpp>

namespace hindsight::internal {

/// Which estimator credits which node with which reward.
struct Assignment {
  NodeId node;
  RewardId reward;
  AnyEstimator estimator;
  std::optional<AnyBaseline> baseline;
};

/// A report, and the estimators it speaks of. The assignments are complete only if the report is admissible.
struct ValidationResult {
  Report report;
  std::vector<Assignment> assignments;
};

/// What `validate` reports, with what a plan needs to know.
ValidationResult examine(const Graph&, const Catalogue&, const ValidateOptions& = {});

}  // namespace hindsight::internal
