#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <boost/graph/compressed_sparse_row_graph.hpp>

#include <hindsight/graph/vertex.hpp>

namespace hindsight::internal {

/// Boost.Graph's compressed sparse rows: the neighbours of all vertices in one piece, those of a vertex in
/// the order in which they were given.
using SparseRows =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                       boost::no_property, Vertex, std::size_t>;

/// (from, to), in the order of `from`.
using EdgeList = std::vector<std::pair<Vertex, Vertex>>;

inline SparseRows rows_of(const EdgeList& edges, std::size_t vertices) {
  return {boost::edges_are_sorted, edges.begin(), edges.end(), static_cast<Vertex>(vertices), edges.size()};
}

inline std::span<const Vertex> neighbours(const SparseRows& rows, Vertex vertex) {
  const auto [first, last] = adjacent_vertices(vertex, rows);
  return {first, last};
}

/// A DAG whose edges lead from every child to its parents, which have lower numbers. Transparent vertices
/// (deterministic nodes, hubs of populations) join their parents to their children.
struct ParentGraph {
  SparseRows edges;
  std::vector<char> transparent;  ///< per vertex; empty: none is

  std::size_t size() const { return num_vertices(edges); }
  bool is_transparent(Vertex vertex) const { return !transparent.empty() && transparent[vertex]; }
  /// In the order in which the vertex lists them.
  std::span<const Vertex> parents_of(Vertex vertex) const { return neighbours(edges, vertex); }
};

/// The same with every edge turned round.
struct ChildGraph {
  SparseRows edges;

  /// In ascending order.
  std::span<const Vertex> children_of(Vertex vertex) const { return neighbours(edges, vertex); }
};

/// Of edges that lead from children to parents.
ChildGraph child_graph(const EdgeList& edges, std::size_t vertices);

}  // namespace hindsight::internal
