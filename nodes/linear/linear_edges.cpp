#include <hindsight/nodes/linear_edges.hpp>

#include <algorithm>

#include <hindsight/core/index.hpp>
#include <hindsight/nodes/linear.hpp>

namespace hindsight::internal {
namespace {

const DenseRun* covering_run(const std::vector<DenseRun>& runs, std::size_t feature_row) {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const DenseRun& run) {
    return feature_row >= run.feature_row && feature_row < run.feature_row + run.features;
  });
  return found == runs.end() ? nullptr : &*found;
}

/// Parents come in the order of their features.
template <class S>
void add_to_groups(std::vector<typename DenseMessages<S>::Group>& groups, const UnitEdge& edge,
                   const DenseRun& run) {
  const std::size_t feature = edge.feature_row() - run.feature_row;
  const bool continues = !groups.empty() && groups.back().begin.data() == run.begin.data() &&
                         groups.back().first_feature + groups.back().parents.size() == feature &&
                         groups.back().parents.size() < parent_group;
  if (!continues) groups.push_back({.begin = run.begin, .step = run.step, .first_feature = feature});
  groups.back().add(edge);
}

}  // namespace

template <class S>
BlockEdges<S> collect_edges(const std::vector<ReadingUnit>& units, const std::vector<DenseRun>& runs,
                            LinkFunction link, SparseEdges& sparse) {
  BlockEdges<S> edges;
  for (std::size_t u = 0; u < units.size(); ++u) {
    const Placement& at = *units[u].at;
    const LinearLayout layout(at);
    for (const WeightRun& run : layout.runs(units[u].unit)) {
      const ParentPlace& parent = at.parents[run.parent];
      if (!parent.wants_messages) continue;
      const bool is_general = link != LinkFunction::bernoulli || !is_binary(*parent.from->encoding());
      // Of what all read densely the first unit speaks for all.
      if (u > 0 && !is_general && covering_run(runs, parent.from->feature_row + index(run.first_unit)))
        continue;
      const std::size_t width = index(parent.from->width());
      for (std::size_t j = 0; j < index(run.units); ++j) {
        const UnitEdge edge{
            parent.from, static_cast<std::uint32_t>(run.first_unit) + static_cast<std::uint32_t>(j),
            static_cast<std::uint32_t>(u), at.first_parameter + run.parameter + j * width, run.logit_stride};
        if (is_general)
          edges.general.push_back(edge);
        else if (const DenseRun* dense = covering_run(runs, edge.feature_row()); !dense)
          sparse.list_parent(edge);
        else if (u == 0)
          add_to_groups<S>(edges.groups, edge, *dense);
      }
    }
  }
  return edges;
}

template BlockEdges<float> collect_edges(const std::vector<ReadingUnit>&, const std::vector<DenseRun>&,
                                         LinkFunction, SparseEdges&);
template BlockEdges<double> collect_edges(const std::vector<ReadingUnit>&, const std::vector<DenseRun>&,
                                          LinkFunction, SparseEdges&);

}  // namespace hindsight::internal
