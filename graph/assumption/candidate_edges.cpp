#include <hindsight/graph/candidate_edges.hpp>

#include <algorithm>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/contraction.hpp>

namespace hindsight::internal {

CandidateEdges candidate_node_edges(const Graph& graph, const Contraction& contraction, InputPolicy inputs) {
  CandidateEdges candidates;
  for (const NodeId node : graph.nodes()) {
    if (inputs == InputPolicy::exempt && graph.is_input(node)) continue;
    const std::span<const Vertex> children = contraction.children(node);
    const auto last = std::find_if(children.rbegin(), children.rend(), [&](Vertex child) {
      return contraction.level(node_of(child)) > contraction.level(node) + 1;
    });
    if (last != children.rend()) candidates.sources.push_back({vertex_of(node), *last});
  }
  if (!candidates.sources.empty()) candidates.dag = contraction.uncontracted_parents();
  return candidates;
}

CandidateEdges candidate_unit_edges(const Graph& graph, const Violations& populations,
                                    const std::vector<bool>& nodes, DenseEdges dense_edges) {
  UnitDag units = expand(graph, nodes, dense_edges);
  CandidateEdges candidates;
  for (const NodeId node : populations.nodes()) {
    const Vertex last = units.first[index(populations.children(node).back()) + 1] - 1;
    for (int unit = 0; unit < graph.shape(node).units; ++unit)
      candidates.sources.push_back({units.vertex({node, unit}), last});
  }
  candidates.dag = std::move(units.dag);
  candidates.refs = std::move(units.refs);
  return candidates;
}

Violations violations_of(const Graph& graph, CandidateEdges& nodes) {
  std::vector<Violations::Edge> edges;
  ReachabilitySweep sweep(nodes.dag);
  for (const std::span<const Source> group : gather_by_reach(nodes.sources))
    for (const auto& [slot, child] : sweep.run(group))
      edges.emplace_back(node_of(group[slot].vertex), node_of(child));
  return {graph.node_count(), std::move(edges)};
}

std::vector<bool> neighbourhood(const Graph& graph, const Violations& populations) {
  const auto count = static_cast<std::size_t>(graph.node_count());
  std::vector<bool> below(count, false), above(count, false);
  for (const NodeId node : populations.nodes()) {
    below[index(node)] = true;
    for (const NodeId child : populations.children(node)) above[index(child)] = true;
  }
  for (const NodeId node : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(node))
      if (below[index(parent.node)]) below[index(node)] = true;
  const IdRange<NodeId> nodes = graph.nodes();
  for (auto at = nodes.end(); at != nodes.begin();)
    if (const NodeId node = *--at; above[index(node)])
      for (const Graph::Parent& parent : graph.parents(node)) above[index(parent.node)] = true;
  for (const NodeId node : graph.nodes()) below[index(node)] = below[index(node)] && above[index(node)];
  return below;
}

bool has_sparse_edge(const Graph& graph) {
  for (const NodeId node : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(node))
      if (parent.connectivity) return true;
  return false;
}

bool has_sparse_edge_among(const Graph& graph, const std::vector<bool>& nodes) {
  for (const NodeId node : graph.nodes())
    if (nodes[index(node)])
      for (const Graph::Parent& parent : graph.parents(node))
        if (parent.connectivity && nodes[index(parent.node)]) return true;
  return false;
}

}  // namespace hindsight::internal
