#include <hindsight/graph/model.hpp>

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/access.hpp>
#include <hindsight/graph/backward_pass.hpp>
#include <hindsight/graph/forward_pass.hpp>
#include <hindsight/graph/validation_result.hpp>

namespace hindsight {
namespace {

using internal::Pass;
using internal::RunState;

constexpr int most_threads = 256;

InstructionSet choose_instructions(std::optional<InstructionSet> wanted) {
  const std::vector<InstructionSet>& available = available_instruction_sets();
  if (!wanted) return available.back();
  if (std::find(available.begin(), available.end(), *wanted) == available.end()) {
    std::string known;
    for (const InstructionSet set : available)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", name(set));
    refuse(
        {.code = "instruction-set",
         .message = fmt::format("this machine cannot run a plan for {}; it runs: {}", name(*wanted), known),
         .help = {"compile(graph)   // takes the fastest that the machine has"}});
  }
  return *wanted;
}

void check_workspace(int capacity, int replicas, const WorkspaceOptions& options) {
  const int threads = options.threads;
  if (capacity < 1)
    refuse({.code = "batch-size",
            .message = fmt::format("a workspace for {} samples cannot run; it holds at least 1", capacity),
            .help = {"model.workspace(16)"}});
  if (options.batch < 0)
    refuse({.code = "batch-size",
            .message = fmt::format("a batch of {} samples cannot come in parts", options.batch),
            .help = {".batch = the samples of all parts together"}});
  if (threads < 1 || threads > most_threads)
    refuse(
        {.code = "thread-count",
         .message = fmt::format("a workspace runs on 1 to {} threads, not on {}; this machine has {} cores",
                                most_threads, threads, std::thread::hardware_concurrency()),
         .help = {fmt::format(
             "model.workspace({}, {{.threads = {}}})", capacity,
             std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads))}});
  if (capacity < replicas)
    refuse({.code = "batch-size",
            .message = fmt::format("a workspace for {} samples cannot run: its baselines want {} samples of "
                                   "each input",
                                   capacity, replicas),
            .help = {fmt::format("model.workspace({})", 16 * replicas)}});
}

}  // namespace

template <class S>
BasicModel<S>::BasicModel(const Graph& graph, const Catalogue& catalogue, const CompileOptions& options) {
  internal::ValidationResult result = internal::examine(
      graph, catalogue, {.rerun_limit = options.rerun_limit, .elimination_limit = options.elimination_limit});
  if (!result.report.admissible()) throw Error(std::move(result.report));
  report_ = std::make_shared<const Report>(std::move(result.report));
  plan_ = internal::make_plan<S>(graph, result.assignments,
                                 {.seed = options.seed,
                                  .instructions = choose_instructions(options.instructions),
                                  .elimination_limit = options.elimination_limit});
  parameters_ = internal::initial_parameters(graph, *plan_);
}

template <class S>
BasicWorkspace<S> BasicModel<S>::workspace(int capacity, const WorkspaceOptions& options) const {
  check_workspace(capacity, replicas(), options);
  return internal::Access::workspace(std::make_unique<RunState<S>>(plan_.pointer(), capacity, options));
}

template <class S>
void BasicModel<S>::forward(BasicWorkspace<S>& run, std::span<const InputValues<S>> inputs,
                            const ForwardOptions& options) const {
  internal::forward(Pass<S>{*plan_, parameters_, internal::Access::state(run)}, inputs, options);
}

template <class S>
void BasicModel<S>::backward(BasicWorkspace<S>& run, std::span<const RewardValues<S>> rewards,
                             const BackwardOptions& options) const {
  internal::backward(Pass<S>{*plan_, parameters_, internal::Access::state(run)}, rewards, options);
}

template <class S>
void BasicModel<S>::forward(BasicWorkspace<S>& run, std::initializer_list<InputValues<S>> inputs,
                            const ForwardOptions& options) const {
  forward(run, std::span(inputs.begin(), inputs.size()), options);
}

template <class S>
void BasicModel<S>::backward(BasicWorkspace<S>& run, std::initializer_list<RewardValues<S>> rewards,
                             const BackwardOptions& options) const {
  backward(run, std::span(rewards.begin(), rewards.size()), options);
}

template <class S>
MatrixView<S> BasicModel<S>::parameters(std::string_view path) {
  const internal::ParameterPlace& place = plan_->parameters.find(path);
  return {parameters_.data() + place.first, static_cast<std::ptrdiff_t>(place.rows),
          static_cast<std::ptrdiff_t>(place.cols)};
}

template <class S>
MatrixView<const S> BasicModel<S>::parameters(std::string_view path) const {
  return const_cast<BasicModel&>(*this).parameters(path);
}

template <class S>
ParameterRange BasicModel<S>::range(NodeId node) const {
  const Placement& at = plan_->layout.placement(node);
  return {at.first_parameter, at.shape.parameter_count};
}

template <class S>
ParameterRange BasicModel<S>::range(std::string_view path) const {
  const internal::ParameterPlace& place = plan_->parameters.find(path);
  return {place.first, place.rows * place.cols};
}

template <class S>
std::vector<std::string> BasicModel<S>::parameter_names() const {
  std::vector<std::string> names;
  for (const internal::ParameterPlace& place : plan_->parameters.all()) names.push_back(place.path);
  return names;
}

template <class S>
int BasicModel<S>::replicas() const {
  return plan_->credit.replicas;
}

template <class S>
InstructionSet BasicModel<S>::instructions() const {
  return plan_->instructions;
}

template class BasicModel<float>;
template class BasicModel<double>;

}  // namespace hindsight
