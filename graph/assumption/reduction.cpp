#include <algorithm>
#include <new>
#include <utility>

#include <boost/range/iterator_range_core.hpp>

#include <hindsight/core/index.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/candidate_edges.hpp>
#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/copy_choices.hpp>
#include <hindsight/graph/violations.hpp>

namespace hindsight {
namespace internal {
namespace {

/// With every deterministic node all that it joins: whether an edge of it can go depends on those.
void complete(const Graph& graph, std::vector<bool>& nodes) {
  const IdRange<NodeId> all = graph.nodes();
  bool grown = true;
  const auto visit = [&](NodeId node) {
    for (const Graph::Parent& parent : graph.parents(node)) {
      const bool parent_is_in = nodes[index(parent.node)], child_is_in = nodes[index(node)];
      if (parent_is_in == child_is_in) continue;
      if (!graph.is_deterministic(parent_is_in ? parent.node : node)) continue;
      nodes[index(parent.node)] = nodes[index(node)] = grown = true;
    }
  };
  while (grown) {  // down and up again: a chain takes one pass in either direction
    grown = false;
    for (const NodeId node : all) visit(node);
    for (auto at = all.end(); at != all.begin();) visit(*--at);
  }
}

using RowEdge = SparseRows::edge_descriptor;

/// Which edges of a DAG go.
class Cut {
 public:
  Cut(const Graph& graph, CandidateEdges candidates)
      : graph_(graph), candidates_(std::move(candidates)), at_fault_(candidates_.dag, candidates_.sources) {
    removed_.resize(num_edges(candidates_.dag.edges), false);
    if (candidates_.dag.transparent.empty())
      cut_edges();
    else
      cut_routes();
  }

  const CandidateEdges& candidates() const { return candidates_; }
  bool is_removed(const RowEdge& edge) const { return removed_[number(edge)]; }
  void restore(const RowEdge& edge) { removed_[number(edge)] = false; }

  /// Edges of the contraction that are at fault and still there, (child, parent).
  EdgeList left() const {
    EdgeList kept;
    for (const auto edge : boost::make_iterator_range(edges(candidates_.dag.edges)))
      if (!is_removed(edge)) kept.emplace_back(child_of(edge), parent_of(edge));
    const ParentGraph rest{rows_of(kept, candidates_.dag.size()), candidates_.dag.transparent};
    ContractedParents parents(rest);
    EdgeList left;
    for (Vertex child = 0; child < rest.size(); ++child)
      if (!rest.is_transparent(child))
        for (const Vertex parent : parents.of(child))
          if (at_fault_.contains(parent, child)) left.emplace_back(child, parent);
    return left;
  }

 private:
  std::size_t number(const RowEdge& edge) const {
    return get(boost::edge_index, candidates_.dag.edges, edge);
  }
  Vertex child_of(const RowEdge& edge) const { return source(edge, candidates_.dag.edges); }
  Vertex parent_of(const RowEdge& edge) const { return target(edge, candidates_.dag.edges); }

  void cut_edges() {
    for (const auto edge : boost::make_iterator_range(edges(candidates_.dag.edges)))
      removed_[number(edge)] = at_fault_.contains(parent_of(edge), child_of(edge));
  }

  /// From the last child to the first: which stochastic vertices each vertex leads to is then known, and of
  /// several edges in a row the last goes.
  void cut_routes() {
    const ParentGraph& dag = candidates_.dag;
    ContractedParents above(dag);
    std::vector<std::vector<Vertex>> below(dag.size());
    std::vector<bool> is_rewarded = read_by_rewards();
    for (Vertex child = static_cast<Vertex>(dag.size()); child-- > 0;) {
      std::vector<Vertex>& reached = below[child];
      if (!dag.transparent[child]) reached = {child};
      std::sort(reached.begin(), reached.end());
      reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
      for (const auto edge : boost::make_iterator_range(out_edges(child, dag.edges))) {
        const Vertex parent = parent_of(edge);
        const std::span<const Vertex> from =
            dag.transparent[parent] ? above.of(parent) : std::span<const Vertex>(&parent, 1);
        const bool serves_reward = dag.transparent[child] && is_rewarded[child];
        removed_[number(edge)] = !serves_reward && are_all_at_fault(from, reached);
        if (is_removed(edge) || !dag.transparent[parent]) continue;
        below[parent].insert(below[parent].end(), reached.begin(), reached.end());
        if (serves_reward) is_rewarded[parent] = true;
      }
      reached = {};
    }
  }

  bool are_all_at_fault(std::span<const Vertex> parents, const std::vector<Vertex>& children) const {
    for (const Vertex parent : parents)
      for (const Vertex child : children)
        if (!at_fault_.contains(parent, child)) return false;
    return !parents.empty() && !children.empty();
  }

  std::vector<bool> read_by_rewards() const {
    std::vector<bool> nodes(static_cast<std::size_t>(graph_.node_count()), false);
    for (const RewardId reward : graph_.rewards())
      for (const NodeId node : graph_.reads(reward)) nodes[index(node)] = true;
    std::vector<bool> vertices;
    for (Vertex vertex = 0; vertex < candidates_.dag.size(); ++vertex)
      vertices.push_back(nodes[index(candidates_.ref(vertex).node)]);
    return vertices;
  }

  const Graph& graph_;
  CandidateEdges candidates_;
  EdgesAtFault at_fault_;
  std::vector<bool> removed_;  ///< per edge of the DAG
};

/// Writes the graph anew, edge by edge.
class Rewriter {
 public:
  Rewriter(const Graph& graph, Cut& cut, std::vector<bool> nodes)
      : graph_(graph), cut_(cut), nodes_(std::move(nodes)), refused_(nodes_.size(), false) {}

  Reduction run() {
    result_.graph.set_origin(graph_.origin());
    for (const NodeId node : graph_.nodes()) add(node);
    copy_rewards_and_choices(graph_, result_.graph);
    for (const auto& [child, parent] : cut_.left()) {
      const UnitRef from = cut_.candidates().ref(parent), to = cut_.candidates().ref(child);
      result_.kept.push_back({to_string(graph_, from), to_string(graph_, to), why_kept(from.node, to.node)});
    }
    return std::move(result_);
  }

 private:
  struct Remainder {
    std::vector<Edge> edges;
    std::vector<RemovedEdge> removed;
    bool reads_parts = false;  ///< a part of a dense edge is left
  };

  void add(NodeId node) {
    if (graph_.is_input(node)) {
      result_.graph.input(graph_.name(node), graph_.shape(node).units);
      return;
    }
    Remainder remainder = remaining(node);
    if (!remainder.removed.empty() && !try_to_add(node, remainder)) {
      refused_[index(node)] = true;
      restore(node);
      remainder = remaining(node);
    }
    if (remainder.removed.empty())
      result_.graph.add(graph_.name(node), *graph_.node(node), std::move(remainder.edges));
    result_.removed.insert(result_.removed.end(), remainder.removed.begin(), remainder.removed.end());
  }

  /// A kind may refuse fewer parents, or become another population with them.
  bool try_to_add(NodeId node, const Remainder& remainder) {
    if (remainder.reads_parts && !graph_.node(node)->reads_patterns()) return false;
    std::vector<ParentShape> shapes;
    for (const Edge& edge : remainder.edges) shapes.push_back(graph_.parent_shape({edge.parent, nullptr}));
    try {
      const Shape now = graph_.node(node)->shape(shapes);
      if (now.units != graph_.shape(node).units || now.encoding != graph_.shape(node).encoding) return false;
      result_.graph.add(graph_.name(node), *graph_.node(node), remainder.edges);
      return true;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      return false;
    }
  }

  /// Calls visit(edge of the DAG, unit of the child, the parent's place in its list, unit of the parent) for
  /// all pairs of units, or visit(edge, -1, place, -1) where vertices are nodes.
  template <class Visit>
  void for_each_edge(NodeId node, const Visit& visit) const {
    const std::span<const Graph::Parent> parents = graph_.parents(node);
    const bool by_units = !cut_.candidates().refs.empty();
    const SparseRows& rows = cut_.candidates().dag.edges;
    if (!by_units) {
      auto edge = out_edges(vertex_of(node), rows).first;
      for (std::size_t place = 0; place < parents.size(); ++place, ++edge) visit(*edge, -1, place, -1);
      return;
    }
    if (!nodes_[index(node)]) return;
    const auto& refs = cut_.candidates().refs;
    const auto first = std::lower_bound(refs.begin(), refs.end(), node,
                                        [](const UnitRef& ref, NodeId at) { return ref.node < at; });
    auto vertex = static_cast<Vertex>(first - refs.begin());
    for (int unit = 0; unit < graph_.shape(node).units; ++unit, ++vertex) {
      auto edge = out_edges(vertex, rows).first;
      for (std::size_t place = 0; place < parents.size(); ++place) {
        if (!nodes_[index(parents[place].node)]) continue;
        if (parents[place].connectivity)
          for (const int read : parents[place].connectivity->parents_of(unit))
            visit(*edge++, unit, place, read);
        else
          for (int read = 0; read < graph_.shape(parents[place].node).units; ++read)
            visit(*edge++, unit, place, read);
      }
    }
  }

  Remainder remaining(NodeId node) const {
    const std::span<const Graph::Parent> parents = graph_.parents(node);
    std::vector<Pattern::Pairs> gone(parents.size()), left(parents.size());
    std::vector<bool> is_gone(parents.size(), false);
    for_each_edge(node, [&](const RowEdge& edge, int unit, std::size_t place, int read) {
      if (unit < 0)
        is_gone[place] = cut_.is_removed(edge);
      else
        (cut_.is_removed(edge) ? gone : left)[place].emplace_back(read, unit);
    });
    Remainder remainder;
    for (std::size_t place = 0; place < parents.size(); ++place) {
      const NodeId parent = parents[place].node;
      const bool sparse = parents[place].connectivity != nullptr, parted = !gone[place].empty();
      const bool whole = is_gone[place] || (parted && left[place].empty());
      if (whole || parted)
        remainder.removed.push_back({graph_.name(parent), graph_.name(node), whole,
                                     whole && !sparse ? Pattern::Pairs{} : std::move(gone[place])});
      if (whole) continue;
      remainder.reads_parts = remainder.reads_parts || parted;
      if (parted)
        remainder.edges.emplace_back(parent, Pattern::pairs(std::move(left[place])));
      else
        remainder.edges.emplace_back(parent,
                                     sparse ? pattern_of(*parents[place].connectivity) : Pattern::dense());
    }
    return remainder;
  }

  /// Units keep their numbers, so what was drawn is drawn again.
  static Pattern pattern_of(const Connectivity& wiring) {
    if (const auto& drawn = wiring.drawn_from()) return Pattern::random(drawn->density, drawn->seed);
    Pattern::Pairs pairs;
    for (int unit = 0; unit < wiring.child_units(); ++unit)
      for (const int read : wiring.parents_of(unit)) pairs.emplace_back(read, unit);
    return Pattern::pairs(std::move(pairs));
  }

  void restore(NodeId node) {
    for_each_edge(node, [&](const RowEdge& edge, int, std::size_t, int) { cut_.restore(edge); });
  }

  std::string why_kept(NodeId parent, NodeId child) const {
    if (refused_[index(child)] && is_parent(parent, child))
      return "the child's kind cannot do without the edge";
    return "each edge of a deterministic route between them also serves others";
  }

  bool is_parent(NodeId parent, NodeId child) const {
    const std::span<const NodeId> children = graph_.children(parent);
    return std::binary_search(children.begin(), children.end(), child);
  }

  const Graph& graph_;
  Cut& cut_;
  const std::vector<bool> nodes_;  ///< those that the cut has looked at, unit by unit
  std::vector<bool> refused_;
  Reduction result_;
};

}  // namespace
}  // namespace internal

Reduction reduce(const Graph& graph, InputPolicy inputs) {
  using namespace internal;
  const Contraction contraction(graph);
  CandidateEdges candidates = candidate_node_edges(graph, contraction, inputs);
  if (candidates.sources.empty()) return {graph, {}, {}};
  std::vector<bool> nodes;
  if (has_sparse_edge(graph)) {
    const Violations populations = violations_of(graph, candidates);
    if (populations.empty()) return {graph, {}, {}};
    nodes = neighbourhood(graph, populations);
    complete(graph, nodes);
    if (has_sparse_edge_among(graph, nodes))
      candidates = candidate_unit_edges(graph, populations, nodes, DenseEdges::pair_by_pair);
  }
  nodes.resize(static_cast<std::size_t>(graph.node_count()), false);
  Cut cut(graph, std::move(candidates));
  return Rewriter(graph, cut, std::move(nodes)).run();
}

}  // namespace hindsight
