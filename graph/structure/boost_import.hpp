#pragma once

/// From any graph of Boost.Graph's, or a model of its concepts, to nodes of a hindsight::Graph.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>

#include <hindsight/core/ids.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/core/shape.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight {
namespace internal {

using VertexName = std::function<std::string(std::uint32_t)>;

/// In which order vertices can be added: parents first, and of those that may come next the lowest number.
/// The parents of vertex v begin at parents[begin[v]]. Refuses edges from a vertex to itself, parallel edges
/// and cycles.
std::vector<std::uint32_t> order_vertices(std::span<const std::size_t> begin,
                                          std::span<const std::uint32_t> parents, const VertexName& name_of);
[[noreturn]] void refuse_unlisted_vertex(const std::string& neighbour);
void check_vertex_count(std::size_t count);
[[noreturn]] void refuse_missing_parent(const std::string& parent, const std::string& child);
/// Throws it anew with the vertex's name if it names no node; else does nothing.
void refuse_with_name(const Error& refusal, const std::string& vertex);

template <class Vertex>
concept HashedVertex = std::is_default_constructible_v<std::hash<Vertex>>;
template <class Vertex>
concept FoundVertex = HashedVertex<Vertex> || requires(const Vertex& a, const Vertex& b) {
  a < b;
};

/// The position of each vertex among vertices(network).
template <FoundVertex Vertex>
class VertexNumbers {
 public:
  static constexpr std::uint32_t unlisted = static_cast<std::uint32_t>(-1);

  explicit VertexNumbers(std::span<const Vertex> listed) : count_(listed.size()) {
    std::uint32_t number = 0;
    if constexpr (std::integral<Vertex>) {
      while (number < listed.size() && std::cmp_equal(listed[number], number)) ++number;
      if (number == listed.size()) return;
      number = 0;
    }
    for (const Vertex& vertex : listed) numbers_.emplace(vertex, number++);
  }

  std::uint32_t operator()(const Vertex& vertex) const {
    if constexpr (std::integral<Vertex>)
      if (numbers_.empty())
        return std::cmp_less(vertex, count_) ? static_cast<std::uint32_t>(vertex) : unlisted;
    const auto found = numbers_.find(vertex);
    return found == numbers_.end() ? unlisted : found->second;
  }

 private:
  std::size_t count_;
  /// Empty: every vertex is its own number.
  std::conditional_t<HashedVertex<Vertex>, std::unordered_map<Vertex, std::uint32_t>,
                     std::map<Vertex, std::uint32_t>>
      numbers_;
};

/// Per vertex its parents, by number, and the edges they came by.
template <class Network>
struct NumberedEdges {
  std::vector<std::size_t> begin;  ///< per vertex, and one more
  std::vector<std::uint32_t> parents;
  std::vector<typename boost::graph_traits<Network>::edge_descriptor> edges;
};

template <class Network, class Vertex>
NumberedEdges<Network> number_edges(const Network& network, const std::vector<Vertex>& listed,
                                    const VertexName& name_of) {
  const VertexNumbers<Vertex> numbers(listed);
  const auto number = [&](const Vertex& vertex, std::uint32_t neighbour) {
    const std::uint32_t found = numbers(vertex);
    if (found == numbers.unlisted) refuse_unlisted_vertex(name_of(neighbour));
    return found;
  };
  struct Found {
    std::uint32_t parent, child;
    typename boost::graph_traits<Network>::edge_descriptor edge;
  };
  std::vector<Found> found;
  for (std::uint32_t here = 0; here < listed.size(); ++here)
    if constexpr (boost::is_bidirectional_graph<Network>::value)
      for (auto [at, end] = in_edges(listed[here], network); at != end; ++at)
        found.push_back({number(source(*at, network), here), here, *at});
    else
      for (auto [at, end] = out_edges(listed[here], network); at != end; ++at)
        found.push_back({here, number(target(*at, network), here), *at});

  NumberedEdges<Network> by_child;
  by_child.begin.assign(listed.size() + 1, 0);
  by_child.parents.resize(found.size());
  by_child.edges.resize(found.size());
  for (const Found& edge : found) ++by_child.begin[edge.child + 1];
  for (std::size_t i = 1; i < by_child.begin.size(); ++i) by_child.begin[i] += by_child.begin[i - 1];
  std::vector<std::size_t> next = by_child.begin;
  for (const Found& edge : found) {
    const std::size_t position = next[edge.child]++;
    by_child.parents[position] = edge.parent;
    by_child.edges[position] = edge.edge;
  }
  return by_child;
}

/// Whether the network is one of Boost's that has names. Nothing else may be asked for its properties: the
/// question whether it has any does not compile.
template <class Network>
constexpr bool has_vertex_names() {
  if constexpr (requires { typename Network::vertex_property_type; })
    return boost::lookup_one_property<typename Network::vertex_property_type, boost::vertex_name_t>::found;
  return false;
}

/// What the network itself calls the vertex; empty: nothing.
template <class Network, class Vertex>
std::string name_in_network(const Network& network, const Vertex& vertex) {
  if constexpr (has_vertex_names<Network>())
    return std::string(get(boost::vertex_name, network, vertex));
  else if constexpr (requires { std::string(network[vertex].name); })
    return std::string(network[vertex].name);
  else
    return {};
}

template <class Network, class MakeNode, class MakePattern, class NameOf>
std::vector<NodeId> import_vertices(const Network& network, MakeNode& make_node, MakePattern& make_pattern,
                                    NameOf& name_of) {
  check_vertex_count(num_vertices(network));
  std::vector<typename boost::graph_traits<Network>::vertex_descriptor> listed;
  for (auto [at, end] = vertices(network); at != end; ++at) listed.push_back(*at);
  const auto shown_name = [&](std::uint32_t number) {
    const std::string name = name_of(listed[number]);
    return name.empty() ? "vertex " + std::to_string(number) : name;
  };
  const NumberedEdges<Network> numbered = number_edges(network, listed, shown_name);
  std::vector<NodeId> nodes(listed.size());
  for (const std::uint32_t child : order_vertices(numbered.begin, numbered.parents, shown_name)) try {
      std::vector<Edge> parents;
      parents.reserve(numbered.begin[child + 1] - numbered.begin[child]);
      for (std::size_t e = numbered.begin[child]; e < numbered.begin[child + 1]; ++e) {
        const NodeId parent = nodes[numbered.parents[e]];
        if (parent == NodeId{}) refuse_missing_parent(shown_name(numbered.parents[e]), shown_name(child));
        parents.emplace_back(parent, make_pattern(numbered.edges[e]));
      }
      nodes[child] = make_node(listed[child], std::move(parents));
    } catch (const Error& refusal) {
      refuse_with_name(refusal, shown_name(child));
      throw;
    }
  return nodes;
}

}  // namespace internal

template <class Make, class Network>
concept MakesNode = requires(Make& make, typename boost::graph_traits<Network>::vertex_descriptor vertex,
                             std::vector<Edge> parents) {
  { make(vertex, std::move(parents)) } -> std::convertible_to<NodeId>;
};

template <class Make, class Network>
concept MakesPattern = requires(Make& make, typename boost::graph_traits<Network>::edge_descriptor edge) {
  { make(edge) } -> std::convertible_to<Pattern>;
};

template <class Name, class Network>
concept NamesVertex = requires(Name& name, typename boost::graph_traits<Network>::vertex_descriptor vertex) {
  { name(vertex) } -> std::convertible_to<std::string>;
};

/// Makes a node of every vertex of a directed graph: a VertexListGraph that is an IncidenceGraph, too.
/// `make_node(vertex, parents)` adds one and returns it, or NodeId{} if the vertex, which no other reads,
/// becomes no node but a reward, say; `make_pattern(edge)` says how an edge is wired.
///
/// Parents are made before their children, and of all vertices that may come next the first in
/// vertices(network). A node's parents come in the order of in_edges; where the network has no in_edges, in
/// the order in which out_edges yields them, vertex after vertex. Returns the nodes in the order of
/// vertices(network): where vertices are numbers from 0, nodes[vertex] is its node.
///
/// An edge from a vertex to itself, parallel edges and a cycle are refused before the first node is made;
/// `name_of(vertex)` tells whose they are. What the functions refuse, names that will not do among it, leaves
/// the nodes that were made until then, and is told with the vertex's name where it names no node.
template <class Network, MakesNode<Network> MakeNode, MakesPattern<Network> MakePattern,
          NamesVertex<Network> NameOf>
std::vector<NodeId> add_vertices(const Network& network, MakeNode&& make_node, MakePattern&& make_pattern,
                                 NameOf&& name_of) {
  constexpr bool is_directed = boost::is_directed_graph<Network>::value,
                 is_found = internal::FoundVertex<typename boost::graph_traits<Network>::vertex_descriptor>;
  static_assert(is_directed,
                "hindsight: an undirected edge has no parent and no child; give each edge a direction first");
  static_assert(is_found,
                "hindsight: vertices could not be looked up; give the vertex descriptor an operator< or a "
                "std::hash");
  if constexpr (is_directed && is_found)
    return internal::import_vertices(network, make_node, make_pattern, name_of);
  else
    return {};  // the sentences above are the only errors
}

/// Vertices are told by their internal property vertex_name or by the member `name` of their bundle; failing
/// both, by their number in vertices(network).
template <class Network, MakesNode<Network> MakeNode, MakesPattern<Network> MakePattern>
std::vector<NodeId> add_vertices(const Network& network, MakeNode&& make_node, MakePattern&& make_pattern) {
  return add_vertices(network, make_node, make_pattern,
                      [&](const auto& vertex) { return internal::name_in_network(network, vertex); });
}

/// All edges are dense.
template <class Network, MakesNode<Network> MakeNode>
std::vector<NodeId> add_vertices(const Network& network, MakeNode&& make_node) {
  return add_vertices(network, make_node, [](const auto&) { return Pattern::dense(); });
}

}  // namespace hindsight
