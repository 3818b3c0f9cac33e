#include <hindsight/graph/contraction.hpp>

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/breadth_first.hpp>
#include <hindsight/graph/reachability.hpp>

namespace hindsight::internal {
namespace {

/// Between the ends of a route all nodes are deterministic.
template <class Arrived>
struct MayLieOnRoute {
  const std::vector<char>* transparent = nullptr;
  const Arrived* arrived = nullptr;
  bool operator()(Vertex vertex) const { return (*transparent)[vertex] || (*arrived)(vertex); }
};

/// About a second, and two gigabytes for what they find.
constexpr std::size_t most_steps = 100'000'000;

void require_few(std::size_t steps, const Graph& graph) {
  if (steps <= most_steps) return;
  const auto joined = [&](NodeId node) {
    return graph.is_deterministic(node) ? graph.parents(node).size() * graph.children(node).size() : 0;
  };
  NodeId most{0};
  for (const NodeId node : graph.nodes())
    if (joined(node) > joined(most)) most = node;
  const std::string told = fmt::format(
      "following deterministic nodes from each node to the next takes more than "
      "{:.0e} steps",
      static_cast<double>(most_steps));
  const std::string help = "gather nodes that read the same in one node of several units";
  if (joined(most) < most_steps / 2) refuse({.code = "too-large", .message = told, .help = {help}});
  refuse({.code = "too-large",
          .node = graph.name(most),
          .message = fmt::format("{}; this one alone reads {} nodes and is read by {}", told,
                                 graph.parents(most).size(), graph.children(most).size()),
          .help = {help}});
}

}  // namespace

struct Contraction::Edges {
  explicit Edges(const Graph& graph);

  struct BothWays {
    ParentGraph parents;
    ChildGraph children;
  };
  BothWays all;
  BothWays contracted;  ///< empty where no node is deterministic: it would be the same

 private:
  void list_all(const Graph& graph);
  void contract(const Graph& graph);
};

Contraction::Edges::Edges(const Graph& graph) {
  list_all(graph);
  if (!all.parents.transparent.empty()) contract(graph);
}

void Contraction::Edges::list_all(const Graph& graph) {
  const std::size_t count = index(graph.node_count());
  EdgeList edges;
  edges.reserve(graph.edge_count());
  for (const NodeId node : graph.nodes()) {
    for (const Graph::Parent& parent : graph.parents(node))
      edges.emplace_back(vertex_of(node), vertex_of(parent.node));
    if (!graph.is_deterministic(node)) continue;
    all.parents.transparent.resize(count, 0);
    all.parents.transparent[index(node)] = 1;
  }
  all.parents.edges = rows_of(edges, count);
  all.children = child_graph(edges, count);
}

void Contraction::Edges::contract(const Graph& graph) {
  EdgeList edges;
  ContractedParents parents(all.parents);
  for (Vertex node = 0; node < all.parents.size(); ++node)
    if (!all.parents.transparent[node]) {
      for (const Vertex parent : parents.of(node)) edges.emplace_back(node, parent);
      require_few(parents.steps(), graph);
    }
  contracted.parents.edges = rows_of(edges, all.parents.size());
  contracted.children = child_graph(edges, all.parents.size());
}

Contraction::Contraction(const Graph& graph)
    : graph_(graph), has_functions_(std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](NodeId node) {
        return graph.is_deterministic(node);
      })) {
  list_below();
}

Contraction::~Contraction() = default;

const Contraction::Edges& Contraction::edges() const {
  if (!edges_) edges_ = std::make_unique<const Edges>(graph_);
  return *edges_;
}

int Contraction::level(NodeId node) const {
  if (levels_.empty()) {
    levels_.resize(node_count(), 0);
    for (const NodeId child : graph_.nodes())
      for (const Vertex parent : parents(child))
        levels_[index(child)] = std::max(levels_[index(child)], levels_[parent] + 1);
  }
  return levels_[index(node)];
}

std::span<const Vertex> Contraction::parents(NodeId node) const {
  return (has_functions_ ? edges().contracted : edges().all).parents.parents_of(vertex_of(node));
}

std::span<const Vertex> Contraction::children(NodeId node) const {
  return (has_functions_ ? edges().contracted : edges().all).children.children_of(vertex_of(node));
}

const ParentGraph& Contraction::uncontracted_parents() const { return edges().all.parents; }
const ChildGraph& Contraction::uncontracted_children() const { return edges().all.children; }

void Contraction::list_below() {
  below_.resize(has_functions_ ? node_count() : 1);
  if (!has_functions_) return;
  const std::vector<char>& transparent = edges().all.parents.transparent;
  const auto nowhere = [](Vertex) { return false; };
  const FilteredRows<MayLieOnRoute<decltype(nowhere)>> functions(edges().all.children.edges, {},
                                                                 {&transparent, &nowhere});
  SearchColours colours(node_count());
  std::vector<Vertex> reached;
  std::size_t steps = 0;
  for (Vertex node = 0; node < node_count(); ++node) {
    if (transparent[node]) continue;
    colours.start_search();
    SearchQueue queue(reached, nowhere);
    breadth_first_visit(functions, node, queue, boost::default_bfs_visitor(), colours.map());
    Downstream& below = below_[node];
    std::sort(reached.begin() + 1, reached.end());
    for (const Vertex function : std::span(reached).subspan(1)) {
      steps += 1 + edges().all.children.children_of(function).size();
      require_few(steps, graph_);
      below.functions.push_back(node_of(function));
      for (const Vertex child : edges().all.children.children_of(function))
        if (!transparent[child]) below.children.push_back(node_of(child));
    }
    std::sort(below.children.begin(), below.children.end());
    below.children.erase(std::unique(below.children.begin(), below.children.end()), below.children.end());
  }
}

bool Contraction::is_joined_by_functions(NodeId parent, NodeId child) const {
  const std::vector<NodeId>& children = below_functions(parent).children;
  return std::binary_search(children.begin(), children.end(), child);
}

/// The shortest route from the node to the first that `arrived` is true of, with deterministic nodes between.
template <class Arrived>
std::vector<NodeId> Contraction::search(NodeId node, const Arrived& arrived) const {
  const Vertex from = vertex_of(node);
  if (arrived(from)) return {node};
  if (!has_functions_) return {};
  const FilteredRows<MayLieOnRoute<Arrived>> rows(edges().all.children.edges, {},
                                                  {&edges().all.parents.transparent, &arrived});
  // The functions below one node are few beside the graph, hence no arrays.
  std::unordered_map<Vertex, boost::default_color_type> colours;
  std::unordered_map<Vertex, Vertex> predecessor;
  std::vector<Vertex> storage;
  Vertex end = from;
  const auto reach = [&](Vertex before, Vertex vertex) {
    predecessor.emplace(vertex, before);
    if (end == from && arrived(vertex)) end = vertex;
  };
  SearchQueue queue(storage, [&](Vertex) { return end != from; });
  breadth_first_visit(rows, from, queue, ReachVisitor(reach), boost::make_assoc_property_map(colours));
  if (end == from) return {};
  std::vector<NodeId> route{node_of(end)};
  for (Vertex at = end; at != from;) route.push_back(node_of(at = predecessor.at(at)));
  std::reverse(route.begin(), route.end());
  return route;
}

std::vector<NodeId> Contraction::route(NodeId parent, NodeId child) const {
  const std::span<const NodeId> direct = graph_.children(parent);
  if (std::binary_search(direct.begin(), direct.end(), child)) return {parent, child};
  return search(parent, [&](Vertex at) { return at == vertex_of(child); });
}

std::vector<NodeId> Contraction::route_to_reward(NodeId node, RewardId reward) const {
  const std::span<const NodeId> reads = graph_.reads(reward);
  return search(node, [&](Vertex at) {
    return (at == vertex_of(node) || edges().all.parents.is_transparent(at)) &&
           std::binary_search(reads.begin(), reads.end(), node_of(at));
  });
}

std::vector<bool> Contraction::read_directly(RewardId reward) const {
  std::vector<bool> read(node_count(), false);
  for (const NodeId node : graph_.reads(reward)) read[index(node)] = true;
  if (!has_functions_) return read;
  for (Vertex node = static_cast<Vertex>(read.size()); node-- > 0;)
    if (read[node] && edges().all.parents.is_transparent(node))
      for (const Vertex parent : edges().all.parents.parents_of(node)) read[parent] = true;
  return read;
}

}  // namespace hindsight::internal
