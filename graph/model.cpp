#include <hindsight/graph/model.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>

namespace hindsight {
namespace {

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

}  // namespace

template <class S>
BasicModel<S>::BasicModel(const Graph& graph, const Catalogue& catalogue, const CompileOptions& options) {
  Examination examination = examine(
      graph, catalogue,
      {.reevaluation_limit = options.reevaluation_limit, .elimination_limit = options.elimination_limit});
  if (!examination.report.admissible()) throw Error(std::move(examination.report));
  report_ = std::make_shared<const Report>(std::move(examination.report));
  plan_ =
      std::make_shared<const Plan<S>>(graph, examination.assignments, options.seed,
                                      choose_instructions(options.instructions), options.elimination_limit);
  parameters_ = plan_->initial_parameters(graph);
}

template <class S>
BasicWorkspace<S> BasicModel<S>::workspace(int capacity, const WorkspaceOptions& options) const {
  return Executor<S>::make_workspace(plan_, capacity, options);
}

template <class S>
void BasicModel<S>::forward(BasicWorkspace<S>& run, std::span<const InputValues<S>> inputs,
                            const ForwardOptions& options) const {
  Executor<S>(*plan_, parameters_, run).forward(inputs, options);
}

template <class S>
void BasicModel<S>::forward(BasicWorkspace<S>& run, std::initializer_list<InputValues<S>> inputs,
                            const ForwardOptions& options) const {
  forward(run, std::span(inputs.begin(), inputs.size()), options);
}

template <class S>
void BasicModel<S>::backward(BasicWorkspace<S>& run, std::span<const RewardValues<S>> rewards,
                             const BackwardOptions& options) const {
  Executor<S>(*plan_, parameters_, run).backward(rewards, options);
}

template <class S>
void BasicModel<S>::backward(BasicWorkspace<S>& run, std::initializer_list<RewardValues<S>> rewards,
                             const BackwardOptions& options) const {
  backward(run, std::span(rewards.begin(), rewards.size()), options);
}

template <class S>
MatrixView<S> BasicModel<S>::parameters(std::string_view path) {
  const ParameterPlace& place = plan_->parameter(path);
  return {parameters_.data() + place.first, static_cast<std::ptrdiff_t>(place.rows),
          static_cast<std::ptrdiff_t>(place.cols)};
}

template <class S>
MatrixView<const S> BasicModel<S>::parameters(std::string_view path) const {
  return const_cast<BasicModel&>(*this).parameters(path);
}

template <class S>
ParameterRange BasicModel<S>::range(NodeId node) const {
  const Placement& at = plan_->placement(node);
  return {at.first_parameter, at.shape.parameter_count()};
}

template <class S>
ParameterRange BasicModel<S>::range(std::string_view path) const {
  const ParameterPlace& place = plan_->parameter(path);
  return {place.first, place.rows * place.cols};
}

template <class S>
std::vector<std::string> BasicModel<S>::parameter_names() const {
  std::vector<std::string> names;
  for (const ParameterPlace& place : plan_->parameters) names.push_back(place.path);
  return names;
}

template class BasicModel<float>;
template class BasicModel<double>;

}  // namespace hindsight
