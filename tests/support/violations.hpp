#pragma once

#include <vector>

#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

/// The proofs of all violations, node after node.
std::vector<Violation> witnesses(const Graph& graph, InputPolicy inputs = InputPolicy::exempt);

/// Assumption 1 from its definition, with every step written out and no thought of speed. Vertices are nodes,
/// or single units if the graph has a sparse edge.
class ViolationReference {
 public:
  explicit ViolationReference(const Graph& graph, InputPolicy inputs = InputPolicy::exempt);

  struct Triple {
    UnitRef node, child, coparent;
    bool operator==(const Triple&) const = default;
  };
  /// By node, child and the child's list of parents.
  std::vector<Triple> triples() const;
  /// Per node the triple with the shortest route through the coparent to the child, and how many edges that
  /// has; of several the first by node's unit, child and coparent.
  std::vector<std::pair<Triple, int>> shortest() const;
  /// The edges of the shortest route from the node's unit, through at least one stochastic vertex, to a child
  /// of it: every route is walked. -1: there is none.
  int shortest_longer_route(const UnitRef& node) const;
  /// Whether an edge leads from one to the other, between the units if these are given.
  bool has_edge(const UnitRef& from, const UnitRef& to) const;
  /// Whether the second is a parent of the first in the contraction.
  bool is_contracted_edge(const UnitRef& from, const UnitRef& to) const;
  /// The shortest route; of several the one whose vertices were added first, compared one by one.
  std::vector<UnitRef> route(const UnitRef& from, const UnitRef& to) const;
  /// The same with only deterministic vertices between.
  std::vector<UnitRef> contracted_route(const UnitRef& from, const UnitRef& to) const;
  /// Whether a route leads from one to the other.
  bool reaches(const UnitRef& from, const UnitRef& to) const;
  const std::vector<UnitRef>& vertices() const { return vertices_; }

 private:
  std::size_t find(const UnitRef& ref) const;
  void walk(std::size_t node, std::size_t at, bool through_stochastic, int edges, int& shortest) const;
  void list_parents(std::size_t reader, std::vector<std::size_t>& parents) const;
  template <class Between>
  std::vector<UnitRef> first_route(const UnitRef& from, const UnitRef& to, const Between& between) const;

  const Graph& graph_;
  InputPolicy inputs_;
  std::vector<UnitRef> vertices_;
  std::vector<std::vector<std::size_t>> real_parents_, parents_;  ///< with deterministic vertices, without
  std::vector<std::vector<int>> distance_;                        ///< from, to; -1: no route
};

}  // namespace hindsight::testing
