#include <hindsight/graph/comparison_limits.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/memory.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/access.hpp>
#include <hindsight/graph/clamped_rerun.hpp>
#include <hindsight/graph/contraction.hpp>

namespace hindsight::internal {

void check(const Task& task, const MicroscopeOptions& options) {
  const auto refuse_count = [](const char* what, int given, int least) {
    if (given < least)
      refuse({.code = "microscope-options",
              .message = fmt::format("{} is {}; there must be at least {}", what, given, least),
              .help = {fmt::format("{{.{} = {}}}", what, std::max(least, 1000))}});
  };
  refuse_count("gradients", options.gradients, 4);
  refuse_count("reference_gradients", options.reference_gradients, 4);
  refuse_count("batch", options.batch, 1);
  if (options.contenders.empty() && options.graphs.empty())
    refuse({.code = "microscope-options",
            .message = "no contenders are given, so there is nothing to compare",
            .help = {"{.contenders = {{Hnca{}}, {Reinforce{}}}}"}});
  for (const InputValues<float>& input : task.inputs)
    if (input.values.rows() < 1 || input.values.rows() != task.inputs.front().values.rows() ||
        input.values.rows() > std::numeric_limits<int>::max())
      refuse({.code = "microscope-inputs",
              .message = fmt::format("input number {} has {} rows; all inputs must have the same, at least 1",
                                     input.node.index, input.values.rows()),
              .help = {"give every input as many rows"}});
}

void require_memory_for(std::size_t contenders, std::size_t parameters) {
  // A parameter, its gradient, the two moments, the direction of a bias and the mean that is returned; of the
  // reference both halves and what it is made with.
  constexpr double per_contender = 2 * sizeof(float) + 4 * sizeof(double),
                   of_reference = 4 * sizeof(float) + 5 * sizeof(double);
  require_memory(
      static_cast<double>(parameters) * (static_cast<double>(contenders) * per_contender + of_reference),
      fmt::format("comparing {} estimator{} at {} parameters", contenders, contenders == 1 ? "" : "s",
                  parameters),
      "compare fewer estimators at a time, or a smaller graph");
}

void require_memory_for(double bytes, const MicroscopeOptions& options) {
  require_memory(bytes, fmt::format("a comparison by batches of {} rows", options.batch),
                 "make .batch smaller, compare fewer estimators at a time, or a smaller graph");
}

GradientCost cost_of_gradient(const Graph& graph, const Model& model, const MicroscopeOptions& options) {
  constexpr double per_unit = 8, per_parameter = 0.25, per_input = 0.5;
  const Plan<float>& plan = Access::plan(model);
  double per_sample = per_unit * static_cast<double>(plan.layout.unit_rows) +
                      per_input * static_cast<double>(plan.layout.input_rows) +
                      per_parameter * static_cast<double>(plan.layout.parameter_count);
  if (!plan.schedule.reruns.empty()) {
    const Contraction contraction(graph);
    for (const NodeId node : graph.nodes())
      if (graph.is_stochastic(node))
        per_sample += per_parameter * rerun_cost(graph, node, contraction.below_functions(node), {});
  }
  const double samples = static_cast<double>(options.batch) * model.replicas();
  return {.passes = samples * per_sample,
          .sums = samples * plan.credit.elimination_cost,
          .warm_up = plan.credit.baseline_scalars > 0 ? warm_up_batches : 0};
}

int least_gradients(const MicroscopeOptions& options) {
  constexpr int enough_to_tell = 100;
  return std::min(options.gradients, enough_to_tell);
}

int reference_gradients(const MicroscopeOptions& options, int gradients) {
  const double part = static_cast<double>(gradients) / options.gradients;
  return std::max(4, static_cast<int>(std::lround(part * options.reference_gradients)));
}

std::string too_long(const GradientCost& cost, const MicroscopeOptions& options) {
  const int gradients = least_gradients(options);
  return fmt::format(
      "summing units out takes {:.3g} operations per gradient, {:.3g} for {} gradients; with all else that "
      "is "
      "more than the most_operations of {:.3g}",
      cost.sums, cost.sums * (gradients + cost.warm_up), gradients, options.most_operations);
}

void refuse_time(double operations, const MicroscopeOptions& options) {
  const int gradients = least_gradients(options);
  Diagnostic said{
      .code = "microscope-operations",
      .message =
          fmt::format("{} gradients of each estimator, in batches of {} rows, take about {:.2g} operations, "
                      "more than the most_operations of {:.2g}",
                      gradients, options.batch, operations, options.most_operations),
      .help = {fmt::format("{{.most_operations = {:.2g}}}   // an operation takes about a nanosecond",
                           2 * operations),
               "compare fewer estimators, or make .batch or .gradients smaller"}};
  refuse(std::move(said));
}

}  // namespace hindsight::internal
