#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <hindsight/graph/witness.hpp>

namespace hindsight {

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

  struct OutEdge {
    NodeId child;
    const Connectivity* wiring;  ///< none: dense
  };
  /// Of all (child, coparent) pairs that violate the assumption the one with the shortest route.
  struct Nearest {
    int distance = unreached;
    Unit child = 0, coparent = 0;
  };

  UnitRef ref(Unit unit) const;
  Unit first_of(NodeId node) const { return graph_.first_unit(node); }
  bool is_reached(Unit unit) const { return reached_[unit] == search_; }
  template <class Visit>
  void for_each_reader(const OutEdge& edge, Unit parent, const Visit& visit) const;
  void search(Unit source, NodeId last, int limit);
  template <class Visit>
  void for_each_child(Unit source, const Visit& visit);
  void append_contracted_edge(Unit from, Unit to, std::vector<UnitRef>& route);
  void offer_coparents(Unit child, Nearest& nearest);

  const Graph& graph_;
  std::vector<NodeId> owner_;  ///< per unit
  std::vector<std::vector<OutEdge>> out_;
  bool has_functions_ = false;

  std::uint32_t search_ = 0, visit_ = 0;  ///< numbers, so that nothing has to be cleared
  std::vector<std::uint32_t> reached_;    ///< per unit: the search that reached it last
  std::vector<int> distance_;             ///< of what was reached
  std::vector<Unit> predecessor_;
  std::vector<std::uint32_t> met_, flooded_;  ///< per node: the search that last reached a unit, or all
  std::vector<Unit> nearest_unit_;            ///< of a node that was met: the first of those nearest
  std::vector<std::uint32_t> visited_;        ///< per unit: the visit that saw it last
  std::vector<Unit> before_;                  ///< of what was visited
  std::vector<Unit> queue_;
};

}  // namespace hindsight
