#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/graph/candidate_edges.hpp>
#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/node_witness_search.hpp>
#include <hindsight/graph/unit_witness_search.hpp>
#include <hindsight/graph/violations.hpp>

namespace hindsight {

Diagnostic explain(const Graph& graph, const Violation& violation) {
  const auto name = [&](const UnitRef& ref) { return to_string(graph, ref); };
  Route shorter, longer;
  for (const UnitRef& ref : violation.edge) shorter.push_back(name(ref));
  for (const UnitRef& ref : violation.route) longer.push_back(name(ref));
  return {.message =
              fmt::format("Assumption 1 is violated: '{}' and its descendant '{}' are both parents of '{}'",
                          name(violation.node), name(violation.coparent), name(violation.child)),
          .witness = {shorter, longer},
          .help = {fmt::format("or drop the {} {}", shorter.size() == 2 ? "edge" : "route",
                               fmt::join(shorter, " → "))}};
}

WitnessSearch::WitnessSearch(const Graph& graph) : graph_(graph) {
  if (internal::has_sparse_edge(graph)) {
    by_units_ = std::make_unique<internal::UnitWitnessSearch>(graph);
    return;
  }
  contraction_ = std::make_unique<const internal::Contraction>(graph);
  by_nodes_ = std::make_unique<internal::NodeWitnessSearch>(*contraction_);
}

WitnessSearch::WitnessSearch(const Graph& graph, const internal::Contraction& contraction) : graph_(graph) {
  if (internal::has_sparse_edge(graph))
    by_units_ = std::make_unique<internal::UnitWitnessSearch>(graph);
  else
    by_nodes_ = std::make_unique<internal::NodeWitnessSearch>(contraction);
}

WitnessSearch internal::search_witnesses(const Graph& graph, const Contraction& contraction) {
  return {graph, contraction};
}

WitnessSearch::WitnessSearch(WitnessSearch&&) noexcept = default;
WitnessSearch::~WitnessSearch() = default;

std::optional<Violation> WitnessSearch::shortest(NodeId node) {
  if (graph_.is_deterministic(node)) return std::nullopt;
  return by_units_ ? by_units_->shortest(node) : by_nodes_->shortest(node);
}

}  // namespace hindsight
