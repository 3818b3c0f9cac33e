#pragma once

#include <span>
#include <vector>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/validation_result.hpp>

namespace hindsight::internal {

/// Per node: does every stochastic child that reads it pass slopes back? (No other can read a deterministic
/// node.)
std::vector<bool> have_slopes_of_children(const Graph& graph);
/// The first child that does not; there must be one.
NodeId child_without_slopes(const Graph& graph, NodeId node);

/// Slopes do not tell rewards apart: whether an estimator that is made of them serves some of the node's
/// rewards and another one the others. Takes all assignments of one node.
bool mixes_pathwise(std::span<const Assignment> of_node);
/// Why that is refused, and how to serve all or none of them.
Diagnostic explain_pathwise_mix(const Graph& graph, const Contraction& contraction,
                                std::span<const Assignment> of_node);

/// Keeps alternatives also in `others`; all if `others` is empty.
void keep_common(std::vector<Alternative>& alternatives, std::span<const Alternative> others);

}  // namespace hindsight::internal
