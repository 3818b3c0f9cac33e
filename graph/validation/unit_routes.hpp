#pragma once

#include <vector>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::internal {

/// Units of one node from which no route leads to any reward, patterns followed unit by unit.
struct LostUnits {
  int count = 0;
  int first = 0;
};

/// Per node. Takes a step per dense edge and per pair of a pattern, and a bit per unit that a pattern reads.
std::vector<LostUnits> units_without_route(const Graph& graph);

/// That they will not learn. There must be some.
Diagnostic explain_lost_units(const Graph& graph, NodeId node, const LostUnits& lost);

}  // namespace hindsight::internal
