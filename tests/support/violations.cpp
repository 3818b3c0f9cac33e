#include "support/violations.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace hindsight::testing {

std::vector<Violation> witnesses(const Graph& graph, InputPolicy inputs) {
  WitnessSearch search(graph);
  std::vector<Violation> found;
  const Violations violations = find_violations(graph, inputs);
  for (const NodeId node : violations.nodes()) found.push_back(search.shortest(node).value());
  return found;
}

ViolationReference::ViolationReference(const Graph& graph, InputPolicy inputs)
    : graph_(graph), inputs_(inputs) {
  bool sparse = false;
  for (const NodeId node : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(node)) sparse = sparse || parent.connectivity != nullptr;
  for (const NodeId node : graph.nodes())
    for (int unit = 0; unit < (sparse ? graph.shape(node).units : 1); ++unit)
      vertices_.push_back({node, sparse ? unit : -1});
  for (const UnitRef& vertex : vertices_) {
    std::vector<std::size_t>& list = real_parents_.emplace_back();
    for (const Graph::Parent& parent : graph.parents(vertex.node))
      for (std::size_t from = 0; from < vertices_.size(); ++from)
        if (vertices_[from].node == parent.node) {
          const auto read =
              parent.connectivity ? parent.connectivity->parents_of(vertex.unit) : std::span<const int>{};
          if (!parent.connectivity || std::find(read.begin(), read.end(), vertices_[from].unit) != read.end())
            list.push_back(from);
        }
  }
  for (std::size_t vertex = 0; vertex < vertices_.size(); ++vertex)
    if (parents_.emplace_back(); !graph.is_deterministic(vertices_[vertex].node))
      list_parents(vertex, parents_[vertex]);
  for (std::size_t from = 0; from < vertices_.size(); ++from) {
    std::vector<int>& distance = distance_.emplace_back(vertices_.size(), -1);
    distance[from] = 0;
    for (std::size_t to = from + 1; to < vertices_.size(); ++to)
      for (const std::size_t parent : real_parents_[to])
        if (distance[parent] >= 0 && (distance[to] < 0 || distance[parent] + 1 < distance[to]))
          distance[to] = distance[parent] + 1;
  }
}

void ViolationReference::list_parents(std::size_t reader, std::vector<std::size_t>& parents) const {
  for (const std::size_t parent : real_parents_[reader])
    if (graph_.is_deterministic(vertices_[parent].node))
      list_parents(parent, parents);
    else if (std::find(parents.begin(), parents.end(), parent) == parents.end())
      parents.push_back(parent);
}

std::vector<ViolationReference::Triple> ViolationReference::triples() const {
  std::vector<Triple> triples;
  for (std::size_t node = 0; node < vertices_.size(); ++node) {
    const NodeId owner = vertices_[node].node;
    if (graph_.is_deterministic(owner)) continue;
    if (inputs_ == InputPolicy::exempt && graph_.is_input(owner)) continue;
    for (std::size_t child = 0; child < vertices_.size(); ++child) {
      const std::vector<std::size_t>& list = parents_[child];
      if (std::find(list.begin(), list.end(), node) == list.end()) continue;
      for (const std::size_t coparent : list)
        if (distance_[node][coparent] > 0)
          triples.push_back({vertices_[node], vertices_[child], vertices_[coparent]});
    }
  }
  return triples;
}

std::vector<std::pair<ViolationReference::Triple, int>> ViolationReference::shortest() const {
  using Key = std::tuple<int, std::size_t, std::size_t, std::size_t>;
  std::map<NodeId, Key> best;
  for (const Triple& triple : triples()) {
    const std::size_t node = find(triple.node), coparent = find(triple.coparent);
    const int behind = static_cast<int>(contracted_route(triple.coparent, triple.child).size()) - 1;
    const Key key{distance_[node][coparent] + behind, node, find(triple.child), coparent};
    const auto [at, is_first] = best.emplace(triple.node.node, key);
    if (!is_first) at->second = std::min(at->second, key);
  }
  std::vector<std::pair<Triple, int>> shortest;
  for (const auto& [owner, key] : best) {
    const auto& [edges, node, child, coparent] = key;
    shortest.push_back({{vertices_[node], vertices_[child], vertices_[coparent]}, edges});
  }
  return shortest;
}

int ViolationReference::shortest_longer_route(const UnitRef& node) const {
  int shortest = -1;
  walk(find(node), find(node), false, 0, shortest);
  return shortest;
}

void ViolationReference::walk(std::size_t node, std::size_t at, bool through_stochastic, int edges,
                              int& shortest) const {
  if (through_stochastic && is_contracted_edge(vertices_[node], vertices_[at]) &&
      (shortest < 0 || edges < shortest))
    shortest = edges;
  const bool passed = through_stochastic || (at != node && !graph_.is_deterministic(vertices_[at].node));
  for (std::size_t next = at + 1; next < vertices_.size(); ++next) {
    const std::vector<std::size_t>& list = real_parents_[next];
    if (std::find(list.begin(), list.end(), at) != list.end()) walk(node, next, passed, edges + 1, shortest);
  }
}

bool ViolationReference::has_edge(const UnitRef& from, const UnitRef& to) const {
  const std::vector<std::size_t>& list = real_parents_[find(to)];
  return std::find(list.begin(), list.end(), find(from)) != list.end();
}

bool ViolationReference::is_contracted_edge(const UnitRef& from, const UnitRef& to) const {
  const std::vector<std::size_t>& list = parents_[find(to)];
  return std::find(list.begin(), list.end(), find(from)) != list.end();
}

/// `between` says which vertices may lie between the ends.
template <class Between>
std::vector<UnitRef> ViolationReference::first_route(const UnitRef& from, const UnitRef& to,
                                                     const Between& between) const {
  std::vector<std::vector<std::size_t>> best(vertices_.size());
  best[find(from)] = {find(from)};
  for (std::size_t vertex = find(from) + 1; vertex <= find(to); ++vertex)
    for (const std::size_t parent : real_parents_[vertex]) {
      if (best[parent].empty() || (parent != find(from) && !between(parent))) continue;
      std::vector<std::size_t> route = best[parent];
      route.push_back(vertex);
      std::vector<std::size_t>& known = best[vertex];
      if (known.empty() || route.size() < known.size() || (route.size() == known.size() && route < known))
        known = route;
    }
  std::vector<UnitRef> route;
  for (const std::size_t vertex : best[find(to)]) route.push_back(vertices_[vertex]);
  return route;
}

std::vector<UnitRef> ViolationReference::route(const UnitRef& from, const UnitRef& to) const {
  return first_route(from, to, [](std::size_t) { return true; });
}

std::vector<UnitRef> ViolationReference::contracted_route(const UnitRef& from, const UnitRef& to) const {
  return first_route(from, to,
                     [&](std::size_t vertex) { return graph_.is_deterministic(vertices_[vertex].node); });
}

bool ViolationReference::reaches(const UnitRef& from, const UnitRef& to) const {
  return distance_[find(from)][find(to)] > 0;
}

std::size_t ViolationReference::find(const UnitRef& ref) const {
  return static_cast<std::size_t>(std::find(vertices_.begin(), vertices_.end(), ref) - vertices_.begin());
}

}  // namespace hindsight::testing
