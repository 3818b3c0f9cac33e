#include <hindsight/graph/graph.hpp>

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <hindsight/core/index.hpp>

namespace hindsight {
std::string to_string(const Graph& graph, const UnitRef& ref) {
  return ref.unit < 0 || graph.shape(ref.node).units == 1
             ? graph.name(ref.node)
             : fmt::format("{}[{}]", graph.name(ref.node), ref.unit);
}

std::vector<int> levels(const Graph& graph) {
  std::vector<int> levels(internal::index(graph.node_count()), 0);
  for (const NodeId node : graph.nodes())  // order of addition is a topological order
    for (const Graph::Parent& parent : graph.parents(node))
      levels[internal::index(node)] =
          std::max(levels[internal::index(node)], levels[internal::index(parent.node)] + 1);
  return levels;
}

std::vector<bool> upstream_of(const Graph& graph, RewardId reward) {
  std::vector<bool> upstream(internal::index(graph.node_count()), false);
  for (const NodeId node : graph.reads(reward)) upstream[internal::index(node)] = true;
  const IdRange<NodeId> nodes = graph.nodes();
  for (auto at = nodes.end(); at != nodes.begin();)
    if (const NodeId node = *--at; upstream[internal::index(node)])
      for (const Graph::Parent& parent : graph.parents(node)) upstream[internal::index(parent.node)] = true;
  return upstream;
}

}  // namespace hindsight
