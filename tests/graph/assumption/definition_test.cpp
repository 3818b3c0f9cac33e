#include <algorithm>
#include <map>
#include <set>

#include <doctest/doctest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/transitive_reduction.hpp>

#include "support/random_graphs.hpp"
#include "support/violations.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// One-unit Bernoulli nodes, each reading any subset of those before it; the first few are inputs.
Graph random_dag(std::uint64_t seed, int inputs, int nodes, double density) {
  Dice dice(seed);
  Graph graph;
  for (int i = 0; i < inputs; ++i) graph.input("x" + std::to_string(i), 1);
  for (int i = inputs; i < nodes; ++i) {
    std::vector<Edge> parents;
    for (int p = 0; p < i; ++p)
      if (dice.chance(density)) parents.emplace_back(NodeId{p});
    graph.add("n" + std::to_string(i), Bernoulli{}, parents);
  }
  return graph;
}

bool is_parent(const Graph& graph, NodeId parent, NodeId child) {
  const auto parents = graph.parents(child);
  return std::any_of(parents.begin(), parents.end(),
                     [&](const Graph::Parent& p) { return p.node == parent; });
}

std::set<NodeId> descendants(const Graph& graph, NodeId node) {
  std::set<NodeId> found;
  std::vector<NodeId> open{node};
  while (!open.empty()) {
    const NodeId at = open.back();
    open.pop_back();
    for (const NodeId child : graph.children(at))
      if (found.insert(child).second) open.push_back(child);
  }
  return found;
}

/// The paper's words: the parents of the node's children and its descendants have nothing in common.
bool holds_by_definition(const Graph& graph, NodeId node) {
  const std::set<NodeId> below = descendants(graph, node);
  for (const NodeId child : graph.children(node))
    for (const Graph::Parent& parent : graph.parents(child))
      if (below.contains(parent.node)) return false;
  return true;
}

/// Edges that the transitive reduction drops, by the node they leave.
std::set<NodeId> sources_of_redundant_edges(const Graph& graph) {
  using Digraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  Digraph digraph(static_cast<std::size_t>(graph.node_count())), reduced;
  for (const NodeId node : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(node))
      boost::add_edge(static_cast<std::size_t>(parent.node.index), static_cast<std::size_t>(node.index),
                      digraph);
  std::map<std::size_t, std::size_t> to_reduced;
  std::vector<std::size_t> index(boost::num_vertices(digraph));
  for (std::size_t i = 0; i < index.size(); ++i) index[i] = i;
  boost::transitive_reduction(digraph, reduced, boost::make_assoc_property_map(to_reduced), index.data());
  std::set<NodeId> sources;
  for (const NodeId node : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(node))
      if (!boost::edge(to_reduced.at(static_cast<std::size_t>(parent.node.index)),
                       to_reduced.at(static_cast<std::size_t>(node.index)), reduced)
               .second)
        sources.insert(parent.node);
  return sources;
}

/// Every unit a node of its own.
struct Expansion {
  Graph graph;
  std::vector<NodeId> owner;  ///< per node of the expansion: the population it came from
};

Expansion expand(const Graph& graph) {
  Expansion expansion;
  std::vector<std::vector<NodeId>> units;
  for (const NodeId node : graph.nodes()) {
    units.emplace_back();
    for (int unit = 0; unit < graph.shape(node).units; ++unit) {
      std::vector<Edge> parents;
      for (const Graph::Parent& parent : graph.parents(node))
        for (int p = 0; p < graph.shape(parent.node).units; ++p) {
          const auto reads = [&] {
            if (!parent.connectivity) return true;
            const auto read = parent.connectivity->parents_of(unit);
            return std::find(read.begin(), read.end(), p) != read.end();
          };
          if (reads())
            parents.emplace_back(
                units[static_cast<std::size_t>(parent.node.index)][static_cast<std::size_t>(p)]);
        }
      const std::string name = graph.name(node) + "_" + std::to_string(unit);
      units.back().push_back(graph.is_input(node) ? expansion.graph.input(name, 1)
                                                  : expansion.graph.add(name, Bernoulli{}, parents));
      expansion.owner.push_back(node);
    }
  }
  return expansion;
}

std::set<NodeId> violating(const Violations& violations) {
  return {violations.nodes().begin(), violations.nodes().end()};
}

}  // namespace

TEST_CASE(
    "Assumption 1 by definition, by transitive reduction and by the validator agree on every random DAG") {
  int violations = 0, holding = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph =
        random_dag(seed, static_cast<int>(seed % 3), 4 + static_cast<int>(seed % 12), seed % 2 ? 0.25 : 0.5);
    const std::set<NodeId> found = violating(find_violations(graph, InputPolicy::checked));
    const std::set<NodeId> redundant = sources_of_redundant_edges(graph);
    CAPTURE(seed);
    CHECK(found == redundant);
    for (const NodeId node : graph.nodes()) {
      CHECK(found.contains(node) == !holds_by_definition(graph, node));
      ++(found.contains(node) ? violations : holding);
    }
  }
  CHECK(violations > 500);
  CHECK(holding > 500);
}

TEST_CASE(
    "a witness is two real routes from one node into the same child, the longer one as short as can be") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = random_dag(seed, 2, 12, 0.35);
    for (const Violation& violation : witnesses(graph, InputPolicy::checked)) {
      CHECK(is_parent(graph, violation.node.node, violation.child.node));
      CHECK(violation.route.size() >= 3);
      CHECK(violation.route.front() == violation.node);
      CHECK(violation.route.back() == violation.child);
      CHECK(violation.route[violation.route.size() - 2] == violation.coparent);
      for (std::size_t i = 0; i + 1 < violation.route.size(); ++i)
        CHECK(is_parent(graph, violation.route[i].node, violation.route[i + 1].node));
      // Breadth first over all children and coparents by hand: no shorter route exists.
      std::map<NodeId, std::size_t> distance{{violation.node.node, 0}};
      for (int i = violation.node.node.index + 1; i < graph.node_count(); ++i)
        for (const Graph::Parent& parent : graph.parents({i}))
          if (const auto at = distance.find(parent.node); at != distance.end()) {
            const std::size_t via = at->second + 1;
            const auto [here, added] = distance.emplace(NodeId{i}, via);
            if (!added) here->second = std::min(here->second, via);
          }
      for (const NodeId child : graph.children(violation.node.node))
        for (const Graph::Parent& parent : graph.parents(child))
          if (parent.node != violation.node.node && distance.contains(parent.node))
            CHECK(distance.at(parent.node) + 2 >= violation.route.size());
    }
  }
}

TEST_CASE("inputs are exempt by default and checked on request") {
  //  x ─→ a ─→ b
  //  └────────↗
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  graph.add("b", Bernoulli{}, {x, a});
  CHECK(find_violations(graph).empty());
  CHECK(violating(find_violations(graph, InputPolicy::checked)) == std::set{x});
}

TEST_CASE("with sparse edges a population violates exactly if one of its units does") {
  int vanished = 0, kept = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const RandomGraph random = random_graph(seed, {.nodes = 6, .custom = false, .most_states = 1e9});
    const Expansion expansion = expand(random.graph);
    std::set<NodeId> expected;
    for (const NodeId unit : violating(find_violations(expansion.graph)))
      expected.insert(expansion.owner[static_cast<std::size_t>(unit.index)]);
    const Violations found = find_violations(random.graph);
    CAPTURE(seed);
    CHECK(violating(found) == expected);
    for (const Violation& violation : witnesses(random.graph)) {
      // The route it shows exists unit by unit.
      for (std::size_t i = 0; i + 1 < violation.route.size(); ++i) {
        const UnitRef from = violation.route[i], to = violation.route[i + 1];
        bool joined = false;
        for (const Graph::Parent& parent : random.graph.parents(to.node)) {
          if (parent.node != from.node) continue;
          if (!parent.connectivity) {
            joined = true;
          } else {
            const auto read = parent.connectivity->parents_of(std::max(to.unit, 0));
            joined = std::find(read.begin(), read.end(), std::max(from.unit, 0)) != read.end();
          }
        }
        CHECK(joined);
      }
    }
    for (const NodeId node : random.graph.nodes()) {
      if (random.graph.is_input(node) || holds_by_definition(random.graph, node)) {
        CHECK(!expected.contains(node));  // no violation between populations: none between units
        continue;
      }
      ++(expected.contains(node) ? kept : vanished);
    }
  }
  CHECK(vanished > 20);
  CHECK(kept > 100);
}
