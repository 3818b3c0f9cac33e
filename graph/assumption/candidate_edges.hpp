#pragma once

#include <vector>

#include <hindsight/graph/reachability.hpp>
#include <hindsight/graph/unit_dag.hpp>
#include <hindsight/graph/violations.hpp>

namespace hindsight::internal {

/// A graph at one level of detail, nodes or single units, and the vertices whose edges are to be checked.
struct CandidateEdges {
  ParentGraph dag;
  std::vector<UnitRef> refs;    ///< per vertex; empty: vertices are nodes
  std::vector<Source> sources;  ///< in ascending order

  UnitRef ref(Vertex vertex) const { return refs.empty() ? UnitRef{node_of(vertex)} : refs[vertex]; }
};

/// Nodes with an edge across more than one level: no other edge can be at fault. Inputs only on request.
CandidateEdges candidate_node_edges(const Graph&, const Contraction&, InputPolicy);

/// Units of the violating populations, among the nodes given.
CandidateEdges candidate_unit_edges(const Graph&, const Violations& populations,
                                    const std::vector<bool>& nodes, DenseEdges);

/// Nodes that lie between a violating population and a child to which its edge is at fault, ends included:
/// nothing else matters unit by unit.
std::vector<bool> neighbourhood(const Graph&, const Violations& populations);

/// Edges between nodes at fault, all nodes being taken as a whole.
Violations violations_of(const Graph&, CandidateEdges& nodes);

/// Whether an edge of the graph joins some pairs of units only.
bool has_sparse_edge(const Graph&);
bool has_sparse_edge_among(const Graph&, const std::vector<bool>& nodes);

}  // namespace hindsight::internal
