#include "support/violations.hpp"

#include <algorithm>
#include <map>

namespace hindsight::testing {

std::vector<Violation> witnesses(const Graph& graph, InputPolicy inputs) {
  const Contraction contraction(graph);
  WitnessSearch search(graph, contraction);
  std::vector<Violation> found;
  const Violations violations = find_violations(graph, contraction, inputs);
  for (const NodeId node : violations.nodes()) found.push_back(search.shortest(node).value());
  return found;
}

ViolationReference::ViolationReference(const Graph& graph, InputPolicy inputs)
    : graph_(graph), inputs_(inputs) {
  bool sparse = false;
  for (int i = 0; i < graph.node_count(); ++i)
    for (const Graph::Parent& parent : graph.parents({i})) sparse = sparse || parent.connectivity != nullptr;
  for (int i = 0; i < graph.node_count(); ++i)
    for (int unit = 0; unit < (sparse ? graph.shape({i}).units : 1); ++unit)
      vertices_.push_back({{i}, sparse ? unit : -1});
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

std::vector<std::pair<ViolationReference::Triple, int>> ViolationReference::nearest() const {
  std::map<NodeId, std::pair<Triple, int>> best;
  for (const Triple& triple : triples()) {
    const int distance = distance_[find(triple.node)][find(triple.coparent)];
    const auto [at, is_first] = best.emplace(triple.node.node, std::pair{triple, distance});
    if (!is_first && distance < at->second.second) at->second = {triple, distance};
  }
  std::vector<std::pair<Triple, int>> nearest;
  for (const auto& [node, triple] : best) nearest.push_back(triple);
  return nearest;
}

bool ViolationReference::has_edge(const UnitRef& from, const UnitRef& to) const {
  const std::vector<std::size_t>& list = real_parents_[find(to)];
  return std::find(list.begin(), list.end(), find(from)) != list.end();
}

bool ViolationReference::is_contracted_edge(const UnitRef& from, const UnitRef& to) const {
  const std::vector<std::size_t>& list = parents_[find(to)];
  return std::find(list.begin(), list.end(), find(from)) != list.end();
}

bool ViolationReference::reaches(const UnitRef& from, const UnitRef& to) const {
  return distance_[find(from)][find(to)] > 0;
}

std::size_t ViolationReference::find(const UnitRef& ref) const {
  return static_cast<std::size_t>(std::find(vertices_.begin(), vertices_.end(), ref) - vertices_.begin());
}

}  // namespace hindsight::testing
