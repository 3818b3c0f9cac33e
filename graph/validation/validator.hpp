#pragma once

#include <optional>
#include <span>
#include <string>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight {

struct ValidateOptions {
  bool strict = false;  ///< check Assumption 1 at inputs too
  /// Multiplications per sample and node that running deterministic nodes again may take; more is refused.
  double rerun_limit = 1e7;
  /// Operations per sample and unit that summing units out may take, for hindsight over several steps; more
  /// is refused. This many take about a tenth of a millisecond, and a chunk's tables some 25 MB.
  double elimination_limit = 1e5;
};

/// The largest elimination_limit: tables beyond it fit into no memory.
inline constexpr double largest_limit = 1e9;

/// Everything there is to say about a graph before it runs. Never throws for what the graph contains.
Report validate(const Graph&, const Catalogue&, const ValidateOptions& = {});

// Choices for many nodes at a time. What was chosen before no longer counts, also where it was chosen for one
// reward.

/// One node, by every reward there is.
void estimate_everywhere(Graph& graph, NodeId node, const EstimatorChoice& estimator);

/// Every stochastic node, by each reward, with the first of the estimators that is admissible there; Auto
/// decides where none is.
void estimate_with_first(Graph& graph, std::span<const AnyEstimator> estimators, const Catalogue& catalogue,
                         const ValidateOptions& options = {});

/// Why an estimator would come to nothing: no node admits it, or none at which it looks further than one step
/// does. What the validator says of the first of them; none: some node admits it.
std::optional<std::string> why_useless(const Graph& graph, const AnyEstimator& estimator,
                                       const Catalogue& catalogue, const ValidateOptions& options = {});

/// Every reward, whichever node it credits.
void compare_everywhere(Graph& graph, const BaselineChoice& baseline);

/// How a whole graph is credited.
struct CreditMethod {
  std::optional<AnyEstimator> estimator = {};   ///< none: as the graph says
  std::optional<BaselineChoice> baseline = {};  ///< of every reward; none: as the graph says

  /// "hnca", "reinforce + leave-one-out(samples=4)", "as the graph says".
  std::string name() const;
};

/// The method's estimator wherever it is admissible, elsewhere the first of the stand-ins that is; Auto
/// decides where none is.
void credit_with(Graph& graph, const CreditMethod& method, std::span<const AnyEstimator> stand_ins,
                 const Catalogue& catalogue, const ValidateOptions& options = {});

}  // namespace hindsight
