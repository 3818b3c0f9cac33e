#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/range/iterator_range_core.hpp>

#include <hindsight/graph/vertex.hpp>
#include <hindsight/graph/violations.hpp>

namespace hindsight::internal {

/// WitnessSearch for graphs with sparse edges: unit by unit. Dense edges are followed without being written
/// out: once all units of a node have been reached, further dense edges into it lead nowhere new. Edges of
/// deterministic nodes are the exception: what they join is followed unit by unit.
class UnitWitnessSearch {
 public:
  explicit UnitWitnessSearch(const Graph& graph);

  std::optional<Violation> shortest(NodeId node);

 private:
  using Unit = std::uint32_t;  ///< its number in the graph
  static constexpr int unreached = std::numeric_limits<int>::max();

  struct Wires {
    const Connectivity* pattern = nullptr;  ///< none: dense
  };
  /// From every node to its children.
  using WiredRows = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Wires,
                                                       boost::no_property, Vertex, std::size_t>;
  using OutEdge = WiredRows::edge_descriptor;
  /// Of all (child, coparent) pairs that violate the assumption the one with the shortest route; of several
  /// the first.
  struct Shortest {
    int edges = unreached;
    Unit child = 0, coparent = 0;
    auto operator<=>(const Shortest&) const = default;
  };

  UnitRef ref(Unit unit) const;
  NodeId child_of(const OutEdge& edge) const { return node_of(target(edge, rows_)); }
  const Connectivity* pattern_of(const OutEdge& edge) const { return rows_[edge].pattern; }
  auto edges_from(NodeId node) const { return boost::make_iterator_range(out_edges(vertex_of(node), rows_)); }
  Unit first_of(NodeId node) const { return graph_.first_unit(node); }
  bool is_reached(Unit unit) const { return reached_[unit] == search_; }
  template <class Visit>
  void for_each_reader(const OutEdge& edge, Unit parent, const Visit& visit) const;
  void search(Unit source, NodeId last, int limit);
  template <class Visit>
  void for_each_child(Unit source, const Visit& visit);
  void append_contracted_edge(Unit from, Unit to, std::vector<UnitRef>& route);
  Shortest shortest_to(std::span<const Unit> children);

  const Graph& graph_;
  std::vector<NodeId> owner_;  ///< per unit
  WiredRows rows_;
  bool has_functions_ = false;

  std::uint32_t search_ = 0, visit_ = 0;  ///< numbers, so that nothing has to be cleared
  std::vector<std::uint32_t> reached_;    ///< per unit: the search that reached it last
  std::vector<int> distance_;             ///< of what was reached
  std::vector<Unit> predecessor_;
  std::vector<std::uint32_t> met_, flooded_;  ///< per node: the search that last reached a unit, or all
  std::vector<std::uint32_t> answered_;  ///< per node: the visit in which all units were last read densely
  std::vector<Unit> nearest_unit_;       ///< of a node that was met: the first of those nearest
  std::vector<std::uint32_t> visited_;   ///< per unit: the visit that saw it last
  std::vector<Unit> before_;             ///< of what was visited
  std::vector<Unit> queue_;
};

}  // namespace hindsight::internal
