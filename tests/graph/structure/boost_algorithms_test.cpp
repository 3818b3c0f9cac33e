// Boost's algorithms run on a hindsight::Graph, beside what the library or brute force says of the same
// graph.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/betweenness_centrality.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/copy.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/graph/isomorphism.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <boost/graph/transitive_reduction.hpp>
#include <boost/range/iterator_range.hpp>

#include <hindsight/graph/boost.hpp>

#include "support/random_dags.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

using internal::index;

constexpr int unreachable = std::numeric_limits<int>::max();

/// Half of them sparse, half of them full of routes.
Graph dag(std::uint64_t seed, int nodes = 14) {
  return random_dag_with_shuffled_parents(seed, nodes, seed % 2 == 0 ? 0.15 : 0.45);
}

/// The number of edges on the shortest route from one node to each, with one node left out if there is one.
std::vector<int> distances_from(const Graph& graph, NodeId from, NodeId without = {}) {
  std::vector<int> distance(graph.nodes().size(), unreachable);
  distance[index(from)] = 0;
  for (const NodeId child : graph.nodes())  // order of addition is a topological order
    for (const Graph::Parent& parent : graph.parents(child))
      if (child != from && child != without && parent.node != without &&
          distance[index(parent.node)] != unreachable)
        distance[index(child)] = std::min(distance[index(child)], distance[index(parent.node)] + 1);
  return distance;
}

/// Whether every edge leads from an earlier to a later node of the list, and every node is in it.
bool is_topological(const Graph& graph, const std::vector<NodeId>& order) {
  std::vector<int> place(graph.nodes().size(), -1);
  for (std::size_t i = 0; i < order.size(); ++i) place[index(order[i])] = static_cast<int>(i);
  return order.size() == graph.nodes().size() && std::count(place.begin(), place.end(), -1) == 0 &&
         std::ranges::all_of(listed_edges(graph), [&](const auto& edge) {
           return place[index(edge.first)] < place[index(edge.second)];
         });
}

/// A map from nodes to values that lie in a vector.
template <class T>
auto by_node(std::vector<T>& values, const Graph& graph) {
  return boost::make_iterator_property_map(values.begin(), get(boost::vertex_index, graph));
}

struct DepthFirstRecord : boost::default_dfs_visitor {
  std::vector<NodeId>* finished = nullptr;
  int* back_edges = nullptr;
  void finish_vertex(NodeId node, const Graph&) const { finished->push_back(node); }
  void back_edge(const EdgeId&, const Graph&) const { ++*back_edges; }
};

/// Per node the last of those that every route from the entry to it passes; none where no route leads. All
/// maps are given: the short form of Boost 1.74 takes nodes that the entry does not reach for the entry
/// itself.
std::vector<NodeId> dominators(const Graph& graph, NodeId entry) {
  std::vector<NodeId> dominator(num_vertices(graph)), predecessor = dominator, by_time = dominator;
  std::vector<std::size_t> time(num_vertices(graph), std::numeric_limits<std::size_t>::max());
  boost::lengauer_tarjan_dominator_tree(graph, entry, get(boost::vertex_index, graph), by_node(time, graph),
                                        by_node(predecessor, graph), by_time, by_node(dominator, graph));
  return dominator;
}

/// Per node: the share of shortest routes between all pairs of others that pass it, every route written out.
std::vector<double> betweenness_by_routes(const Graph& graph) {
  std::vector<double> between(graph.nodes().size(), 0.0);
  for (const NodeId from : graph.nodes())
    for (const NodeId to : graph.nodes()) {
      std::vector<std::vector<NodeId>> shortest;
      std::vector<NodeId> route{from};
      const std::function<void()> go_on = [&] {
        if (route.back() == to) {
          if (!shortest.empty() && route.size() < shortest.front().size()) shortest.clear();
          if (shortest.empty() || route.size() == shortest.front().size()) shortest.push_back(route);
          return;
        }
        for (const NodeId child : graph.children(route.back())) {
          route.push_back(child);
          go_on();
          route.pop_back();
        }
      };
      if (from != to) go_on();
      for (const auto& found : shortest)
        for (std::size_t i = 1; i + 1 < found.size(); ++i)
          between[index(found[i])] += 1.0 / static_cast<double>(shortest.size());
    }
  return between;
}

/// The same nodes and edges, added in another order that is a topological one, parents listed in another
/// order.
Graph added_otherwise(const Graph& graph, std::uint64_t seed) {
  Dice dice(seed);
  Graph other;
  std::map<NodeId, NodeId> copies;
  while (copies.size() < graph.nodes().size()) {
    std::vector<NodeId> ready;
    for (const NodeId node : graph.nodes())
      if (!copies.contains(node) &&
          std::ranges::all_of(graph.parents(node),
                              [&](const Graph::Parent& parent) { return copies.contains(parent.node); }))
        ready.push_back(node);
    const NodeId node = ready[static_cast<std::size_t>(dice.below(static_cast<int>(ready.size())))];
    std::vector<Edge> parents;
    for (const Graph::Parent& parent : graph.parents(node)) parents.emplace_back(copies.at(parent.node));
    shuffle(parents, dice);
    copies[node] = other.add("copy of " + graph.name(node), Bernoulli{}, std::move(parents));
  }
  return other;
}

}  // namespace

TEST_CASE("Boost's topological sort puts parents before children") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const Graph graph = dag(seed);
    std::vector<NodeId> backwards;
    boost::topological_sort(graph, std::back_inserter(backwards));
    CHECK(is_topological(graph, {backwards.rbegin(), backwards.rend()}));
  }
}

TEST_CASE("Boost's breadth-first search measures the distances there are") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph graph = dag(seed);
    for (const NodeId from : graph.nodes()) {
      CAPTURE(seed);
      std::vector<int> distance(num_vertices(graph), unreachable);
      distance[index(from)] = 0;
      boost::breadth_first_search(graph, from,
                                  boost::visitor(boost::make_bfs_visitor(boost::record_distances(
                                      by_node(distance, graph), boost::on_tree_edge()))));
      CHECK(distance == distances_from(graph, from));
    }
  }
}

TEST_CASE("Boost's depth-first search finishes children first and finds no way back") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const Graph graph = dag(seed);
    std::vector<NodeId> finished;
    int back_edges = 0;
    DepthFirstRecord record;
    record.finished = &finished;
    record.back_edges = &back_edges;
    boost::depth_first_search(graph, boost::visitor(record));
    CHECK(is_topological(graph, {finished.rbegin(), finished.rend()}));
    CHECK(back_edges == 0);
  }
}

TEST_CASE("Boost's dominators are the nodes without which there is no route") {
  int dominated = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph graph = dag(seed);
    const NodeId entry = *graph.nodes().begin();
    const std::vector<NodeId> dominator = dominators(graph, entry);
    for (const NodeId node : graph.nodes()) {
      CAPTURE(seed);
      CAPTURE(node.index);
      std::set<NodeId> expected, found;
      const bool reached = distances_from(graph, entry)[index(node)] != unreachable;
      for (const NodeId other : graph.nodes())
        if (reached && node != entry && other != node && other != entry &&
            distances_from(graph, entry, other)[index(node)] == unreachable)
          expected.insert(other);
      for (NodeId at = dominator[index(node)]; at != NodeId{} && at != entry; at = dominator[index(at)])
        found.insert(at);
      CHECK(found == expected);
      CHECK((dominator[index(node)] != NodeId{}) == (reached && node != entry));
      dominated += static_cast<int>(expected.size());
    }
  }
  CHECK(dominated > 50);
}

TEST_CASE("Boost's betweenness is the share of shortest routes that pass a node") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Graph graph = dag(seed, 11);
    std::vector<double> between(num_vertices(graph));
    boost::brandes_betweenness_centrality(graph, by_node(between, graph));
    const std::vector<double> expected = betweenness_by_routes(graph);
    for (const NodeId node : graph.nodes())
      CHECK(between[index(node)] == doctest::Approx(expected[index(node)]).epsilon(1e-12));
  }
}

TEST_CASE("Boost finds every node of a graph strongly connected to itself alone") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Graph graph = dag(seed);
    std::vector<int> component(num_vertices(graph));
    CHECK(boost::strong_components(graph, by_node(component, graph)) == graph.node_count());
    CHECK(std::set<int>(component.begin(), component.end()).size() == num_vertices(graph));
  }
}

TEST_CASE("Boost reduces a graph of single units to the edges that reduce keeps") {
  std::size_t dropped = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    Graph graph;
    for (int i = 0; i < 14; ++i) {
      std::vector<Edge> parents;
      for (const NodeId parent : graph.nodes())
        if (dice.chance(0.3)) parents.emplace_back(parent);
      graph.add("n" + std::to_string(i), Bernoulli{}, std::move(parents));
    }
    // Boost 1.74 asks the graph itself for an out_edge_iterator, which adaptors have and ours has not.
    const boost::filtered_graph<Graph, boost::keep_all> filtered(graph, boost::keep_all());
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> reduced;
    std::vector<std::size_t> vertex_of(num_vertices(graph));
    boost::transitive_reduction(filtered, reduced, by_node(vertex_of, graph),
                                get(boost::vertex_index, graph));
    const Graph ours = reduce(graph, InputPolicy::checked).graph;
    for (const NodeId parent : graph.nodes())
      for (const NodeId child : graph.nodes())
        CHECK(boost::edge(vertex_of[index(parent)], vertex_of[index(child)], reduced).second ==
              edge(parent, child, ours).second);
    dropped += num_edges(graph) - num_edges(ours);
  }
  CHECK(dropped > 300);
}

TEST_CASE("Boost finds a graph again that was added in another order") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const Graph graph = dag(seed, 10), other = added_otherwise(graph, seed + 100);
    std::vector<NodeId> image(num_vertices(graph));
    REQUIRE(boost::isomorphism(graph, other, boost::isomorphism_map(by_node(image, graph))));
    std::set<NodeId> images;
    std::size_t joined = 0;
    for (const auto& [parent, child] : listed_edges(graph))
      CHECK(edge(image[index(parent)], image[index(child)], other).second);
    for (const NodeId node : graph.nodes())
      if (degree(node, graph) > 0) {  // Boost maps only those
        images.insert(image[index(node)]);
        ++joined;
      }
    CHECK(images.size() == joined);
  }
}

TEST_CASE("Boost tells graphs apart that have the same numbers of parents and children") {
  // a ─→ b ─→ c ─→ d,  e ─→ f      and      a ─→ b ─→ c,  d ─→ e ─→ f
  const auto chains = [](const std::vector<int>& lengths) {
    Graph graph;
    for (const int length : lengths)
      for (int i = 0; i < length; ++i)
        graph.add(std::string(1, static_cast<char>('a' + graph.node_count())), Bernoulli{},
                  i == 0 ? std::vector<Edge>{} : std::vector<Edge>{NodeId{graph.node_count() - 1}});
    return graph;
  };
  CHECK_FALSE(boost::isomorphism(chains({4, 2}), chains({3, 3})));
  CHECK(boost::isomorphism(chains({4, 2}), chains({2, 4})));
}

TEST_CASE("a filtered graph has the stochastic nodes and the edges between them") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const Graph graph = dag(seed);
    const std::function<bool(NodeId)> wanted = [&](NodeId node) { return graph.is_stochastic(node); };
    const boost::filtered_graph<Graph, boost::keep_all, std::function<bool(NodeId)>> stochastic(
        graph, boost::keep_all(), wanted);
    std::vector<NodeId> expected_nodes, nodes;
    for (const NodeId node : graph.nodes())
      if (wanted(node)) expected_nodes.push_back(node);
    for (const NodeId node : boost::make_iterator_range(vertices(stochastic))) nodes.push_back(node);
    CHECK(nodes == expected_nodes);

    std::vector<std::pair<NodeId, NodeId>> expected_edges = listed_edges(graph), found;
    std::erase_if(expected_edges,
                  [&](const auto& edge) { return !wanted(edge.first) || !wanted(edge.second); });
    for (const EdgeId& edge : boost::make_iterator_range(edges(stochastic)))
      found.emplace_back(source(edge, stochastic), target(edge, stochastic));
    CHECK(found == expected_edges);

    std::vector<NodeId> backwards;
    boost::topological_sort(stochastic, std::back_inserter(backwards));
    CHECK(std::set<NodeId>(backwards.begin(), backwards.end()) ==
          std::set<NodeId>(expected_nodes.begin(), expected_nodes.end()));
  }
}

TEST_CASE("a reversed graph leads from children to parents") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const Graph graph = dag(seed);
    const auto reversed = boost::make_reverse_graph(graph);
    for (const NodeId node : graph.nodes()) {
      std::vector<NodeId> parents, expected;
      for (const auto& edge : boost::make_iterator_range(out_edges(node, reversed)))
        parents.push_back(target(edge, reversed));
      for (const Graph::Parent& parent : graph.parents(node)) expected.push_back(parent.node);
      CHECK(parents == expected);
    }
    std::vector<NodeId> order;
    boost::topological_sort(reversed, std::back_inserter(order));
    CHECK(is_topological(graph, order));
  }
}

TEST_CASE("a copy in a graph of Boost's has the same vertices and edges") {
  using Copy = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  using NamedCopy = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, std::string>;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const Graph graph = dag(seed);
    Copy copy;
    boost::copy_graph(graph, copy);
    NamedCopy named;
    boost::copy_graph(graph, named,
                      boost::vertex_copy([&](NodeId from, std::size_t to) { named[to] = graph.name(from); }));
    std::set<std::pair<NodeId, NodeId>> found;
    for (const auto& edge : boost::make_iterator_range(edges(copy)))
      found.emplace(vertex(source(edge, copy), graph), vertex(target(edge, copy), graph));
    const auto expected = listed_edges(graph);
    CHECK(found == std::set<std::pair<NodeId, NodeId>>(expected.begin(), expected.end()));
    CHECK(num_vertices(copy) == num_vertices(graph));
    CHECK(num_edges(named) == num_edges(graph));
    for (const NodeId node : graph.nodes()) CHECK(named[index(node)] == graph.name(node));
  }
}

TEST_CASE("what Boost writes for Graphviz is read back as the same nodes and edges in the same order") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const Graph graph = dag(seed);
    std::ostringstream text;
    boost::write_graphviz(text, graph, boost::make_label_writer(get(vertex_kind, graph)),
                          boost::default_writer(), boost::default_writer(), get(boost::vertex_name, graph));
    const Graph read = parse_graph(text.str(), GraphFormat::dot);
    REQUIRE(read.node_count() == graph.node_count());
    // Nodes come as far as parents allow in the order of the file, which is that of the graph.
    for (const NodeId node : graph.nodes()) CHECK(read.name(node) == graph.name(node));
    CHECK(listed_edges(read) == listed_edges(graph));
  }
}
