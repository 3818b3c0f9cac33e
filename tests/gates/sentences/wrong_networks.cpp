// None of these calls may compile. Each must say why in one sentence, and nothing else.
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>

#include <hindsight/graph/boost.hpp>

using namespace hindsight;

/// What tells its vertices apart is neither ordered nor hashed.
struct Unordered {
  struct Vertex {
    int number;
    bool operator==(const Vertex&) const;
  };
};

template <>
struct boost::graph_traits<Unordered> {
  using vertex_descriptor = Unordered::Vertex;
  using edge_descriptor = std::pair<Unordered::Vertex, Unordered::Vertex>;
  struct traversal_category : boost::vertex_list_graph_tag, boost::incidence_graph_tag {};
  using directed_category = boost::directed_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
};

const auto nothing = [](const auto&, std::vector<Edge>) { return NodeId{}; };
using Undirected = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

// clang-format off
// error: hindsight: an undirected edge has no parent and no child; give each edge a direction first
void undirected(const Undirected& network) { add_vertices(network, nothing); }
// error: hindsight: vertices could not be looked up; give the vertex descriptor an operator< or a std::hash
void unordered(const Unordered& network) { add_vertices(network, nothing); }
// error: hindsight: one level takes as long as all; write const auto level = get(vertex_level, graph); and then level[node]
int level_of_one(const Graph& graph, NodeId node) { return get(vertex_level, graph, node); }
