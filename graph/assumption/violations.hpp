#pragma once

/// Assumption 1: parents of a node's children are not its descendants. Where it fails, proofs of that, and
/// the graph without what violates it. Deterministic nodes are contracted: a route with only such nodes
/// between counts as one edge, and parents, children and descendants are meant so throughout.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hindsight/core/report.hpp>
#include <hindsight/core/shape.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight {

class WitnessSearch;
namespace internal {
class Contraction;
class NodeWitnessSearch;
class UnitWitnessSearch;
/// Where the contraction has been made already. Refers to both.
WitnessSearch search_witnesses(const Graph&, const Contraction&);
}  // namespace internal

enum class InputPolicy {
  exempt,  ///< inputs are given, not learned: what they violate harms nothing
  checked,
};

/// The edges node → child that a longer route accompanies: they are at fault. Between populations an edge is
/// at fault if it is between two of their units.
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

/// All of them, without the routes that prove them: WitnessSearch has those. Populations are checked as a
/// whole; only where they violate and an edge is sparse, unit by unit. Sweeps over bits, 512 nodes at a time,
/// as far as edges across more than one level reach: no more than nodes · edges / 512 steps, and proportional
/// to the edges where all are short.
Violations find_violations(const Graph&, InputPolicy = InputPolicy::exempt);

using ViolatingEdgeVisit = std::function<void(const UnitRef& node, const UnitRef& child)>;
/// Calls for every edge at fault, by node, then by child, both in order of addition. If the graph has a
/// sparse edge the ends are single units.
void for_each_violating_edge(const Graph&, InputPolicy, const ViolatingEdgeVisit&);

using ViolationVisit =
    std::function<void(const UnitRef& node, const UnitRef& child, const UnitRef& coparent)>;
/// Calls for every violation there is: the node's child has another parent that descends from the node. In
/// the order of for_each_violating_edge, then of the child's list of parents. Nothing is stored: on a random
/// DAG there are many times more of them than edges.
void for_each_violation(const Graph&, InputPolicy, const ViolationVisit&);

/// A node whose child has another parent that descends from the node: the edge node → child and a longer
/// route meet. The routes are real, deterministic nodes included.
struct Violation {
  UnitRef node, child, coparent;
  std::vector<UnitRef> edge;   ///< node … child: only deterministic nodes between
  std::vector<UnitRef> route;  ///< node … coparent … child: the longer of the two
};

/// The rule, both routes, and the one that could be dropped.
Diagnostic explain(const Graph& graph, const Violation& violation);

/// Proves violations, one node at a time. What it keeps between two questions is never cleared, so that a
/// proof costs as much as the part of the graph that is nearer than the answer.
class WitnessSearch {
 public:
  /// Refers to the graph.
  explicit WitnessSearch(const Graph&);
  WitnessSearch(WitnessSearch&&) noexcept;
  ~WitnessSearch();

  /// Of all violations at the node the one with the shortest route through a coparent to a child, every edge
  /// counted, those of deterministic nodes too; ties go to the child that was added first, then to the
  /// coparent that was. Of several shortest routes it is the one whose nodes were added first. If the graph
  /// has a sparse edge the answer is about single units, and ties go to the node's first unit before all.
  /// None: Assumption 1 holds at the node.
  std::optional<Violation> shortest(NodeId node);

 private:
  friend WitnessSearch internal::search_witnesses(const Graph&, const internal::Contraction&);
  WitnessSearch(const Graph&, const internal::Contraction&);

  const Graph& graph_;
  std::unique_ptr<const internal::Contraction> contraction_;  ///< none: another's, or not needed
  std::unique_ptr<internal::NodeWitnessSearch> by_nodes_;     ///< none: an edge is sparse
  std::unique_ptr<internal::UnitWitnessSearch> by_units_;     ///< none: all edges are dense
};

/// What was taken out of the edge between two nodes.
struct RemovedEdge {
  std::string parent, child;
  bool whole = true;     ///< nothing of it is left
  Pattern::Pairs pairs;  ///< (unit of the parent, unit of the child); empty: a dense edge, all of it
};

/// A violation that is left, because nothing could be removed without loss.
struct KeptViolation {
  std::string node, child;  ///< or single units, "a[3]"
  std::string why;
};

struct Reduction {
  Graph graph;
  std::vector<RemovedEdge> removed;  ///< by child in order of addition, then by its list of parents
  std::vector<KeptViolation> kept;   ///< by child, then by its list of parents; empty: Assumption 1 holds
};

/// The graph without the edges that violate Assumption 1: its transitive reduction, but for what leaves nodes
/// that are not checked. Nodes, their order, kinds and estimators stay, and so do rewards, what they read and
/// all baselines. Every node still descends from the same nodes, and none loses its last parent.
///
/// An edge between stochastic nodes goes if it is at fault. One into or out of a deterministic node goes if
/// every edge of the contraction that runs through it is at fault, and no reward follows from it; of several
/// in a row the last goes. A violation stays where routes that are at fault share each of their edges with
/// others that are not, and where the child's kind cannot do without: a Table needs its parents, and a kind
/// that reads no patterns cannot lose a part of an edge.
Reduction reduce(const Graph&, InputPolicy = InputPolicy::exempt);

}  // namespace hindsight
