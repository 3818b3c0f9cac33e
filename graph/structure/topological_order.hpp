#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hindsight/core/report.hpp>

namespace hindsight::internal {

/// Which vertices each vertex reads, by number. Anything may read anything: this is what is not yet known to
/// be a DAG.
struct ParentLists {
  std::span<const std::size_t> begin;      ///< per vertex, and one more: where its parents begin
  std::span<const std::uint32_t> parents;  ///< in the order in which their child lists them
};

struct TopologicalOrder {
  std::vector<std::uint32_t> order;  ///< all vertices; only those before any cycle if there is one
  std::vector<std::uint32_t>
      cycle;  ///< each a parent of the next, the last of the first; empty: there is none
};

/// Parents first; of all vertices that may come next, the one with the lowest number, which depth-first
/// orders do not promise. A cycle is found by going back from the first vertex that has none before it,
/// always to the first parent of that sort, and begins with its lowest number. Steps: vertices ·
/// log(vertices) + edges.
TopologicalOrder topological_order(const ParentLists& lists);

/// What is said of a cycle, given the names of its nodes, each a parent of the next.
Diagnostic explain_cycle(Route names);
/// What is said of an edge from a node to itself.
Diagnostic explain_self_loop(const std::string& name);

}  // namespace hindsight::internal
