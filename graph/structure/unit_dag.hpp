#pragma once

#include <vector>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/parent_graph.hpp>

namespace hindsight::internal {

/// Some nodes of a graph, written out unit by unit.
struct UnitDag {
  ParentGraph dag;
  std::vector<UnitRef> refs;  ///< per vertex; a hub has unit -1
  std::vector<Vertex> first;  ///< per node, and one more: its first unit; those left out have none

  Vertex vertex(const UnitRef& ref) const { return first[index(ref.node)] + static_cast<Vertex>(ref.unit); }
};

enum class DenseEdges {
  through_hubs,  ///< all units of a population lead to its hub, which its dense children read: cheap
  pair_by_pair,
};

/// Edges between the wanted nodes, in the order in which they were added.
UnitDag expand(const Graph&, const std::vector<bool>& wanted, DenseEdges);

}  // namespace hindsight::internal
