#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/random_graphs.hpp"

namespace hindsight::testing {

/// Any order of the items is as likely as any other.
template <class T>
void shuffle(std::vector<T>& items, Dice& dice) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[static_cast<std::size_t>(dice.below(static_cast<int>(i)))]);
}

/// Binary units, some of them inputs or deterministic, each with parents from anywhere before it in an order
/// of its own; some edges are sparse.
inline Graph random_dag_with_shuffled_parents(std::uint64_t seed, int nodes, double density) {
  Dice dice(seed);
  Graph graph;
  for (int i = 0; i < nodes; ++i) {
    std::vector<Edge> parents;
    for (const NodeId parent : graph.nodes())
      if (dice.chance(density))
        parents.emplace_back(parent, dice.chance(0.3) ? Pattern::pairs({{0, 1}}) : Pattern::dense());
    shuffle(parents, dice);
    const std::string name = "n" + std::to_string(i);
    if (parents.empty() && dice.chance(0.7))
      graph.input(name, 2);
    else if (dice.chance(0.3))
      graph.add(name, Tanh{2}, std::move(parents));
    else
      graph.add(name, Bernoulli{.units = 2}, std::move(parents));
  }
  return graph;
}

/// Every edge as (parent, child), child after child.
inline std::vector<std::pair<NodeId, NodeId>> listed_edges(const Graph& graph) {
  std::vector<std::pair<NodeId, NodeId>> edges;
  for (const NodeId child : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(child)) edges.emplace_back(parent.node, child);
  return edges;
}

}  // namespace hindsight::testing
