#pragma once

#include <optional>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::internal {

/// What children see must be finite in float, in which models run unless they are told otherwise.
std::optional<Diagnostic> infinite_value(const Graph& graph, NodeId node);

}  // namespace hindsight::internal
