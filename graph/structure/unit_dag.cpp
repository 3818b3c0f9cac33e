#include <hindsight/graph/unit_dag.hpp>

#include <hindsight/core/index.hpp>
#include <hindsight/core/memory.hpp>

namespace hindsight::internal {

UnitDag expand(const Graph& graph, const std::vector<bool>& wanted, DenseEdges dense_edges) {
  UnitDag units;
  std::vector<bool> is_read_densely(graph.nodes().size(), false);
  if (dense_edges == DenseEdges::through_hubs)
    for (const NodeId node : graph.nodes())
      if (wanted[index(node)])
        for (const Graph::Parent& parent : graph.parents(node))
          if (!parent.connectivity) is_read_densely[index(parent.node)] = true;

  double wanted_units = 0, most_edges = 0;
  for (const NodeId node : graph.nodes()) {
    if (!wanted[index(node)]) continue;
    const double size = graph.shape(node).units;
    wanted_units += size;
    for (const Graph::Parent& parent : graph.parents(node)) {
      const bool pairs = !parent.connectivity && dense_edges == DenseEdges::pair_by_pair;
      most_edges += parent.connectivity ? static_cast<double>(parent.connectivity->pairs())
                    : pairs             ? size * graph.shape(parent.node).units
                                        : size;
    }
  }
  constexpr double bytes_per_unit = 84, bytes_per_edge = 24;  // with what is kept beside them afterwards
  require_memory(bytes_per_unit * wanted_units + bytes_per_edge * most_edges, "checking edges unit by unit",
                 "make the edges dense, or the populations smaller");

  EdgeList edges;
  edges.reserve(static_cast<std::size_t>(most_edges));
  const auto next = [&] { return static_cast<Vertex>(units.refs.size()); };
  bool some_transparent = false;
  const auto close = [&](const UnitRef& ref, bool transparent) {
    units.refs.push_back(ref);
    units.dag.transparent.push_back(transparent ? 1 : 0);
    some_transparent = some_transparent || transparent;
  };
  for (const NodeId node : graph.nodes()) {
    const Vertex first = next();
    units.first.push_back(first);
    if (!wanted[index(node)]) continue;
    const int size = graph.shape(node).units;
    for (int unit = 0; unit < size; ++unit) {
      for (const Graph::Parent& parent : graph.parents(node)) {
        const std::size_t from = index(parent.node);
        if (!wanted[from]) continue;
        const Vertex begin = units.first[from], end = units.first[from + 1];
        if (parent.connectivity)
          for (const int read : parent.connectivity->parents_of(unit))
            edges.emplace_back(next(), begin + static_cast<Vertex>(read));
        else if (units.refs[end - 1].unit < 0)
          edges.emplace_back(next(), end - 1);
        else
          for (Vertex read = begin; read < end; ++read) edges.emplace_back(next(), read);
      }
      close({node, unit}, graph.is_deterministic(node));
    }
    if (size == 1 || !is_read_densely[index(node)]) continue;
    for (Vertex unit = first; unit < first + static_cast<Vertex>(size); ++unit)
      edges.emplace_back(next(), unit);
    close({node}, true);
  }
  units.first.push_back(next());
  units.dag.edges = rows_of(edges, units.refs.size());
  if (!some_transparent) units.dag.transparent.clear();
  return units;
}

}  // namespace hindsight::internal
