#include <hindsight/graph/load_arguments.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/core/vector_kernels.hpp>

namespace hindsight::internal {
namespace {

/// What an id stands for (`noun`) and what it was handed in as.
struct BindingWords {
  const char* code;
  const char* noun;
  const char* as;
};

/// Refuses an id that does not exist and one that is given twice; leaves in `seen` which were given.
template <class Bindings, class Index, class Name>
void check_bindings(const Bindings& bindings, std::size_t count, std::vector<std::uint8_t>& seen,
                    const BindingWords& words, const Index& index_of, const Name& name_of) {
  std::fill(seen.begin(), seen.end(), std::uint8_t{0});
  for (const auto& binding : bindings) {
    const int index = index_of(binding);
    if (index < 0 || static_cast<std::size_t>(index) >= count)
      refuse({.code = words.code,
              .message = fmt::format("{} number {}, given as {}, does not exist; the model has {} {}{}",
                                     words.noun, index, words.as, count, words.noun, count == 1 ? "" : "s"),
              .help = {"use the id that the graph returned when it was added"}});
    if (seen[static_cast<std::size_t>(index)]++)
      refuse({.code = "given-twice",
              .message = fmt::format("{} '{}' is given twice as {}", words.noun,
                                     name_of(static_cast<std::size_t>(index)), words.as),
              .help = {"give it once"}});
  }
}

/// The units of one sample lie side by side, so that samples can be worked by vectors.
template <class S>
bool has_contiguous_samples(const MatrixView<const S>& values) {
  return values.col_stride() == 1 && values.row_stride() >= 0;
}

template <class S>
void refuse_not_finite(const std::string& input, const MatrixView<const S>& values,
                       InstructionSet instructions) {
  for (std::ptrdiff_t i = 0; i < values.rows(); ++i) {
    if (has_contiguous_samples(values) && vector_kernels<S>(instructions)
                                              .all_finite(values.data() + i * values.row_stride(), 0, 1,
                                                          static_cast<std::size_t>(values.cols())))
      continue;
    for (std::ptrdiff_t unit = 0; unit < values.cols(); ++unit)
      if (!std::isfinite(values(i, unit)))
        refuse({.code = "input-not-finite",
                .node = input,
                .message = fmt::format("its value in sample {}, unit {} is {}", i, unit, values(i, unit)),
                .help = {"clean the data: inputs must be finite numbers"}});
  }
}

}  // namespace

template <class S>
void load_inputs(const Pass<S>& pass, std::span<const InputValues<S>> inputs, int wanted) {
  RunState<S>& state = pass.state;
  const Layout& layout = pass.plan.layout;
  check_bindings(
      inputs, layout.placements.size(), state.given, {"unknown-node", "node", "an input"},
      [](const auto& given) { return given.node.index; },
      [&](std::size_t i) { return layout.placements[i].name; });
  for (const NodeId node : layout.nodes()) {
    if (!layout.is_input(node) || state.given[index(node)]) continue;
    const std::string& name = layout.placements[index(node)].name;
    refuse({.code = "missing-input",
            .node = name,
            .message = "this input was not given",
            .help = {fmt::format("model.forward(run, {{{{{}, values}}}});", name)}});
  }
  const std::ptrdiff_t replicas = pass.plan.credit.replicas;
  std::ptrdiff_t samples = wanted > 0 ? wanted : state.capacity / replicas * replicas;
  if (!inputs.empty() && wanted == 0) samples = inputs.front().values.rows() * replicas;
  if (wanted < 0 || wanted > state.capacity)
    refuse({.code = "batch-size",
            .message =
                fmt::format("{} samples were asked for; this workspace runs 1 to {}", wanted, state.capacity),
            .help = {fmt::format("auto run = model.workspace({});", std::max(wanted, 1))}});
  if (samples % replicas != 0)
    refuse({.code = "batch-size",
            .message = fmt::format("{} samples were asked for; the baselines want {} samples of each input",
                                   samples, replicas),
            .help = {fmt::format("{{.samples = {}}}",
                                 std::max<std::ptrdiff_t>(samples / replicas, 1) * replicas)}});
  for (const auto& [node, values] : inputs) {
    const Placement& at = layout.placements[index(node)];
    if (!layout.is_input(node))
      refuse(
          {.code = "not-an-input",
           .node = at.name,
           .message = layout.is_stochastic(node) ? "it is sampled, not given" : "it is computed, not given",
           .help = {
               layout.is_stochastic(node)
                   ? fmt::format("model.forward(run, inputs, {{.clamp = {{{{{}, outcomes}}}}}});", at.name)
                   : "give values to inputs only"}});
    if (values.cols() != at.shape.units || values.rows() * replicas != samples)
      refuse({.code = "input-shape",
              .node = at.name,
              .message = fmt::format("it was given {} × {} values; {} × {} are expected (samples × units)",
                                     values.rows(), values.cols(), samples / replicas, at.shape.units),
              .help = {"give all inputs the same number of rows, one per sample, and one column per unit"}});
    if (samples < 1 || samples > state.capacity)
      refuse({.code = "batch-size",
              .node = at.name,
              .message =
                  replicas == 1
                      ? fmt::format("it was given {} samples; this workspace runs 1 to {}", samples,
                                    state.capacity)
                      : fmt::format("it was given {} rows, of which the baselines want {} samples each; this "
                                    "workspace runs up to {} samples",
                                    values.rows(), replicas, state.capacity),
              .help = {samples < 1 ? std::string("give at least one sample")
                                   : fmt::format("auto run = model.workspace({});", samples)}});
    refuse_not_finite(at.name, values, pass.plan.instructions);
  }
  state.samples = static_cast<int>(samples);
  for (const auto& [node, values] : inputs) {
    const Placement& at = layout.placements[index(node)];
    S* const rows = state.features.data() + at.feature_row * state.stride;
    if (has_contiguous_samples(values))
      vector_kernels<S>(pass.plan.instructions)
          .transpose(values.data(), static_cast<std::size_t>(values.row_stride()),
                     static_cast<std::size_t>(values.rows()), static_cast<std::size_t>(values.cols()), rows,
                     state.stride);
    for (std::ptrdiff_t unit = 0; unit < values.cols(); ++unit) {
      S* const row = rows + static_cast<std::size_t>(unit) * state.stride;
      if (!has_contiguous_samples(values))
        for (std::ptrdiff_t i = 0; i < values.rows(); ++i) row[i] = values(i, unit);
      if (replicas > 1)  // from the last on, so that nothing is overwritten that is still wanted
        for (std::ptrdiff_t i = samples; i-- > 0;) row[i] = row[i / replicas];
      std::fill(row + samples, row + state.stride, S(0));
    }
  }
}

template <class S>
void clamp(const Pass<S>& pass, std::span<const ClampedOutcomes> clamps) {
  RunState<S>& state = pass.state;
  const Layout& layout = pass.plan.layout;
  check_bindings(
      clamps, layout.placements.size(), state.given, {"unknown-node", "node", "a clamp"},
      [](const auto& given) { return given.node.index; },
      [&](std::size_t i) { return layout.placements[i].name; });
  std::fill(state.clamped.begin(), state.clamped.end(), std::uint8_t{0});
  for (const auto& [node, outcomes] : clamps) {
    const Placement& at = layout.placements[index(node)];
    if (layout.is_input(node))
      refuse({.code = "clamped-input",
              .node = at.name,
              .message = "it is an input: it is given, not clamped",
              .help = {fmt::format("model.forward(run, {{{{{}, values}}}});", at.name)}});
    if (!layout.is_stochastic(node))
      refuse({.code = "clamped-function",
              .node = at.name,
              .message = "it is deterministic: it follows from its parents and has no outcome to clamp",
              .help = {"clamp the stochastic nodes that it reads"}});
    if (outcomes.rows() != state.samples || outcomes.cols() != at.shape.units)
      refuse({.code = "clamp-shape",
              .node = at.name,
              .message =
                  fmt::format("it was clamped to {} × {} outcomes; {} × {} are expected (samples × units)",
                              outcomes.rows(), outcomes.cols(), state.samples, at.shape.units),
              .help = {"give one row per sample and one column per unit"}});
    for (std::ptrdiff_t unit = 0; unit < outcomes.cols(); ++unit)
      for (std::ptrdiff_t i = 0; i < outcomes.rows(); ++i)
        if (outcomes(i, unit) < 0 || outcomes(i, unit) >= at.shape.outcome_count())
          refuse(
              {.code = "clamp-outcome",
               .node = at.name,
               .message = fmt::format("sample {}, unit {} was clamped to outcome {}; it has outcomes 0 to {}",
                                      i, unit, outcomes(i, unit), at.shape.outcome_count() - 1),
               .help = {"clamp to the index of the outcome, not to its value"}});
  }
  for (const auto& [node, outcomes] : clamps) {
    const Placement& at = layout.placements[index(node)];
    for (std::ptrdiff_t unit = 0; unit < outcomes.cols(); ++unit) {
      const std::size_t row = at.unit_row + static_cast<std::size_t>(unit);
      state.clamped[row] = 1;
      for (std::ptrdiff_t i = 0; i < outcomes.rows(); ++i)
        state.outcomes[row * state.stride + static_cast<std::size_t>(i)] = outcomes(i, unit);
    }
  }
}

template <class S>
void refuse_impossible_clamps(const Pass<S>& pass, std::span<const ClampedOutcomes> clamps) {
  const RunState<S>& state = pass.state;
  for (const auto& [node, outcomes] : clamps) {
    const Placement& at = pass.plan.layout.placements[index(node)];
    for (std::ptrdiff_t unit = 0; unit < outcomes.cols(); ++unit)
      for (std::ptrdiff_t i = 0; i < outcomes.rows(); ++i) {
        const std::size_t row =
            at.table_row + static_cast<std::size_t>(unit * at.shape.outcome_count() + outcomes(i, unit));
        if (state.log_probs[row * state.stride + static_cast<std::size_t>(i)] ==
            -std::numeric_limits<S>::infinity())
          refuse({.code = "impossible-clamp",
                  .node = at.name,
                  .message = fmt::format(
                      "sample {}, unit {} was clamped to outcome {}, which has probability 0 there", i, unit,
                      outcomes(i, unit)),
                  .help = {"clamp to an outcome that can occur"}});
      }
  }
}

template <class S>
void load_rewards(const Pass<S>& pass, std::span<const RewardValues<S>> rewards) {
  RunState<S>& state = pass.state;
  const std::vector<RewardPlan>& plans = pass.plan.rewards;
  check_bindings(
      rewards, plans.size(), state.given, {"unknown-reward", "reward", "a value"},
      [](const auto& given) { return given.reward.index; }, [&](std::size_t i) { return plans[i].name; });
  for (std::size_t r = 0; r < plans.size(); ++r)
    if (const bool known = plans[r].is_known(); known && state.given[r])
      refuse({.code = "known-reward-given",
              .message = fmt::format("reward '{}' is known: it is worked out, not given", plans[r].name),
              .help = {fmt::format("run.rewards({})   // what it was, after model.backward(run, …)",
                                   plans[r].name)}});
    else if (!known && !state.given[r])
      refuse({.code = "missing-reward",
              .message = fmt::format("reward '{}' was not given", plans[r].name),
              .help = {fmt::format("model.backward(run, {{{{{}, values}}}});", plans[r].name)}});
  for (const auto& [reward, values] : rewards) {
    const std::string& name = plans[index(reward)].name;
    if (values.rows() * values.cols() != state.samples ||
        (values.rows() != state.samples && values.cols() != state.samples))
      refuse({.code = "reward-length",
              .message = fmt::format("reward '{}' was given {} × {} values for {} samples", name,
                                     values.rows(), values.cols(), state.samples),
              .help = {"give one value per sample of the last forward pass"}});
    for (int i = 0; i < state.samples; ++i) {
      const S value = values.cols() == 1 ? values(i, 0) : values(0, i);
      if (!std::isfinite(value))
        refuse({.code = "reward-not-finite",
                .message = fmt::format("reward '{}' is {} in sample {}", name, value, i),
                .help = {"give finite rewards; use 0 where there is none"}});
    }
  }
  for (const auto& [reward, values] : rewards) {
    S* const row = state.rewards.data() + index(reward) * state.stride;
    for (int i = 0; i < state.samples; ++i) row[i] = values.cols() == 1 ? values(i, 0) : values(0, i);
  }
}

template void load_inputs(const Pass<float>&, std::span<const InputValues<float>>, int);
template void load_inputs(const Pass<double>&, std::span<const InputValues<double>>, int);
template void clamp(const Pass<float>&, std::span<const ClampedOutcomes>);
template void clamp(const Pass<double>&, std::span<const ClampedOutcomes>);
template void refuse_impossible_clamps(const Pass<float>&, std::span<const ClampedOutcomes>);
template void refuse_impossible_clamps(const Pass<double>&, std::span<const ClampedOutcomes>);
template void load_rewards(const Pass<float>&, std::span<const RewardValues<float>>);
template void load_rewards(const Pass<double>&, std::span<const RewardValues<double>>);

}  // namespace hindsight::internal
