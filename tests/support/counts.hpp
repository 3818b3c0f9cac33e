#pragma once

#include <cstddef>

#include <hindsight/graph/graph.hpp>

namespace hindsight::testing {

/// How much a graph holds.
struct Counts {
  int nodes, rewards;
  std::size_t edges, units;
  bool operator==(const Counts&) const = default;
};

inline Counts counts(const Graph& graph) {
  return {graph.node_count(), graph.reward_count(), graph.edge_count(), graph.unit_count()};
}

}  // namespace hindsight::testing
