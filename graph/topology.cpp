#include <hindsight/graph/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>

namespace hindsight {
namespace {

using Digraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

constexpr int unreached = std::numeric_limits<int>::max();

std::size_t index(NodeId node) { return static_cast<std::size_t>(node.index); }

Digraph to_boost(const Graph& graph) {
  Digraph digraph(static_cast<std::size_t>(graph.node_count()));
  for (int child = 0; child < graph.node_count(); ++child)
    for (const Graph::Parent& parent : graph.parents({child}))
      boost::add_edge(index(parent.node), static_cast<std::size_t>(child), digraph);
  return digraph;
}

/// Distances and predecessors of everything that can be reached from one vertex.
struct Search {
  std::vector<int> distance;
  std::vector<std::size_t> predecessor;
};

Search search_from(const Digraph& digraph, std::size_t source) {
  const std::size_t count = boost::num_vertices(digraph);
  Search search{std::vector<int>(count, unreached), std::vector<std::size_t>(count, source)};
  search.distance[source] = 0;
  boost::breadth_first_search(
      digraph, source,
      boost::visitor(boost::make_bfs_visitor(
          std::make_pair(boost::record_distances(search.distance.data(), boost::on_tree_edge()),
                         boost::record_predecessors(search.predecessor.data(), boost::on_tree_edge())))));
  return search;
}

/// Of all (child, coparent) pairs that violate the assumption the one with the shortest route.
template <class Vertex>
struct Nearest {
  int distance = unreached;
  Vertex child{}, coparent{};

  void offer(int other, Vertex its_child, Vertex its_coparent) {
    if (other >= distance) return;
    distance = other;
    child = its_child;
    coparent = its_coparent;
  }
};

void append(std::vector<UnitRef>& route, std::span<const NodeId> nodes) {
  for (const NodeId node : nodes) route.push_back({node});
}

std::optional<Violation> violation_of(const Contraction& contraction, const Digraph& digraph, NodeId node) {
  const Search search = search_from(digraph, index(node));
  Nearest<NodeId> nearest;
  for (const NodeId child : contraction.children(node))
    for (const NodeId parent : contraction.parents(child))
      if (parent != node) nearest.offer(search.distance[index(parent)], child, parent);
  if (nearest.distance == unreached) return std::nullopt;
  Violation violation{{node}, {nearest.child}, {nearest.coparent}, {}, {}};
  append(violation.edge, contraction.route(node, nearest.child));
  for (NodeId at = nearest.coparent; at != node; at = {static_cast<int>(search.predecessor[index(at)])})
    violation.route.push_back({at});
  violation.route.push_back({node});
  std::reverse(violation.route.begin(), violation.route.end());
  violation.route.pop_back();
  append(violation.route, contraction.route(nearest.coparent, nearest.child));
  return violation;
}

/// The same question unit by unit. Dense edges are followed without being written out: once all units of a
/// node have been reached, further dense edges into it lead nowhere new. Edges of deterministic nodes are the
/// exception: what they join is followed unit by unit.
class UnitSearch {
 public:
  explicit UnitSearch(const Graph& graph) : graph_(graph) {
    for (int node = 0; node < graph.node_count(); ++node) {
      first_.push_back(owner_.size());
      owner_.insert(owner_.end(), static_cast<std::size_t>(graph.shape({node}).units), NodeId{node});
      out_.emplace_back();
      for (const Graph::Parent& parent : graph.parents({node}))
        out_[index(parent.node)].push_back({{node}, parent.connectivity.get()});
    }
    visited_.resize(owner_.size(), 0);
  }

  std::optional<Violation> violation_of(NodeId node) {
    Nearest<std::size_t> nearest;
    std::size_t violating = 0;
    for (int unit = 0; unit < graph_.shape(node).units; ++unit) {
      const std::size_t source = first_[index(node)] + static_cast<std::size_t>(unit);
      const int before = nearest.distance;
      run(source);
      offer_pairs({node, unit}, nearest);
      if (nearest.distance == before) continue;
      violating = source;
      route_.clear();
      for (std::size_t at = nearest.coparent; at != source; at = predecessor_[at]) route_.push_back(at);
      route_.push_back(source);
      if (nearest.distance == 1) break;  // nothing is nearer
    }
    if (nearest.distance == unreached) return std::nullopt;
    Violation violation{ref(violating), ref(nearest.child), ref(nearest.coparent), {}, {}};
    append_contracted_edge(violating, nearest.child, violation.edge);
    for (auto at = route_.rbegin(); at != route_.rend(); ++at) violation.route.push_back(ref(*at));
    violation.route.pop_back();
    append_contracted_edge(nearest.coparent, nearest.child, violation.route);
    return violation;
  }

 private:
  UnitRef ref(std::size_t vertex) const {
    return {owner_[vertex], static_cast<int>(vertex - first_[index(owner_[vertex])])};
  }

  struct OutEdge {
    NodeId child;
    const Connectivity* wiring;  ///< none: dense
  };

  /// Calls visit(unit) for every unit of the edge's child that reads the parent's unit.
  template <class Visit>
  void for_each_reader(const OutEdge& edge, int parent_unit, const Visit& visit) const {
    const std::size_t first = first_[index(edge.child)];
    if (edge.wiring)
      for (const int unit : edge.wiring->children_of(parent_unit))
        visit(first + static_cast<std::size_t>(unit));
    else
      for (int unit = 0; unit < graph_.shape(edge.child).units; ++unit)
        visit(first + static_cast<std::size_t>(unit));
  }

  void run(std::size_t source) {
    distance_.assign(owner_.size(), unreached);
    predecessor_.assign(owner_.size(), source);
    nearest_unit_.assign(first_.size(), source);
    std::vector<bool> flooded(first_.size(), false);
    std::vector<std::size_t> queue{source};
    distance_[source] = 0;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const std::size_t from = queue[next];
      const auto reach = [&](std::size_t to) {
        if (distance_[to] != unreached) return;
        distance_[to] = distance_[from] + 1;
        predecessor_[to] = from;
        std::size_t& nearest = nearest_unit_[index(owner_[to])];
        if (nearest == source) nearest = to;  // the queue is in order of distance: the first is the nearest
        queue.push_back(to);
      };
      const UnitRef at = ref(from);
      for (const OutEdge& edge : out_[index(at.node)]) {
        if (!edge.wiring && flooded[index(edge.child)]) continue;
        if (!edge.wiring) flooded[index(edge.child)] = true;
        for_each_reader(edge, at.unit, reach);
      }
    }
  }

  /// Visits every unit once in which a route from the given one ends that has only deterministic units
  /// between; visit(unit, the unit before it) says whether to go on.
  template <class Visit>
  void for_each_child(std::size_t source, const Visit& visit) {
    ++visit_;
    std::vector<std::size_t> queue{source};
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const UnitRef at = ref(queue[next]);
      for (const OutEdge& edge : out_[index(at.node)])
        for_each_reader(edge, at.unit, [&](std::size_t unit) {
          if (visited_[unit] == visit_) return;
          visited_[unit] = visit_;
          visit(unit, queue[next]);
          if (graph_.is_deterministic(edge.child)) queue.push_back(unit);
        });
    }
  }

  /// The shortest such route, both ends included.
  void append_contracted_edge(std::size_t from, std::size_t to, std::vector<UnitRef>& route) {
    std::vector<std::size_t> before(owner_.size(), from), units{to};
    for_each_child(from, [&](std::size_t unit, std::size_t previous) { before[unit] = previous; });
    while (units.back() != from) units.push_back(before[units.back()]);
    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) route.push_back(ref(*unit));
  }

  void offer_pairs(const UnitRef& source, Nearest<std::size_t>& nearest) {
    std::vector<std::size_t> children;
    for_each_child(first_[index(source.node)] + static_cast<std::size_t>(source.unit),
                   [&](std::size_t child, std::size_t) {
                     if (!graph_.is_deterministic(owner_[child])) children.push_back(child);
                   });
    for (const std::size_t child : children) offer_coparents(child, nearest);
  }

  /// Those whose routes to the child lead through deterministic units, or none.
  void offer_coparents(std::size_t child, Nearest<std::size_t>& nearest) {
    ++visit_;
    std::vector<std::size_t> readers{child};
    for (std::size_t next = 0; next < readers.size(); ++next) {
      const UnitRef reader = ref(readers[next]);
      for (const Graph::Parent& parent : graph_.parents(reader.node)) {
        const bool deterministic = graph_.is_deterministic(parent.node);
        const auto offer = [&](std::size_t coparent) {
          if (distance_[coparent] == unreached || distance_[coparent] == 0 || visited_[coparent] == visit_)
            return;
          visited_[coparent] = visit_;
          if (deterministic)
            readers.push_back(coparent);
          else
            nearest.offer(distance_[coparent], child, coparent);
        };
        const std::size_t first = first_[index(parent.node)];
        if (parent.connectivity)
          for (const int unit : parent.connectivity->parents_of(reader.unit))
            offer(first + static_cast<std::size_t>(unit));
        else if (deterministic)
          for (int unit = 0; unit < graph_.shape(parent.node).units; ++unit)
            offer(first + static_cast<std::size_t>(unit));
        else
          offer(nearest_unit_[index(parent.node)]);
      }
    }
  }

  const Graph& graph_;
  std::vector<NodeId> owner_;       ///< per unit
  std::vector<std::size_t> first_;  ///< per node: its first unit
  std::vector<std::vector<OutEdge>> out_;
  std::vector<int> distance_;
  std::vector<std::size_t> predecessor_;
  std::vector<std::size_t> nearest_unit_;  ///< per node: its unit nearest to the source, or the source
  std::vector<int> visited_;               ///< per unit: the visit that saw it last
  int visit_ = 0;
  std::vector<std::size_t> route_;
};

bool has_sparse_edge(const Graph& graph) {
  for (int node = 0; node < graph.node_count(); ++node)
    for (const Graph::Parent& parent : graph.parents({node}))
      if (parent.connectivity) return true;
  return false;
}

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

std::vector<Violation> find_violations(const Graph& graph, const Contraction& contraction,
                                       InputPolicy inputs) {
  const Digraph digraph = to_boost(graph);
  std::optional<UnitSearch> by_units;
  if (has_sparse_edge(graph)) by_units.emplace(graph);
  std::vector<Violation> violations;
  for (int i = 0; i < graph.node_count(); ++i) {
    const NodeId node{i};
    if (inputs == InputPolicy::exempt && graph.is_input(node)) continue;
    const std::span<const NodeId> children = contraction.children(node);
    const auto spans_levels = [&](NodeId child) {
      return contraction.level(child) > contraction.level(node) + 1;
    };
    if (std::none_of(children.begin(), children.end(), spans_levels)) continue;
    std::optional<Violation> violation = violation_of(contraction, digraph, node);
    if (violation && by_units) violation = by_units->violation_of(node);
    if (violation) violations.push_back(std::move(*violation));
  }
  return violations;
}

std::vector<Violation> find_violations(const Graph& graph, InputPolicy inputs) {
  return find_violations(graph, Contraction(graph), inputs);
}

}  // namespace hindsight
