#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include <boost/graph/graph_traits.hpp>

namespace hindsight::testing {

struct Cell {
  int row = 0, column = 0;
  auto operator<=>(const Cell&) const = default;
};

/// A graph as a user might have it: cells, each leading to the one on its right and the one below. It models
/// what add_vertices needs of Boost.Graph's concepts and no more: no numbers, no names, no edges from
/// children.
struct LatticeModel {
  int rows = 0, columns = 0;
  std::vector<std::pair<Cell, Cell>> further = {};  ///< edges beside those
};

}  // namespace hindsight::testing

template <>
struct boost::graph_traits<hindsight::testing::LatticeModel> {
  using vertex_descriptor = hindsight::testing::Cell;
  using edge_descriptor = std::pair<hindsight::testing::Cell, hindsight::testing::Cell>;
  struct traversal_category : boost::vertex_list_graph_tag, boost::incidence_graph_tag {};
  using directed_category = boost::directed_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  using vertices_size_type = std::size_t;
  using degree_size_type = std::size_t;
  /// Owns what it goes through; short lists bear the copies.
  template <class T>
  class Walk {
   public:
    using value_type = T;
    using reference = T;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    Walk() = default;
    Walk(std::vector<T> items, std::size_t at) : items_(std::move(items)), at_(at) {}
    T operator*() const { return items_[at_]; }
    Walk& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Walk& other) const { return at_ == other.at_; }

   private:
    std::vector<T> items_;
    std::size_t at_ = 0;
  };
  using vertex_iterator = Walk<vertex_descriptor>;
  using out_edge_iterator = Walk<edge_descriptor>;
  static vertex_descriptor null_vertex() { return {-1, -1}; }
};

namespace hindsight::testing {

using LatticeTraits = boost::graph_traits<LatticeModel>;

template <class T>
std::pair<LatticeTraits::Walk<T>, LatticeTraits::Walk<T>> walk(const std::vector<T>& items) {
  return {{items, 0}, {items, items.size()}};
}

inline std::size_t num_vertices(const LatticeModel& lattice) {
  return static_cast<std::size_t>(lattice.rows) * static_cast<std::size_t>(lattice.columns);
}
inline auto vertices(const LatticeModel& lattice) {
  std::vector<Cell> cells;
  for (int row = 0; row < lattice.rows; ++row)
    for (int column = 0; column < lattice.columns; ++column) cells.push_back({row, column});
  return walk(cells);
}
inline auto out_edges(Cell from, const LatticeModel& lattice) {
  std::vector<std::pair<Cell, Cell>> edges;
  if (from.column + 1 < lattice.columns) edges.emplace_back(from, Cell{from.row, from.column + 1});
  if (from.row + 1 < lattice.rows) edges.emplace_back(from, Cell{from.row + 1, from.column});
  for (const auto& edge : lattice.further)
    if (edge.first == from) edges.push_back(edge);
  return walk(edges);
}
inline Cell source(const std::pair<Cell, Cell>& edge, const LatticeModel&) { return edge.first; }
inline Cell target(const std::pair<Cell, Cell>& edge, const LatticeModel&) { return edge.second; }

}  // namespace hindsight::testing
