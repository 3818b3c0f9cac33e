#pragma once

/// hindsight::Graph as Boost.Graph's algorithms see it: a VertexListGraph, EdgeListGraph, BidirectionalGraph,
/// AdjacencyGraph and AdjacencyMatrix with readable properties. Nothing is copied. Rewards are no vertices.
///
/// It and the two it includes, <hindsight/graph/boost_import.hpp> and <hindsight/graph/boost_properties.hpp>,
/// are the only headers that need Boost, and no part of <hindsight/hindsight.hpp>: a program that includes
/// one has Boost.Graph 1.74 or later, and includes the algorithms it runs. Call vertices(graph),
/// out_edges(node, graph) and the other functions without a namespace. Adding to the graph invalidates
/// iterators, but no ids.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include <boost/graph/graph_traits.hpp>
#include <boost/iterator/iterator_facade.hpp>

#include <hindsight/core/ids.hpp>
#include <hindsight/graph/boost_import.hpp>
#include <hindsight/graph/boost_properties.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight {
namespace internal {

template <class Iterator>
using EdgeFacade = boost::iterator_facade<Iterator, EdgeId, boost::random_access_traversal_tag, EdgeId>;

/// Edges to the children of a node. Their positions are not known: finding one takes time that is linear in
/// the number of the child's parents, and most algorithms need none.
class OutEdgeIterator : public EdgeFacade<OutEdgeIterator> {
 public:
  OutEdgeIterator() = default;
  OutEdgeIterator(NodeId parent, const NodeId* child) : parent_(parent), child_(child) {}

 private:
  friend class boost::iterator_core_access;
  EdgeId dereference() const { return {parent_, *child_}; }
  bool equal(const OutEdgeIterator& other) const { return child_ == other.child_; }
  void increment() { ++child_; }
  void decrement() { --child_; }
  void advance(std::ptrdiff_t steps) { child_ += steps; }
  std::ptrdiff_t distance_to(const OutEdgeIterator& other) const { return other.child_ - child_; }

  NodeId parent_;
  const NodeId* child_ = nullptr;
};

/// Edges from the parents of a node, in the order in which it lists them.
class InEdgeIterator : public EdgeFacade<InEdgeIterator> {
 public:
  InEdgeIterator() = default;
  InEdgeIterator(NodeId child, const Graph::Parent* parents, int position)
      : child_(child), parents_(parents), position_(position) {}

 private:
  friend class boost::iterator_core_access;
  EdgeId dereference() const { return {parents_[position_].node, child_, position_}; }
  bool equal(const InEdgeIterator& other) const { return position_ == other.position_; }
  void increment() { ++position_; }
  void decrement() { --position_; }
  void advance(std::ptrdiff_t steps) { position_ += static_cast<int>(steps); }
  std::ptrdiff_t distance_to(const InEdgeIterator& other) const { return other.position_ - position_; }

  NodeId child_;
  const Graph::Parent* parents_ = nullptr;
  int position_ = 0;
};

/// All edges, child after child, each with its edges in the order in which it lists its parents.
class EdgeIterator
    : public boost::iterator_facade<EdgeIterator, EdgeId, boost::forward_traversal_tag, EdgeId> {
 public:
  EdgeIterator() = default;
  /// From the first edge to this child or to one after it.
  EdgeIterator(const Graph& graph, NodeId child) : graph_(&graph), child_(child) { find_parents(); }

 private:
  friend class boost::iterator_core_access;
  EdgeId dereference() const {
    return {parents_[static_cast<std::size_t>(position_)].node, child_, position_};
  }
  bool equal(const EdgeIterator& other) const {
    return child_ == other.child_ && position_ == other.position_;
  }
  void increment() {
    if (static_cast<std::size_t>(++position_) < parents_.size()) return;
    position_ = 0;
    ++child_.index;
    find_parents();
  }
  void find_parents() {
    for (; child_.index < graph_->node_count(); ++child_.index)
      if (parents_ = graph_->parents(child_); !parents_.empty()) return;
  }

  const Graph* graph_ = nullptr;
  NodeId child_;
  std::span<const Graph::Parent> parents_;  ///< of that child
  int position_ = 0;
};

struct GraphTraversal : boost::vertex_list_graph_tag,
                        boost::edge_list_graph_tag,
                        boost::bidirectional_graph_tag,
                        boost::adjacency_graph_tag,
                        boost::adjacency_matrix_tag {};

}  // namespace internal
}  // namespace hindsight

template <>
struct boost::graph_traits<hindsight::Graph> {
  using vertex_descriptor = hindsight::NodeId;
  using edge_descriptor = hindsight::EdgeId;
  using vertex_iterator = hindsight::IdRange<hindsight::NodeId>::Iterator;
  using edge_iterator = hindsight::internal::EdgeIterator;
  using out_edge_iterator = hindsight::internal::OutEdgeIterator;
  using in_edge_iterator = hindsight::internal::InEdgeIterator;
  using adjacency_iterator = const hindsight::NodeId*;
  using directed_category = boost::bidirectional_tag;
  using edge_parallel_category = boost::disallow_parallel_edge_tag;
  using traversal_category = hindsight::internal::GraphTraversal;
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  static vertex_descriptor null_vertex() { return {}; }
};
template <>
struct boost::graph_traits<const hindsight::Graph> : boost::graph_traits<hindsight::Graph> {};

namespace hindsight {

/// For boost::hash.
inline std::size_t hash_value(NodeId node) { return std::hash<NodeId>{}(node); }
inline std::size_t hash_value(const EdgeId& edge) { return std::hash<EdgeId>{}(edge); }

using BoostTraits = boost::graph_traits<Graph>;

/// In order of addition, which is a topological order.
inline std::pair<BoostTraits::vertex_iterator, BoostTraits::vertex_iterator> vertices(const Graph& graph) {
  return {graph.nodes().begin(), graph.nodes().end()};
}
inline std::size_t num_vertices(const Graph& graph) { return graph.nodes().size(); }
inline NodeId vertex(std::size_t number, const Graph& graph) { return graph.nodes()[number]; }

/// Child after child, parents in the order in which each lists them.
inline std::pair<BoostTraits::edge_iterator, BoostTraits::edge_iterator> edges(const Graph& graph) {
  return {BoostTraits::edge_iterator(graph, NodeId{0}),
          BoostTraits::edge_iterator(graph, NodeId{graph.node_count()})};
}
inline std::size_t num_edges(const Graph& graph) { return graph.edge_count(); }
inline NodeId source(const EdgeId& edge, const Graph&) { return edge.parent; }
inline NodeId target(const EdgeId& edge, const Graph&) { return edge.child; }

/// By child in order of addition. Constant time each; their positions in the lists of the children are not
/// known.
inline std::pair<BoostTraits::out_edge_iterator, BoostTraits::out_edge_iterator> out_edges(
    NodeId node, const Graph& graph) {
  const auto children = graph.children(node);
  return {{node, children.data()}, {node, children.data() + children.size()}};
}
/// In the order in which the node lists its parents.
inline std::pair<BoostTraits::in_edge_iterator, BoostTraits::in_edge_iterator> in_edges(NodeId node,
                                                                                        const Graph& graph) {
  const auto parents = graph.parents(node);
  return {{node, parents.data(), 0}, {node, parents.data(), static_cast<int>(parents.size())}};
}
/// The children, in order of addition.
inline std::pair<BoostTraits::adjacency_iterator, BoostTraits::adjacency_iterator> adjacent_vertices(
    NodeId node, const Graph& graph) {
  const auto children = graph.children(node);
  return {children.data(), children.data() + children.size()};
}
inline std::size_t out_degree(NodeId node, const Graph& graph) { return graph.children(node).size(); }
inline std::size_t in_degree(NodeId node, const Graph& graph) { return graph.parents(node).size(); }
inline std::size_t degree(NodeId node, const Graph& graph) {
  return in_degree(node, graph) + out_degree(node, graph);
}
/// The edge, and whether there is one. Logarithmic in the number of the parent's children.
inline std::pair<EdgeId, bool> edge(NodeId parent, NodeId child, const Graph& graph) {
  const auto children = graph.children(parent);
  return {{parent, child}, std::binary_search(children.begin(), children.end(), child)};
}

}  // namespace hindsight
