#include <hindsight/graph/unit_witness.hpp>

#include <algorithm>
#include <utility>

#include <hindsight/core/memory.hpp>

namespace hindsight {
namespace {

std::size_t index(NodeId node) { return static_cast<std::size_t>(node.index); }

}  // namespace

UnitWitnessSearch::UnitWitnessSearch(const Graph& graph) : graph_(graph) {
  const auto nodes = static_cast<std::size_t>(graph.node_count());
  constexpr double bytes_per_unit = 28;
  require_memory(bytes_per_unit * static_cast<double>(graph.unit_count()), "looking for routes unit by unit",
                 "make the edges dense, or the populations smaller");
  out_.resize(nodes);
  owner_.reserve(graph.unit_count());
  for (int node = 0; node < graph.node_count(); ++node) {
    owner_.insert(owner_.end(), static_cast<std::size_t>(graph.shape({node}).units), NodeId{node});
    has_functions_ = has_functions_ || graph.is_deterministic({node});
    for (const Graph::Parent& parent : graph.parents({node}))
      out_[index(parent.node)].push_back({{node}, parent.connectivity.get()});
  }
  reached_.resize(owner_.size(), 0);
  distance_.resize(owner_.size(), 0);
  predecessor_.resize(owner_.size(), 0);
  visited_.resize(owner_.size(), 0);
  before_.resize(owner_.size(), 0);
  met_.resize(nodes, 0);
  flooded_.resize(nodes, 0);
  nearest_unit_.resize(nodes, 0);
}

UnitRef UnitWitnessSearch::ref(Unit unit) const {
  return {owner_[unit], static_cast<int>(unit - first_of(owner_[unit]))};
}

/// Calls visit(unit) for every unit of the edge's child that reads the parent's unit.
template <class Visit>
void UnitWitnessSearch::for_each_reader(const OutEdge& edge, Unit parent, const Visit& visit) const {
  const Unit first = first_of(edge.child);
  if (edge.wiring)
    for (const int unit : edge.wiring->children_of(ref(parent).unit)) visit(first + static_cast<Unit>(unit));
  else
    for (int unit = 0; unit < graph_.shape(edge.child).units; ++unit) visit(first + static_cast<Unit>(unit));
}

/// Breadth first: everything that is nearer than the limit and not added after the last child.
void UnitWitnessSearch::search(Unit source, NodeId last, int limit) {
  ++search_;
  queue_.assign(1, source);
  reached_[source] = search_;
  distance_[source] = 0;
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const Unit from = queue_[next];
    const int distance = distance_[from] + 1;
    if (distance >= limit) return;
    const auto reach = [&](Unit to) {
      if (is_reached(to)) return;
      reached_[to] = search_;
      distance_[to] = distance;
      predecessor_[to] = from;
      queue_.push_back(to);
      const std::size_t node = index(owner_[to]);
      const bool nearer =
          met_[node] != search_ || (distance == distance_[nearest_unit_[node]] && to < nearest_unit_[node]);
      if (nearer) nearest_unit_[node] = to;
      met_[node] = search_;
    };
    for (const OutEdge& edge : out_[index(owner_[from])]) {
      if (edge.child > last) break;
      if (!edge.wiring && std::exchange(flooded_[index(edge.child)], search_) == search_) continue;
      for_each_reader(edge, from, reach);
    }
  }
}

/// Visits every unit once in which a route from the given one ends that has only deterministic units between.
template <class Visit>
void UnitWitnessSearch::for_each_child(Unit source, const Visit& visit) {
  ++visit_;
  std::vector<Unit> queue{source};
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (const OutEdge& edge : out_[index(owner_[queue[next]])])
      for_each_reader(edge, queue[next], [&](Unit unit) {
        if (visited_[unit] == visit_) return;
        visited_[unit] = visit_;
        before_[unit] = queue[next];
        if (graph_.is_deterministic(edge.child))
          queue.push_back(unit);
        else
          visit(unit);
      });
}

/// The shortest such route, both ends included.
void UnitWitnessSearch::append_contracted_edge(Unit from, Unit to, std::vector<UnitRef>& route) {
  for_each_child(from, [](Unit) {});
  std::vector<UnitRef> backwards{ref(to)};
  for (Unit at = to; at != from; at = before_[at]) backwards.push_back(ref(before_[at]));
  route.insert(route.end(), backwards.rbegin(), backwards.rend());
}

/// Those whose routes to the child lead through deterministic units, or none; depth first, so that they come
/// in the order in which the contraction lists them.
void UnitWitnessSearch::offer_coparents(Unit child, Nearest& nearest) {
  ++visit_;
  struct Place {
    Unit reader;
    std::size_t edge, unit;
  };
  std::vector<Place> stack{{child, 0, 0}};
  while (!stack.empty()) {
    auto& [reader, edge, unit] = stack.back();
    const UnitRef at = ref(reader);
    const std::span<const Graph::Parent> parents = graph_.parents(at.node);
    if (edge == parents.size()) {
      stack.pop_back();
      continue;
    }
    const Graph::Parent& parent = parents[edge];
    const bool deterministic = graph_.is_deterministic(parent.node);
    // Of a dense stochastic parent one unit answers for all: the first of those that are nearest.
    const bool one_for_all = !parent.connectivity && !deterministic;
    const std::span<const int> read =
        parent.connectivity ? parent.connectivity->parents_of(at.unit) : std::span<const int>{};
    const std::size_t count = one_for_all ? (met_[index(parent.node)] == search_ ? 1 : 0)
                              : parent.connectivity
                                  ? read.size()
                                  : static_cast<std::size_t>(graph_.shape(parent.node).units);
    if (unit == count) {
      ++edge;
      unit = 0;
      continue;
    }
    const Unit coparent = one_for_all           ? nearest_unit_[index(parent.node)]
                          : parent.connectivity ? first_of(parent.node) + static_cast<Unit>(read[unit])
                                                : first_of(parent.node) + static_cast<Unit>(unit);
    ++unit;
    if (!is_reached(coparent) || distance_[coparent] == 0 || visited_[coparent] == visit_) continue;
    visited_[coparent] = visit_;
    if (deterministic)
      stack.push_back({coparent, 0, 0});
    else if (distance_[coparent] < nearest.distance)
      nearest = {distance_[coparent], child, coparent};
  }
}

std::optional<Violation> UnitWitnessSearch::shortest(NodeId node) {
  Nearest nearest;
  Unit violating = 0;
  std::vector<Unit> children, route;
  bool seen_plain = false;
  for (int unit = 0; unit < graph_.shape(node).units && nearest.distance > 1; ++unit) {
    // Units that only dense edges leave see the same: the first answers for all.
    const bool plain = std::none_of(
        out_[index(node)].begin(), out_[index(node)].end(),
        [&](const OutEdge& edge) { return edge.wiring && !edge.wiring->children_of(unit).empty(); });
    if (plain && std::exchange(seen_plain, true)) continue;
    const Unit source = first_of(node) + static_cast<Unit>(unit);
    children.clear();
    for_each_child(source, [&](Unit child) { children.push_back(child); });
    if (children.empty()) continue;
    std::sort(children.begin(), children.end());
    // Deterministic units between a near coparent and a child may themselves be far.
    search(source, owner_[children.back()], has_functions_ ? unreached : nearest.distance);
    const int before = nearest.distance;
    for (const Unit child : children) offer_coparents(child, nearest);
    if (nearest.distance == before) continue;
    violating = source;
    route.clear();
    for (Unit at = nearest.coparent; at != source; at = predecessor_[at]) route.push_back(predecessor_[at]);
  }
  if (nearest.distance == unreached) return std::nullopt;
  Violation violation{ref(violating), ref(nearest.child), ref(nearest.coparent), {}, {}};
  append_contracted_edge(violating, nearest.child, violation.edge);
  for (auto at = route.rbegin(); at != route.rend(); ++at) violation.route.push_back(ref(*at));
  append_contracted_edge(nearest.coparent, nearest.child, violation.route);
  return violation;
}

}  // namespace hindsight
