#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/vertex.hpp>

namespace hindsight::internal {

struct ParentGraph;
struct ChildGraph;

/// What a node influences through deterministic nodes.
struct Downstream {
  std::vector<NodeId> functions;  ///< deterministic nodes that follow from it, in order of addition
  std::vector<NodeId> children;   ///< stochastic nodes that read one of those, in order of addition
};

/// The graph without its deterministic nodes: A is a parent of C where a route leads from A to C with only
/// deterministic nodes between. Parallel routes of that kind are one edge. Vertices are nodes.
/// Edges are listed when something is first asked of them, so several threads may not share one.
class Contraction {
 public:
  /// Refers to the graph.
  explicit Contraction(const Graph& graph);
  ~Contraction();

  std::size_t node_count() const { return index(graph_.node_count()); }
  /// Of a stochastic node, in the order in which it lists them.
  std::span<const Vertex> parents(NodeId node) const;
  /// In order of addition.
  std::span<const Vertex> children(NodeId node) const;
  /// The length of the longest route that ends at the node.
  int level(NodeId node) const;

  const Downstream& below_functions(NodeId node) const { return below_[has_functions_ ? index(node) : 0]; }
  /// Whether at least one route from the parent to the child has deterministic nodes between.
  bool is_joined_by_functions(NodeId parent, NodeId child) const;
  /// The shortest route from parent to child with only deterministic nodes between; of several the one whose
  /// nodes were added first.
  std::vector<NodeId> route(NodeId parent, NodeId child) const;
  /// Whether the reward is a function of the node's own outcome or value: it reads the node, or a
  /// deterministic node that follows from it. If so, the route; empty otherwise.
  std::vector<NodeId> route_to_reward(NodeId node, RewardId reward) const;
  /// Per node: does such a route exist?
  std::vector<bool> read_directly(RewardId reward) const;

  /// The edges of the graph itself, in which deterministic nodes are transparent.
  const ParentGraph& uncontracted_parents() const;
  const ChildGraph& uncontracted_children() const;

 private:
  struct Edges;

  const Edges& edges() const;
  void list_below();
  template <class Arrived>
  std::vector<NodeId> search(NodeId from, const Arrived& arrived) const;

  const Graph& graph_;
  const bool has_functions_;
  std::vector<Downstream> below_;  ///< per node; without deterministic nodes one for all
  mutable std::unique_ptr<const Edges> edges_;
  mutable std::vector<int> levels_;
};

}  // namespace hindsight::internal
