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
  const auto refuse_count = [](const char* what, int given, int least, int most) {
    if (given >= least && given <= most) return;
    const bool few = given < least;
    refuse({.code = "microscope-options",
            .message = fmt::format(
                "{} is {}; there {}", what, given,
                few ? fmt::format("must be at least {}", least) : fmt::format("may be at most {}", most)),
            .help = {fmt::format("{{.{} = {}}}", what, few ? std::max(least, 1000) : most)}});
  };
  refuse_count("gradients", options.gradients, 4, most_gradients);
  refuse_count("reference_gradients", options.reference_gradients, 4, most_gradients);
  refuse_count("batch", options.batch, 1, std::numeric_limits<int>::max());
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

namespace {

// Estimates, in nanoseconds of one core, of what a sample takes forward and backward. They only have to be of
// the right size: time is bounded within a small factor.
/// Drawing an outcome, its log probabilities, credit.
constexpr double per_unit = 8;
/// A product forward and one backward, vectorised over samples.
constexpr double per_parameter = 0.25;
/// Copying a feature of an input.
constexpr double per_input = 0.5;
/// One state at a time nothing is vectorised over samples: its gradient, and its square less the mean's.
constexpr double per_parameter_of_state = 2;

double operations_per_sample(const Graph& graph, const Model& model) {
  const Plan<float>& plan = Access::plan(model);
  double operations = per_unit * static_cast<double>(plan.layout.unit_rows) +
                      per_input * static_cast<double>(plan.layout.input_rows) +
                      per_parameter * static_cast<double>(plan.layout.parameter_count);
  if (plan.schedule.reruns.empty()) return operations;
  const Contraction contraction(graph);
  for (const NodeId node : graph.nodes())
    if (graph.is_stochastic(node))
      operations += per_parameter * rerun_cost(graph, node, contraction.below_functions(node), {});
  return operations;
}

}  // namespace

GradientCost cost_of_gradient(const Graph& graph, const Model& model, const MicroscopeOptions& options) {
  const Plan<float>& plan = Access::plan(model);
  const double samples = static_cast<double>(options.batch) * model.replicas();
  return {.passes = samples * operations_per_sample(graph, model),
          .sums = samples * plan.credit.elimination_cost,
          .warm_up = plan.credit.baseline_scalars > 0 ? warm_up_batches : 0};
}

double cost_of_exact_gradient(const Graph& graph, const Model& model, double states) {
  return states * model.replicas() *
         (operations_per_sample(graph, model) + Access::plan(model).credit.elimination_cost);
}

double cost_of_exact_variance(const Graph& graph, const Model& model, double states) {
  // States are gone through once for the mean and once more for what differs from it.
  return 2 * cost_of_exact_gradient(graph, model, states) +
         states * per_parameter_of_state * static_cast<double>(model.parameters().size());
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
      "summing units out takes {:.3g} operations per gradient, {:.3g} for {} gradients; with all else "
      "that is more than the most_operations of {:.3g}",
      cost.sums, cost.sums * (gradients + cost.warm_up), gradients, options.most_operations);
}

void refuse_time(double operations, double exact, const MicroscopeOptions& options) {
  const int gradients = least_gradients(options);
  Diagnostic said{
      .code = "microscope-operations",
      .message = fmt::format("{} gradients of each estimator, in batches of {} rows,{} take about {:.2g} "
                             "operations, more than the most_operations of {:.2g}",
                             gradients, options.batch, exact > 0 ? " and sums over all joint outcomes" : "",
                             operations, options.most_operations),
      .help = {fmt::format("{{.most_operations = {:.2g}}}   // an operation takes about a nanosecond",
                           2 * operations),
               "compare fewer estimators, or make .batch or .gradients smaller"}};
  if (exact > 0)
    said.help.push_back(
        fmt::format("{{.most_states = 0}}   // sums over all joint outcomes take {:.2g} of them", exact));
  refuse(std::move(said));
}

}  // namespace hindsight::internal
