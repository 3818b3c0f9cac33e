#include <hindsight/graph/unit_dag.hpp>

#include <hindsight/core/memory.hpp>

namespace hindsight {

UnitDag expand(const Graph& graph, const std::vector<bool>& wanted, DenseEdges dense_edges) {
  UnitDag units;
  const auto count = static_cast<std::size_t>(graph.node_count());
  std::vector<bool> is_read_densely(count, false);
  if (dense_edges == DenseEdges::through_hubs)
    for (std::size_t i = 0; i < count; ++i)
      if (wanted[i])
        for (const Graph::Parent& parent : graph.parents({static_cast<int>(i)}))
          if (!parent.connectivity) is_read_densely[static_cast<std::size_t>(parent.node.index)] = true;

  double bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!wanted[i]) continue;
    constexpr double bytes_per_unit = 40, bytes_per_edge = 24;  // with what is kept beside them afterwards
    const double size = graph.shape({static_cast<int>(i)}).units;
    bytes += bytes_per_unit * size;
    for (const Graph::Parent& parent : graph.parents({static_cast<int>(i)})) {
      const bool pairs = !parent.connectivity && dense_edges == DenseEdges::pair_by_pair;
      bytes += bytes_per_edge * (parent.connectivity ? static_cast<double>(parent.connectivity->pairs())
                                 : pairs             ? size * graph.shape(parent.node).units
                                                     : size);
    }
  }
  require_memory(bytes, "checking edges unit by unit", "make the edges dense, or the populations smaller");

  bool some_passed = false;
  const auto close = [&](const UnitRef& ref, bool passed) {
    units.refs.push_back(ref);
    units.dag.passed.push_back(passed ? 1 : 0);
    units.dag.close();
    some_passed = some_passed || passed;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId node{static_cast<int>(i)};
    const auto first = static_cast<Vertex>(units.dag.size());
    units.first.push_back(first);
    if (!wanted[i]) continue;
    const int size = graph.shape(node).units;
    for (int unit = 0; unit < size; ++unit) {
      for (const Graph::Parent& parent : graph.parents(node)) {
        const auto from = static_cast<std::size_t>(parent.node.index);
        if (!wanted[from]) continue;
        const Vertex begin = units.first[from], end = units.first[from + 1];
        if (parent.connectivity)
          for (const int read : parent.connectivity->parents_of(unit))
            units.dag.parents.push_back(begin + static_cast<Vertex>(read));
        else if (units.refs[end - 1].unit < 0)
          units.dag.parents.push_back(end - 1);
        else
          for (Vertex read = begin; read < end; ++read) units.dag.parents.push_back(read);
      }
      close({node, unit}, graph.is_deterministic(node));
    }
    if (size == 1 || !is_read_densely[i]) continue;
    for (Vertex unit = first; unit < first + static_cast<Vertex>(size); ++unit)
      units.dag.parents.push_back(unit);
    close({node}, true);
  }
  units.first.push_back(static_cast<Vertex>(units.dag.size()));
  if (!some_passed) units.dag.passed.clear();
  return units;
}

}  // namespace hindsight
