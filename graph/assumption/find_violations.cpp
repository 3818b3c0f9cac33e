#include <hindsight/graph/find_violations.hpp>

#include <algorithm>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/candidate_edges.hpp>
#include <hindsight/graph/contraction.hpp>

namespace hindsight {
namespace internal {
namespace {

Violations between_units(const Graph& graph, const Violations& populations, const std::vector<bool>& nodes) {
  CandidateEdges units = candidate_unit_edges(graph, populations, nodes, DenseEdges::through_hubs);
  std::vector<Violations::Edge> edges;
  ReachabilitySweep sweep(units.dag);
  for (const std::span<const Source> group : gather_by_reach(units.sources)) {
    std::vector<Violations::Edge> found;
    for (const auto& [slot, child] : sweep.run(group))
      found.emplace_back(units.ref(group[slot].vertex).node, units.ref(child).node);
    std::sort(found.begin(), found.end());
    edges.insert(edges.end(), found.begin(), std::unique(found.begin(), found.end()));
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return {graph.node_count(), std::move(edges)};
}

/// Calls visit(node, its children to which the edge is at fault, slot, sweep), one node or unit after
/// another.
template <class Visit>
void sweep_in_order(const CandidateEdges& candidates, const Visit& visit) {
  ReachabilitySweep sweep(candidates.dag);
  for (const std::span<const Source> group : gather_in_order(candidates.sources)) {
    std::vector<std::vector<Vertex>> children(group.size());
    for (const auto& [slot, child] : sweep.run(group)) children[slot].push_back(child);
    for (std::size_t slot = 0; slot < group.size(); ++slot)
      visit(group[slot].vertex, std::span<const Vertex>(children[slot]), slot, sweep);
  }
}

/// Nodes, or units where the graph has a sparse edge.
CandidateEdges at_full_detail(const Graph& graph, InputPolicy inputs) {
  CandidateEdges nodes = candidate_node_edges(graph, Contraction(graph), inputs);
  if (nodes.sources.empty() || !has_sparse_edge(graph)) return nodes;
  const Violations populations = violations_of(graph, nodes);
  return candidate_unit_edges(graph, populations, neighbourhood(graph, populations),
                              DenseEdges::through_hubs);
}

}  // namespace

Violations find_violations(const Graph& graph, const Contraction& contraction, InputPolicy inputs) {
  CandidateEdges nodes = candidate_node_edges(graph, contraction, inputs);
  if (nodes.sources.empty()) return {};
  Violations populations = violations_of(graph, nodes);
  if (populations.empty() || !has_sparse_edge(graph)) return populations;
  const std::vector<bool> between = neighbourhood(graph, populations);
  return has_sparse_edge_among(graph, between) ? between_units(graph, populations, between) : populations;
}

}  // namespace internal

namespace {
using internal::index;
}

Violations::Violations(int node_count, std::vector<Edge> edges)
    : begin_(static_cast<std::size_t>(node_count) + 1, 0), children_(edges.size()) {
  for (const Edge& edge : edges) ++begin_[index(edge.first) + 1];
  for (int i = 0; i < node_count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (begin_[at + 1] > 0) nodes_.push_back({i});
    begin_[at + 1] += begin_[at];
  }
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (const auto& [node, child] : edges) children_[next[index(node)]++] = child;
  for (const NodeId node : nodes_)
    std::sort(children_.begin() + static_cast<std::ptrdiff_t>(begin_[index(node)]),
              children_.begin() + static_cast<std::ptrdiff_t>(begin_[index(node) + 1]));
}

std::span<const NodeId> Violations::children(NodeId node) const& {
  if (nodes_.empty()) return {};
  return std::span(children_).subspan(begin_[index(node)], begin_[index(node) + 1] - begin_[index(node)]);
}

Violations find_violations(const Graph& graph, InputPolicy inputs) {
  return internal::find_violations(graph, internal::Contraction(graph), inputs);
}

void for_each_violating_edge(const Graph& graph, InputPolicy inputs, const ViolatingEdgeVisit& visit) {
  using namespace internal;
  const CandidateEdges candidates = at_full_detail(graph, inputs);
  sweep_in_order(candidates,
                 [&](Vertex node, std::span<const Vertex> children, std::size_t, const ReachabilitySweep&) {
                   for (const Vertex child : children) visit(candidates.ref(node), candidates.ref(child));
                 });
}

void for_each_violation(const Graph& graph, InputPolicy inputs, const ViolationVisit& visit) {
  using namespace internal;
  const CandidateEdges candidates = at_full_detail(graph, inputs);
  ContractedParents parents(candidates.dag);
  sweep_in_order(candidates, [&](Vertex node, std::span<const Vertex> children, std::size_t slot,
                                 const ReachabilitySweep& sweep) {
    for (const Vertex child : children)
      for (const Vertex parent : parents.of(child))
        if (sweep.reaches(slot, parent))
          visit(candidates.ref(node), candidates.ref(child), candidates.ref(parent));
  });
}

}  // namespace hindsight
