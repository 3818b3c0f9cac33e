#include <hindsight/graph/comparison_limits.hpp>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <hindsight/core/memory.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/access.hpp>

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

std::string why_too_long(const Model& model, const MicroscopeOptions& options) {
  const double per_sample = Access::plan(model).credit.elimination_cost;
  const int warm_up = Access::plan(model).credit.baseline_scalars > 0 ? warm_up_batches : 0;
  const double all = per_sample * options.batch * model.replicas() * (options.gradients + warm_up);
  if (all <= options.most_operations) return {};
  return fmt::format(
      "summing units out takes {:.3g} operations per sample, {:.3g} in all, more than the most_operations of "
      "{:.3g}",
      per_sample, all, options.most_operations);
}

}  // namespace hindsight::internal
