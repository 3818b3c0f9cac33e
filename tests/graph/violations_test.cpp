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
  for_each_violation(graph, Contraction(graph), inputs,
                     [&](const UnitRef& node, const UnitRef& child, const UnitRef& coparent) {
                       triples.push_back({node, child, coparent});
                     });
  return triples;
}

Edges all_edges(const Graph& graph, InputPolicy inputs) {
  Edges edges;
  for_each_violating_edge(graph, Contraction(graph), inputs, [&](const UnitRef& node, const UnitRef& child) {
    edges.emplace_back(node, child);
  });
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

void check_route(const ViolationReference& reference, const std::vector<UnitRef>& route) {
  for (std::size_t i = 0; i + 1 < route.size(); ++i) CHECK(reference.has_edge(route[i], route[i + 1]));
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

TEST_CASE("a witness is the nearest violation by definition, and every edge of it exists") {
  int proofs = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const RandomGraph random = mixed_graph(seed);
    const ViolationReference reference(random.graph, InputPolicy::checked);
    const std::vector<std::pair<Triple, int>> expected = reference.nearest();
    const Contraction contraction(random.graph);
    WitnessSearch search(random.graph, contraction);
    CAPTURE(seed);
    std::size_t next = 0;
    for (int i = 0; i < random.graph.node_count(); ++i) {
      const std::optional<Violation> violation = search.shortest({i});
      REQUIRE(violation.has_value() == (next < expected.size() && expected[next].first.node.node.index == i));
      if (!violation) continue;
      const auto& [triple, distance] = expected[next++];
      CHECK(Triple{violation->node, violation->child, violation->coparent} == triple);
      check_route(reference, violation->edge);
      check_route(reference, violation->route);
      CHECK(violation->edge.front() == triple.node);
      CHECK(violation->edge.back() == triple.child);
      CHECK(violation->route.front() == triple.node);
      CHECK(violation->route.back() == triple.child);
      CHECK(violation->route[static_cast<std::size_t>(distance)] == triple.coparent);
      for (std::size_t k = 1; k + 1 < violation->edge.size(); ++k)
        CHECK(random.graph.is_deterministic(violation->edge[k].node));
      for (std::size_t k = static_cast<std::size_t>(distance) + 1; k + 1 < violation->route.size(); ++k)
        CHECK(random.graph.is_deterministic(violation->route[k].node));
      ++proofs;
    }
    CHECK(next == expected.size());
  }
  CHECK(proofs > 1000);
}

TEST_CASE("a witness does not depend on what was asked before") {
  const RandomGraph random = random_graph(12, {.nodes = 12, .custom = false, .most_states = 1e12});
  const Contraction contraction(random.graph);
  WitnessSearch forwards(random.graph, contraction), backwards(random.graph, contraction);
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
  const Contraction contraction(graph);
  CHECK(WitnessSearch(graph, contraction).shortest(nodes[10])->route.size() == 4);
  std::size_t triples = 0;
  NodeId last;
  for_each_violation(graph, contraction, InputPolicy::exempt,
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
  const Contraction contraction(graph);
  const auto witness = WitnessSearch(graph, contraction).shortest(b);
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
