#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>

#include <hindsight/graph/parent_graph.hpp>

namespace hindsight::internal {

/// The rows that lead to vertices of which `Keep` is true. A predicate must be default-constructible, as
/// Boost.Graph's iterators are: it holds pointers, not references.
template <class Keep>
using FilteredRows = boost::filtered_graph<SparseRows, boost::keep_all, Keep>;

/// Which vertices a search has seen. Searches are numbered, so that the next one need not clear what the last
/// one left.
class SearchColours {
 public:
  explicit SearchColours(std::size_t vertices) : seen_by_(vertices, 0) {}

  void start_search() { ++search_; }
  void see(Vertex vertex) { seen_by_[vertex] = search_; }
  bool has_seen(Vertex vertex) const { return seen_by_[vertex] == search_; }

  /// What Boost.Graph asks for: white is what this search has not seen.
  struct Map {
    using key_type = Vertex;
    using value_type = boost::default_color_type;
    using reference = value_type;
    using category = boost::read_write_property_map_tag;

    SearchColours* colours;

    friend value_type get(const Map& map, Vertex vertex) {
      return map.colours->has_seen(vertex) ? boost::black_color : boost::white_color;
    }
    /// Nothing is ever painted white.
    friend void put(const Map& map, Vertex vertex, value_type) { map.colours->see(vertex); }
  };
  Map map() { return {this}; }

 private:
  std::vector<std::uint32_t> seen_by_;
  std::uint32_t search_ = 0;
};

/// The queue of a breadth-first search. It also calls itself empty where `is_over(next vertex)`: that ends
/// the search without an exception.
template <class IsOver>
class SearchQueue {
 public:
  /// Refers to the storage, so that the next search need not allocate it again.
  SearchQueue(std::vector<Vertex>& storage, IsOver is_over) : items_(storage), is_over_(std::move(is_over)) {
    items_.clear();
  }

  void push(Vertex vertex) { items_.push_back(vertex); }
  void pop() { ++next_; }
  Vertex top() const { return items_[next_]; }
  bool empty() const { return next_ == items_.size() || is_over_(items_[next_]); }

 private:
  std::vector<Vertex>& items_;
  std::size_t next_ = 0;
  IsOver is_over_;
};

/// Calls reach(from, to) for every edge by which a vertex is reached first.
template <class Reach>
struct ReachVisitor : boost::default_bfs_visitor {
  explicit ReachVisitor(const Reach& on_reach) : reach(&on_reach) {}
  template <class Edge, class Rows>
  void tree_edge(const Edge& edge, const Rows& rows) const {
    (*reach)(source(edge, rows), target(edge, rows));
  }
  const Reach* reach;
};

}  // namespace hindsight::internal
