#pragma once

#include <optional>
#include <vector>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight {

struct ValidateOptions {
  bool strict = false;  ///< check Assumption 1 at inputs too
  /// Multiplications per sample and node that re-evaluating deterministic nodes may take; more is refused.
  double reevaluation_limit = 1e7;
  /// Operations per sample and unit that summing units out may take, for hindsight over several steps; more
  /// is refused. This many take about a tenth of a millisecond, and a chunk's tables some 25 MB.
  double elimination_limit = 1e5;
};

/// The largest elimination_limit: tables beyond it fit into no memory.
inline constexpr double largest_limit = 1e9;

/// Everything there is to say about a graph before it runs. Never throws for what the graph contains.
Report validate(const Graph&, const Catalogue&, const ValidateOptions& = {});

/// Which estimator credits which node with which reward.
struct Assignment {
  NodeId node;
  RewardId reward;
  AnyEstimator estimator;
  std::optional<AnyBaseline> baseline;
};

/// A report, and the estimators it speaks of. The assignments are complete only if the report is admissible.
struct Examination {
  Report report;
  std::vector<Assignment> assignments;
};

Examination examine(const Graph&, const Catalogue&, const ValidateOptions& = {});

}  // namespace hindsight
