#pragma once

/// What Boost.Graph's algorithms may ask of a graph's nodes and edges: get(tag, graph) is a property map, and
/// get(tag, graph, node) one value. Boost's own tags vertex_index and vertex_name are understood, so that
/// algorithms number vertices by themselves; those below are ours. All of them can only be read.

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/graph/properties.hpp>

#include <hindsight/core/ids.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/core/shape.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight {

struct VertexKind {
  using kind = boost::vertex_property_tag;
};
struct VertexUnits {
  using kind = boost::vertex_property_tag;
};
struct VertexRole {
  using kind = boost::vertex_property_tag;
};
struct VertexLevel {
  using kind = boost::vertex_property_tag;
};
struct EdgeWiring {
  using kind = boost::edge_property_tag;
};
/// "input", or what the node's type says of itself.
inline constexpr VertexKind vertex_kind;
/// How many units the node has.
inline constexpr VertexUnits vertex_units;
inline constexpr VertexRole vertex_role;
/// The number of edges on the longest route that ends at the node. get(vertex_level, graph) computes those of
/// all nodes, in time linear in the edges; the map is of the graph as it was then. One node's level cannot be
/// asked for by itself, since that would take as long.
inline constexpr VertexLevel vertex_level;
/// A const Connectivity*; null: dense. Constant time for edges from edges and in_edges; linear in the number
/// of the child's parents for edges from out_edges.
inline constexpr EdgeWiring edge_wiring;

/// The edge as the graph holds it. Constant time for ids from edges and in_edges, which know their position;
/// linear in the number of the child's parents for others.
inline const Graph::Parent& as_listed(const EdgeId& edge, const Graph& graph) {
  const std::span<const Graph::Parent> parents = graph.parents(edge.child);
  if (edge.position >= 0 && static_cast<std::size_t>(edge.position) < parents.size() &&
      parents[static_cast<std::size_t>(edge.position)].node == edge.parent)
    return parents[static_cast<std::size_t>(edge.position)];
  for (const Graph::Parent& parent : parents)
    if (parent.node == edge.parent) return parent;
  refuse({.code = "unknown-edge",
          .node = graph.name(edge.child),
          .message = fmt::format("'{}' is none of its parents", graph.name(edge.parent)),
          .help = {"edge(parent, child, graph).second   // tells whether there is such an edge"}});
}

namespace internal {

inline const std::string& read(boost::vertex_name_t, const Graph& graph, NodeId node) {
  return graph.name(node);
}
inline std::string_view read(VertexKind, const Graph& graph, NodeId node) { return graph.kind(node); }
inline int read(VertexUnits, const Graph& graph, NodeId node) { return graph.shape(node).units; }
inline Role read(VertexRole, const Graph& graph, NodeId node) { return graph.role(node); }
inline const Connectivity* read(EdgeWiring, const Graph& graph, const EdgeId& edge) {
  return as_listed(edge, graph).connectivity;
}
/// What copy_graph copies where the other graph has no properties to be copied to.
inline boost::no_property read(boost::vertex_all_t, const Graph&, NodeId) { return {}; }
inline boost::no_property read(boost::edge_all_t, const Graph&, const EdgeId&) { return {}; }

template <class Tag>
using KeyOf =
    std::conditional_t<std::same_as<typename boost::property_kind<Tag>::type, boost::edge_property_tag>,
                       EdgeId, NodeId>;

/// What `read` says of each node or edge. Refers to the graph.
template <class Tag>
class PropertyMap {
 public:
  using key_type = KeyOf<Tag>;
  using reference = decltype(read(Tag(), std::declval<const Graph&>(), key_type()));
  using value_type = std::remove_cvref_t<reference>;
  using category = boost::readable_property_map_tag;

  PropertyMap() = default;
  explicit PropertyMap(const Graph& graph) : graph_(&graph) {}

  reference operator[](const key_type& key) const { return read(Tag(), *graph_, key); }
  friend reference get(const PropertyMap& map, const key_type& key) { return map[key]; }

 private:
  const Graph* graph_ = nullptr;
};

/// Needs no graph: a node is its number.
template <>
class PropertyMap<boost::vertex_index_t> {
 public:
  using key_type = NodeId;
  using value_type = std::size_t;
  using reference = std::size_t;
  using category = boost::readable_property_map_tag;

  PropertyMap() = default;
  explicit PropertyMap(const Graph&) {}

  std::size_t operator[](NodeId node) const { return static_cast<std::size_t>(node.index); }
  friend std::size_t get(const PropertyMap& map, NodeId node) { return map[node]; }
};

/// Copies share what was worked out when the first was made.
template <>
class PropertyMap<VertexLevel> {
 public:
  using key_type = NodeId;
  using value_type = int;
  using reference = int;
  using category = boost::readable_property_map_tag;

  PropertyMap() = default;
  explicit PropertyMap(const Graph& graph)
      : levels_(std::make_shared<const std::vector<int>>(levels(graph))) {}

  int operator[](NodeId node) const { return (*levels_)[static_cast<std::size_t>(node.index)]; }
  friend int get(const PropertyMap& map, NodeId node) { return map[node]; }

 private:
  std::shared_ptr<const std::vector<int>> levels_;
};

template <class Tag>
concept PropertyTag = std::same_as<Tag, boost::vertex_index_t> || std::same_as<Tag, VertexLevel> ||
    requires(const Graph& graph, const KeyOf<Tag>& key) {
  read(Tag(), graph, key);
};

}  // namespace internal

template <internal::PropertyTag Tag>
internal::PropertyMap<Tag> get(Tag, const Graph& graph) {
  return internal::PropertyMap<Tag>(graph);
}
template <internal::PropertyTag Tag>
decltype(auto) get(Tag tag, const Graph& graph, const internal::KeyOf<Tag>& key) {
  static_assert(
      !std::same_as<Tag, VertexLevel>,
      "hindsight: one level takes as long as all; write const auto level = get(vertex_level, graph); "
      "and then level[node]");
  return get(tag, graph)[key];
}

}  // namespace hindsight

template <hindsight::internal::PropertyTag Tag>
struct boost::property_map<hindsight::Graph, Tag> {
  using type = hindsight::internal::PropertyMap<Tag>;
  using const_type = type;
};

/// None that could be changed, or copied as a whole.
template <>
struct boost::vertex_property_type<hindsight::Graph> {
  using type = boost::no_property;
};
template <>
struct boost::edge_property_type<hindsight::Graph> {
  using type = boost::no_property;
};
template <>
struct boost::graph_property_type<hindsight::Graph> {
  using type = boost::no_property;
};
