#pragma once

#include <cstddef>
#include <vector>

namespace hindsight::benchmarks {

/// Which nodes each node reads: sorted, without repetition, all of them before it.
struct Dag {
  std::vector<std::vector<int>> parents;

  std::size_t edges() const;
  /// The longest path, in nodes.
  int levels() const;
  /// Nodes that no other reads.
  std::vector<int> sinks() const;
};

/// Nodes in levels of one size. Each reads nodes of any level before its own, at least one of the last.
Dag shallow_dag(int nodes, int levels, std::size_t edges);
/// Every pair of nodes is as likely as any other: many thin levels.
Dag random_dag(int nodes, std::size_t edges);
/// Each level is a ring. A node reads those that lie nearest to it on the ring before, but each of these
/// edges comes with probability `rewired` from anywhere before instead.
Dag small_world_dag(int nodes, int levels, std::size_t edges, double rewired);

/// Each node reads at most `fan` of the `window` before it, and is read by at most as many.
Dag bounded_dag(int nodes, int fan, int window);

/// Each node reads some of the `window` before it.
Dag local_dag(int nodes, int parents, int window);

}  // namespace hindsight::benchmarks
