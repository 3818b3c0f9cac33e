// The graph without its deterministic nodes, judged by lists of routes that are written out one by one.
#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/contraction.hpp>
#include <hindsight/hindsight.hpp>

#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

using internal::Contraction;
using Nodes = std::vector<NodeId>;

/// One-unit nodes, some of them deterministic, that read some of the last six in any order; rewards that read
/// anything.
Graph partly_deterministic(std::uint64_t seed) {
  Dice dice(seed);
  Graph graph;
  const int count = 6 + dice.below(9);
  graph.input("x", 1);
  for (int i = 1; i < count; ++i) {
    std::vector<Edge> parents;
    std::set<int> read;
    for (int wanted = 1 + dice.below(3); wanted > 0; --wanted)
      if (const int parent = i - 1 - dice.below(std::min(i, 6)); read.insert(parent).second)
        parents.emplace_back(NodeId{parent});
    const std::string name = "n" + std::to_string(i);
    if (dice.chance(0.5))
      graph.add(name, Tanh{}, parents);
    else
      graph.add(name, Bernoulli{}, parents);
  }
  for (int i = 0; i < 2; ++i) {
    Nodes reads{{count - 1}};
    for (int node = 0; node + 1 < count; ++node)
      if (dice.chance(0.2)) reads.push_back({node});
    graph.reward("r" + std::to_string(i), reads);
  }
  return graph;
}

/// All routes from the node, of one vertex at least, with only deterministic nodes between.
void append_routes(const Graph& graph, Nodes& route, std::vector<Nodes>& routes) {
  routes.push_back(route);
  if (route.size() > 1 && !graph.is_deterministic(route.back())) return;
  for (const NodeId node : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(node))
      if (parent.node == route.back()) {
        route.push_back(node);
        append_routes(graph, route, routes);
        route.pop_back();
      }
}

std::vector<Nodes> routes_from(const Graph& graph, NodeId node) {
  std::vector<Nodes> routes;
  Nodes route{node};
  append_routes(graph, route, routes);
  return routes;
}

/// The shortest of the routes that `wanted` is true of; of several the one whose nodes were added first.
template <class Wanted>
Nodes first_of_shortest(const std::vector<Nodes>& routes, const Wanted& wanted) {
  Nodes best;
  for (const Nodes& route : routes) {
    if (!wanted(route)) continue;
    if (best.empty() || route.size() < best.size() || (route.size() == best.size() && route < best))
      best = route;
  }
  return best;
}

void list_parents(const Graph& graph, NodeId reader, Nodes& parents) {
  for (const Graph::Parent& parent : graph.parents(reader))
    if (graph.is_deterministic(parent.node))
      list_parents(graph, parent.node, parents);
    else if (std::find(parents.begin(), parents.end(), parent.node) == parents.end())
      parents.push_back(parent.node);
}

Nodes listed(std::span<const internal::Vertex> vertices) {
  Nodes nodes;
  for (const internal::Vertex vertex : vertices) nodes.push_back(internal::node_of(vertex));
  return nodes;
}

}  // namespace

//  x ─→ a ─→ f ─→ g ─→ c ─→ r      g reads a too, and c reads f and g
//       └─────────↗
TEST_CASE("the contraction joins what only deterministic nodes separate, once") {
  Graph graph;
  const NodeId x = graph.input("x", 1), a = graph.add("a", Bernoulli{}, {x}), f = graph.add("f", Tanh{}, {a}),
               g = graph.add("g", Tanh{}, {f, a}), c = graph.add("c", Bernoulli{}, {f, g});
  const RewardId r = graph.reward("r", {c});
  const Contraction contraction(graph);
  CHECK(listed(contraction.children(a)) == Nodes{c});
  CHECK(listed(contraction.parents(c)) == Nodes{a});
  CHECK(contraction.level(c) == 2);
  CHECK(contraction.below_functions(a).functions == Nodes{f, g});
  CHECK(contraction.route(a, c) == Nodes{a, f, c});
  CHECK(contraction.is_joined_by_functions(a, c));
  CHECK_FALSE(contraction.is_joined_by_functions(x, a));
  CHECK(contraction.route_to_reward(a, r).empty());
  CHECK(contraction.route_to_reward(c, r) == Nodes{c});
}

TEST_CASE("the contraction of a random graph lists parents and children as its definition does") {
  std::size_t through_functions = 0, edges = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = partly_deterministic(seed);
    const Contraction contraction(graph);
    CAPTURE(seed);
    std::vector<int> level(static_cast<std::size_t>(graph.node_count()), 0);
    std::vector<Nodes> children(level.size());
    for (const NodeId node : graph.nodes()) {
      Nodes parents;
      if (!graph.is_deterministic(node)) list_parents(graph, node, parents);
      CHECK(listed(contraction.parents(node)) == parents);
      for (const NodeId parent : parents) {
        int& own = level[static_cast<std::size_t>(node.index)];
        own = std::max(own, level[static_cast<std::size_t>(parent.index)] + 1);
        children[static_cast<std::size_t>(parent.index)].push_back(node);
      }
      CHECK(contraction.level(node) == level[static_cast<std::size_t>(node.index)]);
    }
    for (const NodeId node : graph.nodes()) {
      if (graph.is_deterministic(node)) continue;
      CHECK(listed(contraction.children(node)) == children[static_cast<std::size_t>(node.index)]);
      std::set<NodeId> functions, below;
      for (const Nodes& route : routes_from(graph, node)) {
        if (route.size() > 1 && graph.is_deterministic(route.back())) functions.insert(route.back());
        if (route.size() > 2 && !graph.is_deterministic(route.back())) below.insert(route.back());
      }
      CHECK(contraction.below_functions(node).functions == Nodes(functions.begin(), functions.end()));
      CHECK(contraction.below_functions(node).children == Nodes(below.begin(), below.end()));
      for (const NodeId child : children[static_cast<std::size_t>(node.index)])
        CHECK(contraction.is_joined_by_functions(node, child) == below.contains(child));
      through_functions += below.size();
      edges += children[static_cast<std::size_t>(node.index)].size();
    }
  }
  CHECK(through_functions > 500);
  CHECK(edges > 1500);
}

TEST_CASE("routes of the contraction are the shortest, and of several the one that was added first") {
  std::size_t long_routes = 0, ties = 0, rewarded = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = partly_deterministic(seed);
    const Contraction contraction(graph);
    CAPTURE(seed);
    std::vector<std::vector<bool>> read_directly;
    for (const RewardId reward : graph.rewards()) read_directly.push_back(contraction.read_directly(reward));
    for (const NodeId node : graph.nodes()) {
      const std::vector<Nodes> routes = routes_from(graph, node);
      for (const NodeId child : graph.nodes()) {
        if (child <= node || graph.is_deterministic(node)) continue;
        const auto ends_there = [&](const Nodes& route) { return route.back() == child; };
        const Nodes route = first_of_shortest(routes, ends_there);
        CHECK(contraction.route(node, child) == route);
        long_routes += route.size() > 3 ? 1 : 0;
        ties += std::count_if(routes.begin(), routes.end(), [&](const Nodes& other) {
                  return ends_there(other) && other.size() == route.size();
                }) > 1;
      }
      for (const RewardId reward : graph.rewards()) {
        const std::span<const NodeId> reads = graph.reads(reward);
        const Nodes route = first_of_shortest(routes, [&](const Nodes& each) {
          return (each.size() == 1 || graph.is_deterministic(each.back())) &&
                 std::find(reads.begin(), reads.end(), each.back()) != reads.end();
        });
        CHECK(contraction.route_to_reward(node, reward) == route);
        CHECK(read_directly[internal::index(reward)][internal::index(node)] == !route.empty());
        rewarded += route.size() > 1 ? 1 : 0;
      }
    }
  }
  CHECK(long_routes > 300);
  CHECK(ties > 100);
  CHECK(rewarded > 500);
}
