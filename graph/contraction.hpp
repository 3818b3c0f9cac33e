#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <hindsight/graph/graph.hpp>

namespace hindsight {

/// What a node influences through deterministic nodes.
struct Downstream {
  std::vector<NodeId> functions;  ///< deterministic nodes that follow from it, in order of addition
  std::vector<NodeId> children;   ///< stochastic nodes that read one of those, in order of addition
};

/// The graph without its deterministic nodes: A is a parent of C where a route leads from A to C with only
/// deterministic nodes between. Parallel routes of that kind are one edge.
class Contraction {
 public:
  explicit Contraction(const Graph& graph);

  /// Of a stochastic node, in the order in which it lists them.
  std::span<const NodeId> parents(NodeId node) const { return parents_.of(node); }
  /// In order of addition.
  std::span<const NodeId> children(NodeId node) const { return children_.of(node); }
  /// The length of the longest route that ends at the node.
  int level(NodeId node) const { return levels_[index(node)]; }

  const Downstream& below_functions(NodeId node) const { return below_[has_functions_ ? index(node) : 0]; }
  /// Whether at least one route from the parent to the child has deterministic nodes between.
  bool is_joined_by_functions(NodeId parent, NodeId child) const;
  /// The shortest route from parent to child with only deterministic nodes between.
  std::vector<NodeId> route(NodeId parent, NodeId child) const;
  /// Whether the reward is a function of the node's own outcome or value: it reads the node, or a
  /// deterministic node that follows from it. If so, the route; empty otherwise.
  std::vector<NodeId> route_to_reward(NodeId node, RewardId reward) const;
  /// Per node: does such a route exist?
  std::vector<bool> read_directly(RewardId reward) const;

 private:
  /// One list of nodes per node, all in one piece.
  struct Lists {
    std::vector<std::size_t> begin{0};  ///< per node, and one more
    std::vector<NodeId> items;
    std::span<const NodeId> of(NodeId node) const {
      return std::span(items).subspan(begin[index(node)], begin[index(node) + 1] - begin[index(node)]);
    }
  };
  /// Which nodes a search has seen; numbered, so that the next one need not clear it.
  struct Seen {
    std::vector<std::uint32_t> by;
    std::uint32_t search = 0;
    bool insert(NodeId node) {
      if (by[index(node)] == search) return false;
      by[index(node)] = search;
      return true;
    }
  };

  static std::size_t index(NodeId node) { return static_cast<std::size_t>(node.index); }
  Downstream search_functions(NodeId node, Seen& seen) const;
  void collect_parents(NodeId node, std::vector<NodeId>& parents, Seen& seen) const;
  void list_children();
  /// The shortest route from the node to the first that `arrived` is true of, with deterministic nodes
  /// between.
  template <class Arrived>
  std::vector<NodeId> search(NodeId from, const Arrived& arrived) const;

  const Graph& graph_;
  bool has_functions_ = false;
  Lists parents_, children_;
  std::vector<Downstream> below_;  ///< per node; without deterministic nodes one for all
  std::vector<int> levels_;
};

}  // namespace hindsight
