#pragma once

#include <span>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/validator.hpp>

namespace hindsight {

// Choices for many nodes at a time. What was chosen before no longer counts, also where it was chosen for one
// reward.

/// One node, by every reward there is.
void estimate_everywhere(Graph& graph, NodeId node, const EstimatorChoice& estimator);

/// Every stochastic node, by each reward, with the first of the estimators that is admissible there; Auto
/// decides where none is.
void estimate_with_first(Graph& graph, std::span<const AnyEstimator> estimators, const Catalogue& catalogue,
                         const ValidateOptions& options = {});

/// Every reward, whichever node it credits.
void compare_everywhere(Graph& graph, const BaselineChoice& baseline);

}  // namespace hindsight
