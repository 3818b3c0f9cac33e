#include <hindsight/graph/clamped_rerun.hpp>

#include <cmath>

#include <hindsight/core/index.hpp>
#include <hindsight/core/node_runner.hpp>

namespace hindsight::internal {

double rerun_cost(const Graph& graph, NodeId node, const Downstream& below, const Facts& facts) {
  double each = 0;
  if (!below.children.empty() || (facts.reward_is_known && facts.reads_directly))
    for (const auto* nodes : {&below.functions, &below.children})
      for (const NodeId at : *nodes) each += static_cast<double>(graph.shape(at).parameter_count);
  const NodeShape& shape = graph.shape(node);
  return each * shape.units * (shape.outcome_count() - 1);
}

template <class S>
void ClampedRerun<S>::send(const Frame<S>& actual, const Frame<S>& trial) const {
  const std::size_t outcome_count = index(node_.shape.outcome_count());
  for_each_candidate(actual, trial, [&](std::size_t unit, const Outcome* tried) {
    for (const Placement& child : blocks_.readers()) {
      const std::size_t child_outcome_count = index(child.shape.outcome_count());
      for (std::size_t u = 0; u < index(child.shape.units); ++u)
        for (int i = 0; i < actual.samples; ++i) {
          const std::size_t row =
              child.table_row + u * child_outcome_count + index(actual.outcome(child.unit_row + u)[i]);
          if (std::isnan(trial.log_prob(row)[i])) refuse_not_a_number(child.name, node_.name);
          actual.evidence(node_.table_row + unit * outcome_count + index(tried[i]))[i] +=
              trial.log_prob(row)[i] - actual.log_prob(row)[i];
        }
    }
  });
}

template class ClampedRerun<float>;
template class ClampedRerun<double>;

}  // namespace hindsight::internal
