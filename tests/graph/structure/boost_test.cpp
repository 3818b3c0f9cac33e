#include <hindsight/graph/boost.hpp>

#include <iterator>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <boost/functional/hash.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/range/iterator_range.hpp>

#include "support/random_dags.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<Graph>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<Graph>));
BOOST_CONCEPT_ASSERT((boost::VertexAndEdgeListGraphConcept<Graph>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<Graph>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<Graph>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<Graph>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyMatrixConcept<Graph>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<Graph, NodeId, boost::vertex_index_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<Graph, NodeId, boost::vertex_name_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<Graph, NodeId, VertexKind>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<Graph, NodeId, VertexUnits>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<Graph, NodeId, VertexRole>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<Graph, EdgeId, EdgeWiring>));
// No get(vertex_level, graph, node), so a map, but no property of the graph in Boost's sense.
BOOST_CONCEPT_ASSERT(
    (boost::ReadablePropertyMapConcept<boost::property_map<Graph, VertexLevel>::const_type, NodeId>));

namespace {

using Ends = std::vector<std::pair<NodeId, NodeId>>;

/// Both ends of every edge of a range, as Boost's functions tell them.
template <class Iterator>
Ends ends(const Graph& graph, const std::pair<Iterator, Iterator>& range) {
  Ends found;
  for (const EdgeId& edge : boost::make_iterator_range(range))
    found.emplace_back(source(edge, graph), target(edge, graph));
  return found;
}

}  // namespace

TEST_CASE("Boost sees the nodes and edges of a graph in the graph's own order") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_dag_with_shuffled_parents(seed, 12, 0.1 + 0.01 * static_cast<double>(seed));
    const auto [first, last] = vertices(graph);
    CHECK(std::vector<NodeId>(first, last) ==
          std::vector<NodeId>(graph.nodes().begin(), graph.nodes().end()));
    CHECK(num_vertices(graph) == 12);
    CHECK(vertex(7, graph) == NodeId{7});
    CHECK(ends(graph, edges(graph)) == listed_edges(graph));
    CHECK(num_edges(graph) == listed_edges(graph).size());
    for (const NodeId node : graph.nodes()) {
      Ends from_parents, to_children;
      for (const Graph::Parent& parent : graph.parents(node)) from_parents.emplace_back(parent.node, node);
      for (const NodeId child : graph.children(node)) to_children.emplace_back(node, child);
      CHECK(ends(graph, in_edges(node, graph)) == from_parents);
      CHECK(ends(graph, out_edges(node, graph)) == to_children);
      CHECK(in_degree(node, graph) == from_parents.size());
      CHECK(out_degree(node, graph) == to_children.size());
      CHECK(degree(node, graph) == from_parents.size() + to_children.size());
      const auto [child, end] = adjacent_vertices(node, graph);
      CHECK(std::vector(child, end) == std::vector(graph.children(node).begin(), graph.children(node).end()));
    }
  }
}

TEST_CASE("Boost is told of exactly the edges there are") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_dag_with_shuffled_parents(seed, 10, 0.3);
    const Ends all = listed_edges(graph);
    for (const NodeId parent : graph.nodes())
      for (const NodeId child : graph.nodes()) {
        const auto [found, exists] = edge(parent, child, graph);
        CHECK(exists == (std::count(all.begin(), all.end(), std::pair(parent, child)) == 1));
        CHECK(found == EdgeId{parent, child});
      }
  }
}

TEST_CASE("a graph without edges or nodes has empty ranges of both") {
  Graph graph;
  CHECK(vertices(graph).first == vertices(graph).second);
  CHECK(edges(graph).first == edges(graph).second);
  graph.input("x", 1);
  graph.input("y", 1);
  CHECK(std::distance(vertices(graph).first, vertices(graph).second) == 2);
  CHECK(edges(graph).first == edges(graph).second);
  CHECK(out_edges(NodeId{0}, graph).first == out_edges(NodeId{0}, graph).second);
  CHECK(in_edges(NodeId{1}, graph).first == in_edges(NodeId{1}, graph).second);
  CHECK(boost::graph_traits<Graph>::null_vertex() == NodeId{});
}

TEST_CASE("edges to children and from parents can be jumped along") {
  // x ─→ a ─→ c
  // └──→ b ──↗
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {x});
  const NodeId c = graph.add("c", Bernoulli{}, {b, a});
  auto [out, out_end] = out_edges(x, graph);
  CHECK(out_end - out == 2);
  CHECK(*(out + 1) == EdgeId{x, b});
  CHECK(*--out_end == EdgeId{x, b});
  auto [in, in_end] = in_edges(c, graph);
  CHECK(in_end - in == 2);
  CHECK(in[1] == EdgeId{a, c});
  CHECK(*--in_end == EdgeId{a, c});
  CHECK((*in).position == 0);
  CHECK((*in_end).position == 1);
}

TEST_CASE("an edge is told by its ends, however it was come by") {
  Graph graph;
  const NodeId x = graph.input("x", 1), y = graph.input("y", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {y, x});
  const NodeId b = graph.add("b", Bernoulli{}, {a, x});
  const EdgeId from_child = *in_edges(a, graph).first, from_parent = *out_edges(y, graph).first;
  CHECK(from_child.position == 0);
  CHECK(from_parent.position == -1);
  CHECK(from_child == from_parent);
  CHECK((from_child <=> from_parent) == 0);
  CHECK(std::hash<EdgeId>{}(from_child) == std::hash<EdgeId>{}(from_parent));
  CHECK(boost::hash<EdgeId>{}(from_child) == boost::hash<EdgeId>{}(from_parent));
  CHECK(boost::hash<NodeId>{}(a) == std::hash<NodeId>{}(a));
  CHECK(from_child != EdgeId{x, a});

  const auto all = boost::make_iterator_range(edges(graph));
  const std::set<EdgeId> sorted(all.begin(), all.end());
  CHECK(std::vector(sorted.begin(), sorted.end()) == std::vector<EdgeId>{{x, a}, {y, a}, {x, b}, {a, b}});
  CHECK(std::unordered_set<EdgeId>(all.begin(), all.end()).size() == 4);
  CHECK(&as_listed(from_child, graph) == &graph.parents(a)[0]);
  CHECK(&as_listed(from_parent, graph) == &graph.parents(a)[0]);
  CHECK(&as_listed({x, b, 0}, graph) == &graph.parents(b)[1]);  // a wrong position is looked up anew
}

TEST_CASE("hashes of the edges of a graph hardly ever meet") {
  std::unordered_set<std::size_t> hashes;
  for (int child = 0; child < 1000; ++child)
    for (int parent = 0; parent < child; ++parent) hashes.insert(std::hash<EdgeId>{}({{parent}, {child}}));
  CHECK(hashes.size() == 499'500);
}

TEST_CASE("property maps say what the graph says") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_dag_with_shuffled_parents(seed, 12, 0.3);
    const auto numbers = get(boost::vertex_index, graph);
    const auto names = get(boost::vertex_name, graph);
    const auto kinds = get(vertex_kind, graph);
    const auto units = get(vertex_units, graph);
    const auto roles = get(vertex_role, graph);
    const auto depths = get(vertex_level, graph);
    const auto wirings = get(edge_wiring, graph);
    const std::vector<int> expected_levels = levels(graph);
    for (const NodeId node : graph.nodes()) {
      CHECK(get(numbers, node) == static_cast<std::size_t>(node.index));
      CHECK(get(names, node) == graph.name(node));
      CHECK(get(kinds, node) == graph.kind(node));
      CHECK(get(units, node) == graph.shape(node).units);
      CHECK(get(roles, node) == graph.role(node));
      CHECK(get(depths, node) == expected_levels[get(numbers, node)]);
      CHECK(get(boost::vertex_index, graph, node) == numbers[node]);
      CHECK(get(boost::vertex_name, graph, node) == names[node]);
      CHECK(get(depths, node) == depths[node]);
      const auto parents = graph.parents(node);
      auto listed = parents.begin();
      for (const EdgeId& edge : boost::make_iterator_range(in_edges(node, graph)))
        CHECK(get(wirings, edge) == (listed++)->connectivity);
      for (const EdgeId& edge : boost::make_iterator_range(out_edges(node, graph)))
        CHECK(get(edge_wiring, graph, edge) == as_listed(edge, graph).connectivity);
    }
  }
}

TEST_CASE("a sparse edge shows its wiring and a dense one shows none") {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {Edge{x, Pattern::pairs({{1, 0}})}});
  const NodeId b = graph.add("b", Bernoulli{}, {x, a});
  const Connectivity* const wired = get(edge_wiring, graph, edge(x, a, graph).first);
  REQUIRE(wired);
  CHECK(wired->pairs() == 1);
  CHECK(get(edge_wiring, graph, edge(a, b, graph).first) == nullptr);
}

TEST_CASE("levels are those of the graph at the time") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const auto before = get(vertex_level, graph);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const auto after = get(vertex_level, graph), copy = after;
  CHECK(before[x] == 0);
  CHECK(after[a] == 1);
  CHECK(copy[a] == 1);
}
