#include <hindsight/graph/unit_witness_search.hpp>

#include <algorithm>
#include <utility>

#include <hindsight/core/index.hpp>
#include <hindsight/core/memory.hpp>
#include <hindsight/graph/parent_graph.hpp>

namespace hindsight::internal {
UnitWitnessSearch::UnitWitnessSearch(const Graph& graph) : graph_(graph) {
  const auto nodes = static_cast<std::size_t>(graph.node_count());
  constexpr double bytes_per_unit = 28;
  require_memory(bytes_per_unit * static_cast<double>(graph.unit_count()), "looking for routes unit by unit",
                 "make the edges dense, or the populations smaller");
  EdgeList edges;
  std::vector<Wires> wires;
  edges.reserve(graph.edge_count());
  wires.reserve(graph.edge_count());
  owner_.reserve(graph.unit_count());
  for (const NodeId node : graph.nodes()) {
    owner_.insert(owner_.end(), static_cast<std::size_t>(graph.shape(node).units), node);
    has_functions_ = has_functions_ || graph.is_deterministic(node);
    for (const Graph::Parent& parent : graph.parents(node)) {
      edges.emplace_back(vertex_of(parent.node), vertex_of(node));
      wires.push_back({parent.connectivity});
    }
  }
  rows_ = WiredRows(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), wires.begin(),
                    static_cast<Vertex>(nodes));
  reached_.resize(owner_.size(), 0);
  distance_.resize(owner_.size(), 0);
  predecessor_.resize(owner_.size(), 0);
  visited_.resize(owner_.size(), 0);
  before_.resize(owner_.size(), 0);
  met_.resize(nodes, 0);
  flooded_.resize(nodes, 0);
  answered_.resize(nodes, 0);
  nearest_unit_.resize(nodes, 0);
}

UnitRef UnitWitnessSearch::ref(Unit unit) const {
  return {owner_[unit], static_cast<int>(unit - first_of(owner_[unit]))};
}

/// Calls visit(unit) for every unit of the edge's child that reads the parent's unit.
template <class Visit>
void UnitWitnessSearch::for_each_reader(const OutEdge& edge, Unit parent, const Visit& visit) const {
  const NodeId child = child_of(edge);
  const Unit first = first_of(child);
  if (const Connectivity* pattern = pattern_of(edge)) {
    for (const int unit : pattern->children_of(ref(parent).unit)) visit(first + static_cast<Unit>(unit));
  } else {
    const auto units = static_cast<Unit>(graph_.shape(child).units);
    for (Unit unit = first; unit < first + units; ++unit) visit(unit);
  }
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
    for (const OutEdge edge : edges_from(owner_[from])) {
      const NodeId child = child_of(edge);
      if (child > last) break;
      if (!pattern_of(edge) && std::exchange(flooded_[index(child)], search_) == search_) continue;
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
    for (const OutEdge edge : edges_from(owner_[queue[next]]))
      for_each_reader(edge, queue[next], [&](Unit unit) {
        if (visited_[unit] == visit_) return;
        visited_[unit] = visit_;
        before_[unit] = queue[next];
        if (graph_.is_deterministic(child_of(edge)))
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

/// Breadth first from all children against the edges, as far as deterministic units go. What comes from the
/// first child stays ahead in the queue, so that nobody has to be asked twice.
UnitWitnessSearch::Shortest UnitWitnessSearch::shortest_to(std::span<const Unit> children) {
  ++visit_;
  struct Reader {
    Unit unit, child;
    int edges;  ///< from the unit to the child
  };
  std::vector<Reader> readers;
  for (const Unit child : children) readers.push_back({child, child, 0});
  Shortest shortest;
  for (std::size_t next = 0; next < readers.size(); ++next) {
    const Reader reader = readers[next];
    const UnitRef at = ref(reader.unit);
    for (const Graph::Parent& parent : graph_.parents(at.node)) {
      const std::size_t node = index(parent.node);
      const bool deterministic = graph_.is_deterministic(parent.node);
      const auto read = [&](Unit unit) {
        if (!is_reached(unit) || distance_[unit] == 0 || visited_[unit] == visit_) return;
        visited_[unit] = visit_;
        if (deterministic)
          readers.push_back({unit, reader.child, reader.edges + 1});
        else
          shortest = std::min(shortest, {distance_[unit] + reader.edges + 1, reader.child, unit});
      };
      const Unit first = first_of(parent.node);
      if (parent.connectivity) {
        for (const int unit : parent.connectivity->parents_of(at.unit)) read(first + static_cast<Unit>(unit));
        continue;
      }
      if (met_[node] != search_ || std::exchange(answered_[node], visit_) == visit_) continue;
      if (deterministic) {
        const auto units = static_cast<Unit>(graph_.shape(parent.node).units);
        for (Unit unit = first; unit < first + units; ++unit) read(unit);
      } else {  // one unit answers for all: the first of those that are nearest
        const Unit unit = nearest_unit_[node];
        shortest = std::min(shortest, {distance_[unit] + reader.edges + 1, reader.child, unit});
      }
    }
  }
  return shortest;
}

std::optional<Violation> UnitWitnessSearch::shortest(NodeId node) {
  Shortest shortest;
  Unit violating = 0;
  std::vector<Unit> children, route;
  bool seen_plain = false;
  for (int unit = 0; unit < graph_.shape(node).units && shortest.edges > 2; ++unit) {
    // Units that only dense edges leave see the same: the first answers for all.
    const auto edges = edges_from(node);
    const bool plain = std::none_of(edges.begin(), edges.end(), [&](const OutEdge& edge) {
      return pattern_of(edge) && !pattern_of(edge)->children_of(unit).empty();
    });
    if (plain && std::exchange(seen_plain, true)) continue;
    const Unit source = first_of(node) + static_cast<Unit>(unit);
    children.clear();
    for_each_child(source, [&](Unit child) { children.push_back(child); });
    if (children.empty()) continue;
    std::sort(children.begin(), children.end());
    // Deterministic units between a near coparent and a child may themselves be far.
    search(source, owner_[children.back()],
           has_functions_ || shortest.edges == unreached ? unreached : shortest.edges - 1);
    const Shortest found = shortest_to(children);
    if (found.edges >= shortest.edges) continue;
    shortest = found;
    violating = source;
    route.clear();
    for (Unit at = shortest.coparent; at != source; at = predecessor_[at]) route.push_back(predecessor_[at]);
  }
  if (shortest.edges == unreached) return std::nullopt;
  Violation violation{ref(violating), ref(shortest.child), ref(shortest.coparent), {}, {}};
  append_contracted_edge(violating, shortest.child, violation.edge);
  for (auto at = route.rbegin(); at != route.rend(); ++at) violation.route.push_back(ref(*at));
  append_contracted_edge(shortest.coparent, shortest.child, violation.route);
  return violation;
}

}  // namespace hindsight::internal
