#include <hindsight/graph/suspects.hpp>

#include <algorithm>

namespace hindsight {
namespace {

std::size_t index(NodeId node) { return static_cast<std::size_t>(node.index); }

PlainDag plain(const Graph& graph) {
  PlainDag dag;
  dag.begin.reserve(static_cast<std::size_t>(graph.node_count()) + 1);
  dag.parents.reserve(graph.edge_count());
  bool some_passed = false;
  for (int i = 0; i < graph.node_count(); ++i) {
    for (const Graph::Parent& parent : graph.parents({i}))
      dag.parents.push_back(static_cast<Vertex>(parent.node.index));
    dag.close();
    some_passed = some_passed || graph.is_deterministic({i});
  }
  if (some_passed)
    for (int i = 0; i < graph.node_count(); ++i) dag.passed.push_back(graph.is_deterministic({i}) ? 1 : 0);
  return dag;
}

}  // namespace

Suspects suspect_nodes(const Graph& graph, const Contraction& contraction, InputPolicy inputs) {
  Suspects suspects;
  for (int i = 0; i < graph.node_count(); ++i) {
    const NodeId node{i};
    if (inputs == InputPolicy::exempt && graph.is_input(node)) continue;
    const std::span<const NodeId> children = contraction.children(node);
    const auto last = std::find_if(children.rbegin(), children.rend(), [&](NodeId child) {
      return contraction.level(child) > contraction.level(node) + 1;
    });
    if (last != children.rend())
      suspects.sources.push_back({static_cast<Vertex>(i), static_cast<Vertex>(last->index)});
  }
  if (!suspects.sources.empty()) suspects.dag = plain(graph);
  return suspects;
}

Suspects suspect_units(const Graph& graph, const Violations& populations, const std::vector<bool>& nodes,
                       DenseEdges dense_edges) {
  UnitDag units = expand(graph, nodes, dense_edges);
  Suspects suspects;
  for (const NodeId node : populations.nodes()) {
    const Vertex last = units.first[index(populations.children(node).back()) + 1] - 1;
    for (int unit = 0; unit < graph.shape(node).units; ++unit)
      suspects.sources.push_back({units.vertex({node, unit}), last});
  }
  suspects.dag = std::move(units.dag);
  suspects.refs = std::move(units.refs);
  return suspects;
}

Violations violations_of(const Graph& graph, Suspects& nodes) {
  std::vector<Violations::Edge> edges;
  ReachabilitySweep sweep(nodes.dag);
  for (const std::span<const Source> group : gather_by_reach(nodes.sources))
    for (const auto& [slot, child] : sweep.run(group))
      edges.emplace_back(NodeId{static_cast<int>(group[slot].vertex)}, NodeId{static_cast<int>(child)});
  return {graph.node_count(), std::move(edges)};
}

std::vector<bool> neighbourhood(const Graph& graph, const Violations& populations) {
  const auto count = static_cast<std::size_t>(graph.node_count());
  std::vector<bool> below(count, false), above(count, false);
  for (const NodeId node : populations.nodes()) {
    below[index(node)] = true;
    for (const NodeId child : populations.children(node)) above[index(child)] = true;
  }
  for (std::size_t i = 0; i < count; ++i)
    for (const Graph::Parent& parent : graph.parents({static_cast<int>(i)}))
      if (below[index(parent.node)]) below[i] = true;
  for (std::size_t i = count; i-- > 0;)
    if (above[i])
      for (const Graph::Parent& parent : graph.parents({static_cast<int>(i)}))
        above[index(parent.node)] = true;
  for (std::size_t i = 0; i < count; ++i) below[i] = below[i] && above[i];
  return below;
}

bool has_sparse_edge_among(const Graph& graph, const std::vector<bool>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i])
      for (const Graph::Parent& parent : graph.parents({static_cast<int>(i)}))
        if (parent.connectivity && nodes[index(parent.node)]) return true;
  return false;
}

}  // namespace hindsight
