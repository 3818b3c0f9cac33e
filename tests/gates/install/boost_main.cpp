// What a project that has Boost does besides: its own network becomes a graph, and Boost's algorithms run on
// that.
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include <hindsight/graph/boost.hpp>
#include <hindsight/hindsight.hpp>

using namespace hindsight;

//  0 ─→ 2 ─→ 1
int main() {
  boost::adjacency_list<> network(3);
  add_edge(0, 2, network);
  add_edge(2, 1, network);
  Graph graph;
  add_vertices(network, [&](auto vertex, std::vector<Edge> parents) {
    return graph.add("n" + std::to_string(vertex), Bernoulli{}, std::move(parents));
  });
  std::vector<NodeId> backwards;
  boost::topological_sort(graph, std::back_inserter(backwards));
  for (const NodeId node : backwards) fmt::print("{} ", get(boost::vertex_name, graph, node));
  fmt::print("\n");
}
