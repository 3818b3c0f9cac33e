#include <hindsight/graph/node_witness_search.hpp>

#include <algorithm>
#include <tuple>

#include <hindsight/graph/contraction.hpp>

namespace hindsight::internal {
namespace {

/// What was added after the last child leads to none.
struct IsNotAfter {
  Vertex last = 0;
  bool operator()(Vertex vertex) const { return vertex <= last; }
};

void append(std::vector<UnitRef>& route, std::span<const NodeId> nodes) {
  for (const NodeId node : nodes) route.push_back({node});
}

}  // namespace

NodeWitnessSearch::NodeWitnessSearch(const Contraction& contraction)
    : contraction_(contraction),
      coparent_in_(contraction.node_count(), 0),
      to_child_(contraction.node_count(), 0),
      child_(contraction.node_count(), 0),
      colours_(contraction.node_count()),
      distance_(contraction.node_count(), 0),
      predecessor_(contraction.node_count(), 0) {}

/// Breadth first from all children against the edges, as far as deterministic nodes go. What comes from the
/// first child stays ahead in the queue, so that ties go to it.
void NodeWitnessSearch::mark_coparents(Vertex node) {
  ++question_;
  readers_.clear();
  for (const Vertex child : contraction_.children(node_of(node))) readers_.push_back({child, child, 0});
  const ParentGraph& dag = contraction_.uncontracted_parents();
  for (std::size_t next = 0; next < readers_.size(); ++next) {
    const auto [vertex, child, edges] = readers_[next];
    for (const Vertex parent : dag.parents_of(vertex)) {
      if (parent == node || is_coparent(parent)) continue;
      coparent_in_[parent] = question_;
      to_child_[parent] = edges + 1;
      child_[parent] = child;
      if (dag.is_transparent(parent)) readers_.push_back({parent, child, edges + 1});
    }
  }
}

/// Breadth first, until no coparent beyond could make as short a route as the shortest, whose length it
/// returns.
int NodeWitnessSearch::search(Vertex node) {
  const FilteredRows<IsNotAfter> rows(contraction_.uncontracted_children().edges, {},
                                      {contraction_.children(node_of(node)).back()});
  const ParentGraph& dag = contraction_.uncontracted_parents();
  int shortest = unreached;
  const auto reach = [&](Vertex from, Vertex to) {
    distance_[to] = distance_[from] + 1;
    predecessor_[to] = from;
    if (is_coparent(to) && !dag.is_transparent(to)) shortest = std::min(shortest, longer_route(to));
  };
  SearchQueue queue(queue_, [&](Vertex next) { return distance_[next] + 2 > shortest; });
  distance_[node] = 0;
  colours_.start_search();
  breadth_first_visit(rows, node, queue, ReachVisitor(reach), colours_.map());
  return shortest;
}

std::optional<Violation> NodeWitnessSearch::shortest(NodeId id) {
  const Vertex node = vertex_of(id);
  const std::span<const Vertex> children = contraction_.children(id);
  if (children.empty()) return std::nullopt;
  mark_coparents(node);
  const int shortest = search(node);
  if (shortest == unreached) return std::nullopt;

  const ParentGraph& dag = contraction_.uncontracted_parents();
  Vertex coparent = node;
  for (const Vertex reached : queue_) {
    if (!is_coparent(reached) || dag.is_transparent(reached) || longer_route(reached) != shortest) continue;
    if (coparent == node || std::tie(child_[reached], reached) < std::tie(child_[coparent], coparent))
      coparent = reached;
  }
  Violation violation{{id}, {node_of(child_[coparent])}, {node_of(coparent)}, {}, {}};
  append(violation.edge, contraction_.route(id, violation.child.node));
  for (Vertex at = coparent; at != node;) violation.route.push_back({node_of(at = predecessor_[at])});
  std::reverse(violation.route.begin(), violation.route.end());
  append(violation.route, contraction_.route(violation.coparent.node, violation.child.node));
  return violation;
}

}  // namespace hindsight::internal
