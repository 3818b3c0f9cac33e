#include <algorithm>
#include <compare>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/range/iterator_range.hpp>

#include <hindsight/graph/boost.hpp>

#include "support/lattice_model.hpp"
#include "support/random_dags.hpp"
#include "support/same_graph.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

struct Gene {
  std::string name;
};
struct Bond {
  double density = 1;
};
template <class Vertices, class Direction>
using GeneNetwork = boost::adjacency_list<boost::vecS, Vertices, Direction, Gene, Bond>;

/// Edges of a DAG over numbers that are not in a topological order, none twice, in any order.
std::vector<std::pair<int, int>> random_edges(std::uint64_t seed, int count) {
  Dice dice(seed);
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  shuffle(numbers, dice);
  std::vector<std::pair<int, int>> edges;
  for (int to = 0; to < count; ++to)
    for (int from = 0; from < to; ++from)
      if (dice.chance(0.3))
        edges.emplace_back(numbers[static_cast<std::size_t>(from)], numbers[static_cast<std::size_t>(to)]);
  shuffle(edges, dice);
  return edges;
}

template <class Network>
Network gene_network(const std::vector<std::pair<int, int>>& edges, int count) {
  Network network;
  std::vector<typename boost::graph_traits<Network>::vertex_descriptor> made;
  for (int i = 0; i < count; ++i) made.push_back(add_vertex(Gene{"v" + std::to_string(i)}, network));
  for (const auto& [from, to] : edges)
    add_edge(made[static_cast<std::size_t>(from)], made[static_cast<std::size_t>(to)],
             Bond{from % 2 == 0 ? 0.5 : 1.0}, network);
  return network;
}

template <class Direction>
auto compressed_network(const std::vector<std::pair<int, int>>& edges, int count) {
  std::vector<Bond> bonds;
  for (const auto& edge : edges) bonds.push_back({edge.first % 2 == 0 ? 0.5 : 1.0});
  boost::compressed_sparse_row_graph<Direction, Gene, Bond> network(boost::edges_are_unsorted_multi_pass,
                                                                    edges.begin(), edges.end(), bonds.begin(),
                                                                    static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) network[static_cast<std::size_t>(i)].name = "v" + std::to_string(i);
  return network;
}

/// Again and again the first of those whose parents are all there.
std::vector<int> first_come_order(const std::vector<std::pair<int, int>>& edges, int count) {
  std::vector<int> order;
  const auto is_in = [&](int vertex) { return std::count(order.begin(), order.end(), vertex) > 0; };
  while (static_cast<int>(order.size()) < count)
    for (int vertex = 0; vertex < count; ++vertex)
      if (!is_in(vertex) && std::ranges::all_of(edges, [&](const auto& edge) {
            return edge.second != vertex || is_in(edge.first);
          })) {
        order.push_back(vertex);
        break;
      }
  return order;
}

/// "v3: v0 v1(sparse)" per node, in order of addition.
std::vector<std::string> described(const Graph& graph) {
  std::vector<std::string> lines;
  for (const NodeId node : graph.nodes()) {
    std::string line = graph.name(node) + ":";
    for (const Graph::Parent& parent : graph.parents(node))
      line += " " + graph.name(parent.node) + (parent.connectivity ? "(sparse)" : "");
    lines.push_back(line);
  }
  return lines;
}

/// The same, from edges that are sorted as the parents should be.
std::vector<std::string> described(const std::vector<std::pair<int, int>>& edges, int count) {
  std::vector<std::string> lines;
  for (const int vertex : first_come_order(edges, count)) {
    std::string line = "v" + std::to_string(vertex) + ":";
    for (const auto& [from, to] : edges)
      if (to == vertex) line += " v" + std::to_string(from) + (from % 2 == 0 ? "(sparse)" : "");
    lines.push_back(line);
  }
  return lines;
}

/// Binary units by the names and densities of the network.
template <class Network>
Graph imported(const Network& network, std::vector<NodeId>* nodes = nullptr) {
  Graph graph;
  const auto made = add_vertices(
      network,
      [&](auto vertex, std::vector<Edge> parents) {
        return graph.add(network[vertex].name, Bernoulli{}, std::move(parents));
      },
      [&](const auto& edge) {
        return network[edge].density < 1 ? Pattern::pairs({{0, 0}}) : Pattern::dense();
      });
  if (nodes) *nodes = made;
  return graph;
}

}  // namespace

TEST_CASE("a bidirectional Boost graph becomes nodes whose parents come in the order of edges") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const auto edges = random_edges(seed, 12);
    const auto expected = described(edges, 12);
    CHECK(described(imported(gene_network<GeneNetwork<boost::vecS, boost::bidirectionalS>>(edges, 12))) ==
          expected);
    CHECK(described(imported(gene_network<GeneNetwork<boost::listS, boost::bidirectionalS>>(edges, 12))) ==
          expected);
  }
}

TEST_CASE("a directed Boost graph becomes nodes whose parents come vertex after vertex") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const auto edges = random_edges(seed, 12);
    auto by_parent = edges;
    std::ranges::stable_sort(by_parent, {}, &std::pair<int, int>::first);
    const auto expected = described(by_parent, 12);
    CHECK(described(imported(gene_network<GeneNetwork<boost::vecS, boost::directedS>>(edges, 12))) ==
          expected);
    CHECK(described(imported(gene_network<GeneNetwork<boost::listS, boost::directedS>>(edges, 12))) ==
          expected);
  }
}

TEST_CASE("a compressed Boost graph becomes the same nodes") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    auto edges = random_edges(seed, 12);
    std::ranges::stable_sort(edges, {}, &std::pair<int, int>::first);
    const auto expected = described(edges, 12);
    CHECK(described(imported(compressed_network<boost::directedS>(edges, 12))) == expected);
    CHECK(described(imported(compressed_network<boost::bidirectionalS>(edges, 12))) == expected);
  }
}

TEST_CASE("a user's own model of a graph becomes nodes, without any patterns") {
  // (0,0) ─→ (0,1) ─→ (0,2)
  //   ↓        ↓        ↓
  // (1,0) ─→ (1,1) ─→ (1,2)
  const LatticeModel lattice{2, 3};
  Graph graph;
  const std::vector<NodeId> nodes = add_vertices(lattice, [&](Cell cell, std::vector<Edge> parents) {
    const std::string name = fmt::format("({},{})", cell.row, cell.column);
    return parents.empty() ? graph.input(name, 1) : graph.add(name, Bernoulli{}, std::move(parents));
  });
  CHECK(described(graph) == std::vector<std::string>{"(0,0):", "(0,1): (0,0)", "(0,2): (0,1)", "(1,0): (0,0)",
                                                     "(1,1): (0,1) (1,0)", "(1,2): (0,2) (1,1)"});
  CHECK(nodes == std::vector<NodeId>(graph.nodes().begin(), graph.nodes().end()));
}

TEST_CASE("nodes are returned in the order of vertices, whatever the order of addition") {
  const auto edges = random_edges(5, 12);
  std::vector<NodeId> nodes;
  const auto network = gene_network<GeneNetwork<boost::listS, boost::bidirectionalS>>(edges, 12);
  const Graph graph = imported(network, &nodes);
  REQUIRE(nodes.size() == 12);
  CHECK_FALSE(std::is_sorted(nodes.begin(), nodes.end()));
  for (int i = 0; i < 12; ++i)
    CHECK(graph.name(nodes[static_cast<std::size_t>(i)]) == "v" + std::to_string(i));
}

TEST_CASE("a Boost graph without vertices becomes nothing") {
  const GeneNetwork<boost::vecS, boost::directedS> network;
  std::vector<NodeId> nodes;
  CHECK(imported(network, &nodes).node_count() == 0);
  CHECK(nodes.empty());
}

TEST_CASE("what a filter hides becomes no node, and numbers close up") {
  using Network = GeneNetwork<boost::vecS, boost::bidirectionalS>;
  const Network network = gene_network<Network>({{4, 2}, {2, 0}, {3, 0}, {4, 0}}, 5);
  const auto is_shown = [](std::size_t vertex) { return vertex != 1 && vertex != 3; };
  const boost::filtered_graph<Network, boost::keep_all, decltype(is_shown)> shown(network, {}, is_shown);
  std::vector<NodeId> nodes;
  const Graph graph = imported(shown, &nodes);
  CHECK(described(graph) == std::vector<std::string>{"v4:", "v2: v4(sparse)", "v0: v2(sparse) v4(sparse)"});
  CHECK(nodes == std::vector<NodeId>{{2}, {1}, {0}});  // of v0, v2 and v4
}

TEST_CASE("a reversed Boost graph becomes nodes that are read by their parents") {
  using Network = GeneNetwork<boost::vecS, boost::bidirectionalS>;
  const Network network = gene_network<Network>({{0, 1}, {1, 2}, {0, 2}}, 3);
  const auto reversed = boost::make_reverse_graph(network);
  Graph graph;
  add_vertices(reversed, [&](auto vertex, std::vector<Edge> parents) {
    return graph.add(network[vertex].name, Bernoulli{}, std::move(parents));
  });
  CHECK(described(graph) == std::vector<std::string>{"v2:", "v1: v2", "v0: v1 v2"});
}

TEST_CASE("a graph that is added to another as Boost sees it is the same graph") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Graph graph = random_dag_with_shuffled_parents(seed, 12, 0.3);
    Graph copy;
    add_vertices(
        graph,
        [&](NodeId node, std::vector<Edge> parents) {
          return graph.is_input(node) ? copy.input(graph.name(node), graph.shape(node).units)
                                      : copy.add(graph.name(node), *graph.node(node), std::move(parents));
        },
        [&](const EdgeId& edge) {
          return get(edge_wiring, graph, edge) ? Pattern::pairs({{0, 1}}) : Pattern::dense();
        });
    CHECK(difference(graph, copy, standard_catalogue()).empty());
  }
}

TEST_CASE("a vertex may become a reward, which nobody reads") {
  using Network = GeneNetwork<boost::vecS, boost::bidirectionalS>;
  const Network network = gene_network<Network>({{1, 2}, {2, 0}}, 3);
  Graph graph;
  const std::vector<NodeId> nodes = add_vertices(network, [&](auto vertex, std::vector<Edge> parents) {
    if (vertex != 0) return graph.add(network[vertex].name, Bernoulli{}, std::move(parents));
    graph.reward("r", {parents.front().parent});
    return NodeId{};
  });
  CHECK(nodes == std::vector<NodeId>{{}, {0}, {1}});
  CHECK(graph.reads(graph.find_reward("r").value()).front() == nodes[2]);
}
