#include <hindsight/graph/topology.hpp>

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace hindsight {
namespace {

std::size_t index(NodeId node) { return static_cast<std::size_t>(node.index); }

}  // namespace

std::string to_string(const Graph& graph, const UnitRef& ref) {
  return ref.unit < 0 || graph.shape(ref.node).units == 1
             ? graph.name(ref.node)
             : fmt::format("{}[{}]", graph.name(ref.node), ref.unit);
}

std::vector<int> levels(const Graph& graph) {
  std::vector<int> levels(static_cast<std::size_t>(graph.node_count()), 0);
  for (int node = 0; node < graph.node_count(); ++node)  // order of addition is a topological order
    for (const Graph::Parent& parent : graph.parents({node}))
      levels[static_cast<std::size_t>(node)] =
          std::max(levels[static_cast<std::size_t>(node)], levels[index(parent.node)] + 1);
  return levels;
}

std::vector<bool> upstream_of(const Graph& graph, RewardId reward) {
  std::vector<bool> upstream(static_cast<std::size_t>(graph.node_count()), false);
  for (const NodeId node : graph.reads(reward)) upstream[index(node)] = true;
  for (int node = graph.node_count() - 1; node >= 0; --node)
    if (upstream[static_cast<std::size_t>(node)])
      for (const Graph::Parent& parent : graph.parents({node})) upstream[index(parent.node)] = true;
  return upstream;
}

}  // namespace hindsight
