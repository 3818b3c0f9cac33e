#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>

#include <hindsight/graph/boost.hpp>
#include <hindsight/hindsight.hpp>

#include "support/lattice_model.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

using Ends = std::vector<std::pair<int, int>>;
using Plain = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
using Named = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                    boost::property<boost::vertex_name_t, std::string>>;
struct Neuron {
  std::string name;
};
using Bundled = boost::adjacency_list<boost::vecS, boost::listS, boost::bidirectionalS, Neuron>;

/// What is said of binary units called as `name` has it; no node may have been made before.
template <class Network, class Name>
std::string refused_import(const Network& network, const Name& name) {
  Graph graph;
  const std::string text = refusal([&] {
    add_vertices(network, [&](auto vertex, std::vector<Edge> parents) {
      return graph.add(name(vertex), Bernoulli{}, std::move(parents));
    });
  });
  CHECK(graph.node_count() == 0);
  return text;
}

const auto numbered = [](auto vertex) { return "n" + std::to_string(vertex); };

Plain plain(const Ends& edges, std::size_t count) { return Plain(edges.begin(), edges.end(), count); }

}  // namespace

TEST_CASE("a cycle of a Boost graph is shown as a route of names") {
  constexpr const char* expected =
      "error[cycle]: node 'b': 3 nodes read each other in a circle, so none could be sampled first\n"
      "    b → c → d → b\n"
      "  help: leave out one of these edges, e.g. d -> b";
  const Ends edges{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 2}};  // x → a → b → c → d → b
  Named named(edges.begin(), edges.end(), 5);
  Bundled bundled;
  std::vector<Bundled::vertex_descriptor> made;
  for (const char* const name : {"x", "a", "b", "c", "d"}) {
    put(boost::vertex_name, named, made.size(), name);
    made.push_back(add_vertex(Neuron{name}, bundled));
  }
  for (const auto& [from, to] : edges)
    add_edge(made[static_cast<std::size_t>(from)], made[static_cast<std::size_t>(to)], bundled);
  CHECK(refused_import(named, numbered) == expected);
  CHECK(refused_import(bundled, [&](auto vertex) { return bundled[vertex].name; }) == expected);

  const Plain nameless = plain(edges, 5);
  const auto name = [](std::size_t vertex) { return std::string(1, "xabcd"[vertex]); };
  Graph graph;
  CHECK(refusal([&] {
          add_vertices(
              nameless,
              [&](auto vertex, std::vector<Edge> parents) {
                return graph.add(name(vertex), Bernoulli{}, std::move(parents));
              },
              [](const auto&) { return Pattern::dense(); }, name);
        }) == expected);
  CHECK(graph.node_count() == 0);
}

TEST_CASE("a cycle of a Boost graph without names is shown as a route of numbers") {
  constexpr const char* expected =
      "error[cycle]: node 'vertex 1': 2 nodes read each other in a circle, so none could be sampled first\n"
      "    vertex 1 → vertex 2 → vertex 1\n"
      "  help: leave out one of these edges, e.g. vertex 2 -> vertex 1";
  const Ends edges{{0, 1}, {1, 2}, {2, 1}};
  CHECK(refused_import(plain(edges, 3), numbered) == expected);
  const boost::compressed_sparse_row_graph<> compressed(boost::edges_are_unsorted_multi_pass, edges.begin(),
                                                        edges.end(), 3);
  CHECK(refused_import(compressed, numbered) == expected);
  CHECK(refused_import(Named(edges.begin(), edges.end(), 3), numbered) == expected);  // all names are empty
  const auto cell_name = [](Cell cell) { return std::to_string(cell.row) + std::to_string(cell.column); };
  CHECK(refused_import(LatticeModel{1, 3, {{{0, 2}, {0, 1}}}}, cell_name) == expected);
}

TEST_CASE("an edge of a Boost graph from a vertex to itself is refused before its cycles are") {
  CHECK(refused_import(plain({{0, 1}, {1, 0}, {2, 2}}, 3), numbered) ==
        "error[self-loop]: node 'vertex 2': it is its own parent; a graph without cycles has no such edge\n"
        "  help: leave out vertex 2 -> vertex 2");
}

// Vertex 0 could be made before the parallel edges are come to; refused_import checks that it was not.
TEST_CASE("parallel edges of a Boost graph are refused before the first node is made") {
  constexpr const char* expected =
      "error[duplicate-parent]: node 'vertex 3': 3 edges lead to it from 'vertex 1'; one edge joins two "
      "nodes\n"
      "  help: list each edge once; Pattern::pairs joins any set of units";
  const Ends edges{{0, 1}, {1, 3}, {0, 2}, {1, 3}, {2, 3}, {1, 3}};
  CHECK(refused_import(plain(edges, 4), numbered) == expected);
  CHECK(refused_import(Named(edges.begin(), edges.end(), 4), numbered) == expected);
  const boost::compressed_sparse_row_graph<> compressed(boost::edges_are_unsorted_multi_pass, edges.begin(),
                                                        edges.end(), 4);
  CHECK(refused_import(compressed, numbered) == expected);
}

TEST_CASE("two edges of a Boost graph between the same vertices are told by their names") {
  const Ends edges{{0, 1}, {0, 1}};
  Named named(edges.begin(), edges.end(), 2);
  put(boost::vertex_name, named, 0, "x");
  put(boost::vertex_name, named, 1, "a");
  CHECK(refused_import(named, numbered) ==
        "error[duplicate-parent]: node 'a': 2 edges lead to it from 'x'; one edge joins two nodes\n"
        "  help: list each edge once; Pattern::pairs joins any set of units");
}

// Parents that two children share are no parallel edges, in whichever order the children come.
TEST_CASE("several children of one vertex of a Boost graph are not refused") {
  Graph graph;
  add_vertices(plain({{2, 0}, {2, 1}, {0, 1}}, 3), [&](auto vertex, std::vector<Edge> parents) {
    return graph.add(numbered(vertex), Bernoulli{}, std::move(parents));
  });
  CHECK(graph.edge_count() == 3);
}

TEST_CASE("a vertex that became no node is refused where another reads it") {
  Named network(2);
  add_edge(0, 1, network);
  put(boost::vertex_name, network, 0, "a");
  put(boost::vertex_name, network, 1, "b");
  Graph graph;
  CHECK(refusal([&] {
          add_vertices(network, [&](auto vertex, std::vector<Edge> parents) {
            return vertex == 0 ? NodeId{} : graph.add("b", Bernoulli{}, std::move(parents));
          });
        }) ==
        "error[unknown-parent]: node 'a': make_node returned NodeId{}, so it became no node, and 'b' reads "
        "it\n"
        "  help: make a node of a, or leave out a -> b");
  CHECK(graph.node_count() == 0);
}

TEST_CASE("an empty name of a vertex is refused with the vertex") {
  const auto empty = [](auto) { return std::string(); };
  CHECK(
      refused_import(plain({{1, 0}}, 2), empty) ==
      "error[empty-name]: node 'vertex 1': a node or reward has an empty name; reports and parameters could "
      "not refer to it\n"
      "  help: graph.add(\"hidden\", …)");
  Named named(1);
  put(boost::vertex_name, named, 0, "a");
  CHECK(refused_import(named, empty).starts_with("error[empty-name]: node 'a': a node or reward has"));
}

TEST_CASE("what a vertex's node or the pattern of its edges is refused for is told with the vertex's name") {
  const Plain network = plain({{0, 1}}, 2);
  Graph graph;
  const auto make = [&](auto vertex, std::vector<Edge> parents) {
    return graph.add(numbered(vertex), Bernoulli{}, std::move(parents));
  };
  CHECK(refusal([&] {
          add_vertices(network, make, [](const auto&) -> Pattern {
            refuse({.code = "pattern", .message = "no wiring is known", .help = {}});
          });
        }) == "error[pattern]: node 'vertex 1': no wiring is known");
  // What names its node keeps that name, and what is not ours passes as it is.
  Graph units;
  CHECK(refusal([&] {
          add_vertices(network, [&](auto, std::vector<Edge>) { return units.input("x", 0); });
        }).starts_with("error[zero-units]: node 'x': "));
  CHECK_THROWS_AS(
      add_vertices(network, [](auto, std::vector<Edge>) -> NodeId { throw std::runtime_error("full"); }),
      std::runtime_error);
}

TEST_CASE("an edge to a vertex that the network does not list is refused") {
  const auto cell_name = [](Cell cell) { return std::to_string(cell.row) + std::to_string(cell.column); };
  CHECK(
      refused_import(LatticeModel{1, 2, {{{0, 1}, {5, 5}}}}, cell_name) ==
      "error[unlisted-vertex]: an edge joins 'vertex 1' to a vertex that vertices(network) does not list; no "
      "node could be made of it\n"
      "  help: list every vertex, or leave the edge out: boost::filtered_graph does");
}

TEST_CASE("a network with more vertices than a graph can number is refused before they are listed") {
  CHECK(
      refused_import(LatticeModel{65536, 32768}, [](Cell) { return std::string(); }) ==
      "error[too-many-units]: the network has 2147483648 vertices, each of at least one unit; 2147483647 is "
      "the most\n"
      "  help: split the model into several graphs");
}

TEST_CASE("an edge that the graph does not have tells nothing of its wiring") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  CHECK(refusal([&] {
          get(edge_wiring, graph, EdgeId{a, x});
        }) ==
        "error[unknown-edge]: node 'x': 'a' is none of its parents\n"
        "  help: edge(parent, child, graph).second   // tells whether there is such an edge");
  CHECK(refusal([&] {
          get(edge_wiring, graph, EdgeId{});
        }).starts_with("error[unknown-node]: node number -1 does not exist"));
}
