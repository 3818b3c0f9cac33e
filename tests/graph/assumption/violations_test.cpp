// All violations, their order and their proofs, judged by Assumption 1 written out word by word.
#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "support/random_graphs.hpp"
#include "support/violations.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

using Triple = ViolationReference::Triple;
using Edges = std::vector<std::pair<UnitRef, UnitRef>>;

std::vector<Triple> all_triples(const Graph& graph, InputPolicy inputs) {
  std::vector<Triple> triples;
  for_each_violation(graph, inputs, [&](const UnitRef& node, const UnitRef& child, const UnitRef& coparent) {
    triples.push_back({node, child, coparent});
  });
  return triples;
}

Edges all_edges(const Graph& graph, InputPolicy inputs) {
  Edges edges;
  for_each_violating_edge(
      graph, inputs, [&](const UnitRef& node, const UnitRef& child) { edges.emplace_back(node, child); });
  return edges;
}

/// The graph number `seed`: with and without patterns, deterministic nodes and nodes of users.
RandomGraph mixed_graph(std::uint64_t seed) {
  return random_graph(seed, {.nodes = 5 + static_cast<int>(seed % 4),
                             .sparse = seed % 2 == 0,
                             .custom = seed % 5 == 0,
                             .functions = seed % 3 != 0,
                             .most_states = 1e12});
}

/// One-unit nodes in a chain, some of them deterministic; some read a node further back too.
Graph chain_with_skips(std::uint64_t seed) {
  Dice dice(seed);
  Graph graph;
  NodeId last = graph.add("n0", Bernoulli{}, {});
  for (int i = 1; i < 20; ++i) {
    std::vector<Edge> parents{last};
    if (i > 1 && dice.chance(0.4)) parents.emplace_back(NodeId{dice.below(i - 1)});
    if (dice.chance(0.5)) std::reverse(parents.begin(), parents.end());
    const std::string name = "n" + std::to_string(i);
    last = dice.chance(0.3) ? graph.add(name, Tanh{}, parents) : graph.add(name, Bernoulli{}, parents);
  }
  return graph;
}

void check_route(const ViolationReference& reference, const std::vector<UnitRef>& route) {
  for (std::size_t i = 0; i + 1 < route.size(); ++i) CHECK(reference.has_edge(route[i], route[i + 1]));
}

struct Proofs {
  int all = 0, far = 0;  ///< far: the coparent is more than two edges from the node
  int behind = 0;        ///< deterministic nodes lie between coparent and child
};

void compare_witnesses(const Graph& graph, Proofs& proofs) {
  const ViolationReference reference(graph, InputPolicy::checked);
  const std::vector<std::pair<Triple, int>> expected = reference.shortest();
  WitnessSearch search(graph);
  std::size_t next = 0;
  for (const NodeId node : graph.nodes()) {
    const std::optional<Violation> violation = search.shortest(node);
    REQUIRE(violation.has_value() == (next < expected.size() && expected[next].first.node.node == node));
    if (!violation) continue;
    const auto& [triple, edges] = expected[next++];
    CHECK(Triple{violation->node, violation->child, violation->coparent} == triple);
    check_route(reference, violation->edge);
    check_route(reference, violation->route);
    CHECK(violation->edge == reference.contracted_route(triple.node, triple.child));
    CHECK(static_cast<int>(violation->route.size()) == edges + 1);
    for (const UnitRef& unit : reference.vertices())
      if (unit.node == triple.node.node) {
        const int walked = reference.shortest_longer_route(unit);
        CHECK((walked < 0 || edges <= walked));
        if (unit == triple.node) CHECK(walked == edges);
      }
    std::vector<UnitRef> longer = reference.route(triple.node, triple.coparent);
    const std::size_t distance = longer.size() - 1;
    const std::vector<UnitRef> last = reference.contracted_route(triple.coparent, triple.child);
    longer.insert(longer.end(), last.begin() + 1, last.end());
    CHECK(violation->route == longer);
    ++proofs.all;
    proofs.far += distance > 2 ? 1 : 0;
    proofs.behind += last.size() > 2 ? 1 : 0;
  }
  CHECK(next == expected.size());
}

}  // namespace

TEST_CASE("every violation of every random graph is found, in order, and nothing else") {
  std::size_t violations = 0, through_units = 0, through_functions = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const RandomGraph random = mixed_graph(seed);
    const InputPolicy inputs = seed % 7 == 0 ? InputPolicy::checked : InputPolicy::exempt;
    const std::vector<Triple> expected = ViolationReference(random.graph, inputs).triples();
    CAPTURE(seed);
    CHECK(all_triples(random.graph, inputs) == expected);

    Edges edges;
    std::set<std::pair<NodeId, NodeId>> between_nodes;
    for (const Triple& triple : expected) {
      if (edges.empty() || edges.back() != std::pair{triple.node, triple.child})
        edges.emplace_back(triple.node, triple.child);
      between_nodes.emplace(triple.node.node, triple.child.node);
    }
    CHECK(all_edges(random.graph, inputs) == edges);

    const Violations found = find_violations(random.graph, inputs);
    CHECK(found.edge_count() == between_nodes.size());
    std::set<std::pair<NodeId, NodeId>> listed;
    for (const NodeId node : found.nodes()) {
      CHECK(found.contains(node));
      CHECK(std::is_sorted(found.children(node).begin(), found.children(node).end()));
      for (const NodeId child : found.children(node)) listed.emplace(node, child);
    }
    CHECK(listed == between_nodes);
    CHECK(std::is_sorted(found.nodes().begin(), found.nodes().end()));

    violations += expected.size();
    through_units += expected.empty() || expected[0].node.unit < 0 ? 0 : expected.size();
    through_functions += random.functions.empty() ? 0 : expected.size();
  }
  CHECK(violations > 3000);
  CHECK(through_units > 1000);
  CHECK(through_functions > 1000);
}

TEST_CASE(
    "a witness has the shortest longer route there is, deterministic nodes counted, and the first of those") {
  Proofs proofs;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    compare_witnesses(mixed_graph(seed).graph, proofs);
  }
  CHECK(proofs.all > 1000);
  CHECK(proofs.behind > 50);
}

TEST_CASE("a witness has the first of the shortest routes where routes are long") {
  Proofs proofs;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    compare_witnesses(chain_with_skips(seed), proofs);
  }
  CHECK(proofs.all > 500);
  CHECK(proofs.far > 100);
  CHECK(proofs.behind > 100);
}

//  a ─→ b ─→ t ─→ u ─→ v ─→ c      b is the nearest coparent, but three functions lie between it and c
//  ├──→ e ─→ f ─────────────↑
//  └────────────────────────┘
TEST_CASE("the route that is shown is the shortest in real edges, not in those of the contraction") {
  for (const bool sparse : {false, true}) {
    Graph graph;
    const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a});
    const NodeId t = graph.add("t", Tanh{}, {b}), u = graph.add("u", Tanh{}, {t}),
                 v = graph.add("v", Tanh{}, {u});
    const NodeId e = graph.add("e", Bernoulli{}, {a}), f = graph.add("f", Bernoulli{}, {e});
    const NodeId c =
        graph.add("c", Bernoulli{}, {a, v, sparse ? Edge{f, Pattern::pairs({{0, 0}})} : Edge{f}});
    const auto violation = WitnessSearch(graph).shortest(a);
    REQUIRE(violation);
    std::vector<NodeId> route;
    for (const UnitRef& at : violation->route) route.push_back(at.node);
    CHECK(route == std::vector{a, e, f, c});
    CHECK(violation->coparent.node == f);
  }
}

TEST_CASE("a witness does not depend on what was asked before") {
  const RandomGraph random = random_graph(12, {.nodes = 12, .custom = false, .most_states = 1e12});
  WitnessSearch forwards(random.graph), backwards(random.graph);
  const int count = random.graph.node_count();
  std::vector<std::vector<UnitRef>> routes;
  for (int i = 0; i < count; ++i) {
    const auto violation = forwards.shortest({i});
    routes.push_back(violation ? violation->route : std::vector<UnitRef>{});
  }
  CHECK(std::count(routes.begin(), routes.end(), std::vector<UnitRef>{}) < count - 2);
  for (int i = count - 1; i >= 0; --i) {
    const auto violation = backwards.shortest({i});
    CHECK((violation ? violation->route : std::vector<UnitRef>{}) == routes[static_cast<std::size_t>(i)]);
  }
}

// More nodes than one sweep takes, and edges that reach near and far: 0 … 1999 in a chain, each tenth node
// read again 3 and 1500 nodes later.
TEST_CASE("sweeps of near and of far edges find what one would") {
  Graph graph;
  std::vector<NodeId> nodes;
  std::set<std::pair<int, int>> expected;
  for (int i = 0; i < 2000; ++i) {
    std::vector<Edge> parents;
    if (i > 0) parents.emplace_back(nodes.back());
    for (const int back : {3, 1500})
      if (i >= back && (i - back) % 10 == 0) {
        parents.emplace_back(nodes[static_cast<std::size_t>(i - back)]);
        expected.emplace(i - back, i);
      }
    nodes.push_back(graph.add("n" + std::to_string(i), Bernoulli{}, parents));
  }
  const Violations violations = find_violations(graph);
  std::set<std::pair<int, int>> found;
  for (const NodeId node : violations.nodes())
    for (const NodeId child : violations.children(node)) found.emplace(node.index, child.index);
  CHECK(found == expected);
  CHECK(WitnessSearch(graph).shortest(nodes[10])->route.size() == 4);
  std::size_t triples = 0;
  NodeId last;
  for_each_violation(graph, InputPolicy::exempt,
                     [&](const UnitRef& node, const UnitRef&, const UnitRef& coparent) {
                       CHECK(last <= node.node);
                       CHECK(node.node < coparent.node);
                       last = node.node;
                       ++triples;
                     });
  CHECK(triples >= expected.size());
}

//  a(2000) ─→ b(2000) ─→ c(2000)      c reads a too, all of it; one edge elsewhere is sparse
TEST_CASE("dense populations beside a sparse edge are not written out pair by pair") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 2000}, {}),
               b = graph.add("b", Bernoulli{.units = 2000}, {a}),
               c = graph.add("c", Bernoulli{.units = 2000}, {a, b}),
               d = graph.add("d", Bernoulli{.units = 2}, {Edge{c, Pattern::pairs({{7, 1}})}});
  graph.add("e", Bernoulli{.units = 2},
            {Edge{d, Pattern::pairs({{1, 0}})}, Edge{b, Pattern::pairs({{5, 0}})}});
  const Violations violations = find_violations(graph);
  CHECK(std::vector(violations.nodes().begin(), violations.nodes().end()) == std::vector{a, b});
  CHECK(violations.edge_count() == 2);
  const auto witness = WitnessSearch(graph).shortest(b);
  REQUIRE(witness);
  CHECK(witness->node == UnitRef{b, 5});
  CHECK(witness->route == std::vector<UnitRef>{{b, 5}, {c, 7}, {d, 1}, {graph.children(d)[0], 0}});
}

//  a(40000) ═→ b(40000) ═→ c      and one pair a[39999] → c: the last unit alone violates
TEST_CASE("a violation of the last of many units is found at once") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 40000}, {});
  const NodeId b = graph.add("b", Bernoulli{.units = 40000}, {a});
  const NodeId c = graph.add("c", Bernoulli{}, {{a, Pattern::pairs({{39999, 0}})}, b});
  graph.reward("r", {c});
  const Report report = validate(graph);
  REQUIRE(report.count("assumption-1") == 1);
  CHECK(report.diagnostics.back().witness.at(1).front() == "a[39999]");
}

TEST_CASE("populations that could not be written out unit by unit are a finding, not an exception") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 1000000000}, {});
  const NodeId b = graph.add("b", Bernoulli{.units = 1000000000}, {a});
  const NodeId c = graph.add("c", Bernoulli{}, {{a, Pattern::pairs({{0, 0}})}, b});
  graph.reward("r", {c});
  const Report report = validate(graph);
  REQUIRE(report.diagnostics.size() == 1);
  CHECK(report.diagnostics[0].code == "too-large");
}
