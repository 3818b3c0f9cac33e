#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <hindsight/graph/breadth_first.hpp>
#include <hindsight/graph/violations.hpp>

namespace hindsight::internal {

/// WitnessSearch for graphs whose edges are all dense: node by node.
class NodeWitnessSearch {
 public:
  /// Refers to the contraction.
  explicit NodeWitnessSearch(const Contraction& contraction);

  /// Of a stochastic node.
  std::optional<Violation> shortest(NodeId node);

 private:
  static constexpr int unreached = std::numeric_limits<int>::max();

  struct Reader {
    Vertex vertex, child;
    int edges;  ///< from the vertex to the child
  };

  void mark_coparents(Vertex node);
  bool is_coparent(Vertex vertex) const { return coparent_in_[vertex] == question_; }
  int longer_route(Vertex coparent) const { return distance_[coparent] + to_child_[coparent]; }
  int search(Vertex node);

  const Contraction& contraction_;
  std::uint32_t question_ = 0;  ///< numbered, so that nothing has to be cleared
  std::vector<std::uint32_t>
      coparent_in_;            ///< per vertex: the question in which it last was one, or lay before one
  std::vector<int> to_child_;  ///< of a coparent: edges to the nearest child, functions counted
  std::vector<Vertex> child_;  ///< of a coparent: the first of those nearest
  std::vector<Reader> readers_;
  SearchColours colours_;
  std::vector<int> distance_;        ///< of what was reached
  std::vector<Vertex> predecessor_;  ///< of what was reached
  std::vector<Vertex> queue_;
};

}  // namespace hindsight::internal
