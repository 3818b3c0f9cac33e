#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/topology.hpp>

namespace hindsight {

enum class InputPolicy {
  exempt,  ///< inputs are given, not learned: what they violate harms nothing
  checked,
};

/// Where Assumption 1 (parents of children are not descendants) fails: the edges node → child of the
/// contraction that a longer route accompanies. Between populations an edge is at fault if it is between two
/// of their units.
class Violations {
 public:
  using Edge = std::pair<NodeId, NodeId>;

  Violations() = default;
  /// Edges in any order, none twice.
  Violations(int node_count, std::vector<Edge> edges);

  bool contains(NodeId node) const { return !children(node).empty(); }
  /// Those with at least one edge at fault, in order of addition.
  std::span<const NodeId> nodes() const& { return nodes_; }
  std::span<const NodeId> nodes() const&& = delete;  // would refer to what is gone
  /// To which the node's edge is at fault, in order of addition.
  std::span<const NodeId> children(NodeId node) const&;
  std::span<const NodeId> children(NodeId node) const&& = delete;
  /// How many edges are at fault.
  std::size_t edge_count() const { return children_.size(); }
  bool empty() const { return nodes_.empty(); }

 private:
  std::vector<NodeId> nodes_;
  std::vector<std::size_t> begin_;  ///< per node, and one more
  std::vector<NodeId> children_;
};

/// All of them, without the routes that prove them: graph/witness.hpp has those. Deterministic nodes are
/// contracted. Populations are checked as a whole; only where they violate and an edge is sparse, unit by
/// unit. Sweeps over bits, 512 nodes at a time, as far as edges across more than one level reach: no more
/// than nodes · edges / 512 steps, and proportional to the edges where all are short.
Violations find_violations(const Graph&, const Contraction&, InputPolicy = InputPolicy::exempt);
Violations find_violations(const Graph&, InputPolicy = InputPolicy::exempt);

using ViolatingEdgeVisit = std::function<void(const UnitRef& node, const UnitRef& child)>;
/// Calls for every edge at fault, by node, then by child, both in order of addition. If the graph has a
/// sparse edge the ends are single units.
void for_each_violating_edge(const Graph&, const Contraction&, InputPolicy, const ViolatingEdgeVisit&);

using ViolationVisit =
    std::function<void(const UnitRef& node, const UnitRef& child, const UnitRef& coparent)>;
/// Calls for every violation there is: the node's child has another parent that descends from the node. In
/// the order of for_each_violating_edge, then of the child's list of parents. Nothing is stored: on a random
/// DAG there are many times more of them than edges.
void for_each_violation(const Graph&, const Contraction&, InputPolicy, const ViolationVisit&);

/// Whether an edge of the graph joins some pairs of units only.
bool has_sparse_edge(const Graph&);

}  // namespace hindsight
