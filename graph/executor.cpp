#include <hindsight/graph/executor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>

namespace hindsight {
namespace {

[[noreturn]] void refuse(const char* code, const std::string& node, std::string message, std::string help) {
  throw Error(
      Diagnostic{.code = code, .node = node, .message = std::move(message), .help = {std::move(help)}});
}

/// Every index below `count` must be bound once, and nothing else.
template <class Bindings, class Index, class Name>
void check_bound_once(const Bindings& bindings, std::size_t count, const Index& index_of, const Name& name_of,
                      const char* what) {
  for (auto at = bindings.begin(); at != bindings.end(); ++at) {
    const int index = index_of(*at);
    if (index < 0 || static_cast<std::size_t>(index) >= count)
      refuse("unknown-node", "",
             fmt::format("{} number {} does not exist; the model has {}", what, index, count),
             "use the id that the graph returned when it was added");
    const auto same = [&](const auto& other) { return index_of(other) == index; };
    if (std::any_of(bindings.begin(), at, same))
      refuse("given-twice", name_of(static_cast<std::size_t>(index)),
             fmt::format("this {} is given twice", what), "give it once");
  }
}

}  // namespace

template <class S>
BasicWorkspace<S> Executor<S>::make_workspace(std::shared_ptr<const Plan<S>> plan, int capacity) {
  return BasicWorkspace<S>(std::move(plan), capacity);
}

template <class S>
void Executor<S>::forward(std::span<const InputValues<S>> inputs, const ForwardOptions& options) {
  check_owner();
  run_.forwarded_ = false;
  load_inputs(inputs);
  clamp(options.clamp);
  sample();
  refuse_impossible_clamps(options.clamp);
  ++run_.position_.step;
  run_.forwarded_ = true;
}

template <class S>
void Executor<S>::backward(std::span<const RewardValues<S>> rewards, const BackwardOptions& options) {
  check_owner();
  if (!run_.forwarded_)
    refuse("no-forward", "",
           "there is nothing to go back over: no forward pass has succeeded in this workspace",
           "model.forward(run, …);   // before model.backward(run, …)");
  if (options.of < 0 || (options.of > 0 && options.of < run_.samples_))
    refuse("batch-size", "",
           fmt::format("{} samples cannot be a part of a batch of {}", run_.samples_, options.of),
           ".of = the samples of all parts together");
  load_rewards(rewards);
  const S each = S(1) / static_cast<S>(options.of > 0 ? options.of : run_.samples_);
  for (S& signal : run_.signals_) signal *= each;
  send_messages();
  make_weights();
  accumulate(options.continues);
}

template <class S> void Executor<S>::check_owner() const {
  if (run_.plan_.get() != &plan_)
    refuse("foreign-workspace", "",
           "this workspace was made by another model; its arrays do not fit this one",
           "Workspace run = model.workspace(batch);   // from the model that uses it");
}

template <class S> void Executor<S>::load_inputs(std::span<const InputValues<S>> inputs) {
  check_bound_once(
      inputs, plan_.placements.size(), [](const auto& given) { return given.node.index; },
      [&](std::size_t i) { return plan_.placements[i].name; }, "input");
  std::ptrdiff_t samples = inputs.empty() ? run_.capacity_ : inputs.front().values.rows();
  for (std::size_t i = 0; i < plan_.placements.size(); ++i) {
    const auto given = [&](const InputValues<S>& values) {
      return static_cast<std::size_t>(values.node.index) == i;
    };
    if (plan_.is_input[i] && std::none_of(inputs.begin(), inputs.end(), given))
      refuse("missing-input", plan_.placements[i].name, "this input was not given",
             fmt::format("model.forward(run, {{{{{}, values}}}});", plan_.placements[i].name));
  }
  for (const auto& [node, values] : inputs) {
    const Placement& at = plan_.placements[static_cast<std::size_t>(node.index)];
    if (!plan_.is_input[static_cast<std::size_t>(node.index)])
      refuse("not-an-input", at.name, "it is sampled, not given",
             fmt::format("model.forward(run, inputs, {{.clamp = {{{{{}, outcomes}}}}}});", at.name));
    if (values.cols() != at.shape.units || values.rows() != samples)
      refuse("input-shape", at.name,
             fmt::format("it was given {} × {} values; {} × {} are expected (samples × units)", values.rows(),
                         values.cols(), samples, at.shape.units),
             "give all inputs the same number of rows, one per sample, and one column per unit");
    if (samples < 1 || samples > run_.capacity_)
      refuse("batch-size", at.name,
             fmt::format("it was given {} samples; this workspace runs 1 to {}", samples, run_.capacity_),
             fmt::format("Workspace run = model.workspace({});", std::max<std::ptrdiff_t>(samples, 1)));
    for (std::ptrdiff_t unit = 0; unit < values.cols(); ++unit)
      for (std::ptrdiff_t i = 0; i < samples; ++i)
        if (!std::isfinite(values(i, unit)))
          refuse("input-not-finite", at.name,
                 fmt::format("its value in sample {}, unit {} is {}", i, unit, values(i, unit)),
                 "clean the data: inputs must be finite numbers");
  }
  run_.samples_ = static_cast<int>(samples);
  for (const auto& [node, values] : inputs) {
    const Placement& at = plan_.placements[static_cast<std::size_t>(node.index)];
    for (std::ptrdiff_t unit = 0; unit < values.cols(); ++unit) {
      S* const row = run_.features_.data() + (at.feature_row + static_cast<std::size_t>(unit)) * run_.stride_;
      for (std::ptrdiff_t i = 0; i < samples; ++i) row[i] = values(i, unit);
      std::fill(row + samples, row + run_.stride_, S(0));
    }
  }
}

template <class S> void Executor<S>::clamp(std::span<const ClampedOutcomes> clamps) {
  check_bound_once(
      clamps, plan_.placements.size(), [](const auto& given) { return given.node.index; },
      [&](std::size_t i) { return plan_.placements[i].name; }, "clamped node");
  std::fill(run_.clamped_.begin(), run_.clamped_.end(), std::uint8_t{0});
  for (const auto& [node, outcomes] : clamps) {
    const Placement& at = plan_.placements[static_cast<std::size_t>(node.index)];
    if (plan_.is_input[static_cast<std::size_t>(node.index)])
      refuse("clamped-input", at.name, "it is an input: it is given, not clamped",
             fmt::format("model.forward(run, {{{{{}, values}}}});", at.name));
    if (outcomes.rows() != run_.samples_ || outcomes.cols() != at.shape.units)
      refuse("clamp-shape", at.name,
             fmt::format("it was clamped to {} × {} outcomes; {} × {} are expected (samples × units)",
                         outcomes.rows(), outcomes.cols(), run_.samples_, at.shape.units),
             "give one row per sample and one column per unit");
    for (std::ptrdiff_t unit = 0; unit < outcomes.cols(); ++unit)
      for (std::ptrdiff_t i = 0; i < outcomes.rows(); ++i)
        if (outcomes(i, unit) < 0 || outcomes(i, unit) >= at.shape.outcomes())
          refuse("clamp-outcome", at.name,
                 fmt::format("sample {}, unit {} was clamped to outcome {}; it has outcomes 0 to {}", i, unit,
                             outcomes(i, unit), at.shape.outcomes() - 1),
                 "clamp to the index of the outcome, not to its value");
  }
  for (const auto& [node, outcomes] : clamps) {
    const Placement& at = plan_.placements[static_cast<std::size_t>(node.index)];
    for (std::ptrdiff_t unit = 0; unit < outcomes.cols(); ++unit) {
      const std::size_t row = at.unit_row + static_cast<std::size_t>(unit);
      run_.clamped_[row] = 1;
      for (std::ptrdiff_t i = 0; i < outcomes.rows(); ++i)
        run_.outcomes_[row * run_.stride_ + static_cast<std::size_t>(i)] = outcomes(i, unit);
    }
  }
}

template <class S> Frame<S> Executor<S>::frame(int chunk) const {
  const auto first = static_cast<std::size_t>(chunk) * chunk_samples;
  const int samples = std::min(chunk_samples, run_.samples_ - chunk * chunk_samples);
  constexpr int padding = static_cast<int>(lane_padding);
  Frame<S> frame{.parameters = parameters_.data(),
                 .gradient = run_.gradient_.data(),
                 .features = run_.features_.data() + first,
                 .outcomes = run_.outcomes_.data() + first,
                 .log_probs = run_.log_probs_.data() + first,
                 .evidence = run_.evidence_.data() + first,
                 .weights = run_.weights_.data() + first,
                 .clamped = run_.clamped_.data(),
                 .scratch = run_.scratch_.data(),
                 .outcome_scratch = run_.outcome_scratch_.data(),
                 .stride = run_.stride_,
                 .lanes = (samples + padding - 1) / padding * padding,
                 .samples = samples,
                 .seed = plan_.seed,
                 .position = run_.position_};
  frame.position.first_sample += static_cast<std::uint32_t>(first);
  return frame;
}

template <class S> void Executor<S>::sample() {
  for (int chunk = 0; chunk < chunks(); ++chunk)
    for (const auto& block : plan_.blocks) block->forward(frame(chunk));
  for (std::size_t row = 0; row < plan_.table_rows; ++row) {
    const S* const values = run_.log_probs_.data() + row * run_.stride_;
    const S* const bad =
        std::find_if(values, values + run_.samples_, [](S value) { return std::isnan(value); });
    if (bad != values + run_.samples_) blame(row, static_cast<int>(bad - values));
  }
}

template <class S> void Executor<S>::blame(std::size_t table_row, int sample) const {
  for (std::size_t i = 0; i < plan_.placements.size(); ++i) {
    const Placement& at = plan_.placements[i];
    const auto rows =
        static_cast<std::size_t>(at.shape.units) * static_cast<std::size_t>(at.shape.outcomes());
    if (plan_.is_input[i] || table_row < at.table_row || table_row >= at.table_row + rows) continue;
    for (const ParameterPlace& place : plan_.parameters)
      for (std::size_t p = place.first; p < place.first + place.rows * place.cols; ++p)
        if (p >= at.first_parameter && p < at.first_parameter + at.shape.parameter_count() &&
            !std::isfinite(parameters_[p]))
          refuse("parameter-not-finite", at.name,
                 fmt::format("parameter {} of '{}' is {}", p - place.first, place.path, parameters_[p]),
                 "lower the learning rate, or load good parameters: learning has diverged");
    refuse("log-probs-not-finite", at.name,
           fmt::format("its log-probabilities are not numbers in sample {}, though its parameters are finite",
                       sample),
           "logits have overflowed or log_probs is wrong: scale the inputs, or check the node with finite "
           "differences");
  }
  refuse("log-probs-not-finite", "", "log-probabilities are not numbers", "report this graph");
}

template <class S> void Executor<S>::refuse_impossible_clamps(std::span<const ClampedOutcomes> clamps) const {
  for (const auto& [node, outcomes] : clamps) {
    const Placement& at = plan_.placements[static_cast<std::size_t>(node.index)];
    for (std::ptrdiff_t unit = 0; unit < outcomes.cols(); ++unit)
      for (std::ptrdiff_t i = 0; i < outcomes.rows(); ++i) {
        const std::size_t row =
            at.table_row + static_cast<std::size_t>(unit * at.shape.outcomes() + outcomes(i, unit));
        if (run_.log_probs_[row * run_.stride_ + static_cast<std::size_t>(i)] ==
            -std::numeric_limits<S>::infinity())
          refuse("impossible-clamp", at.name,
                 fmt::format("sample {}, unit {} was clamped to outcome {}, which has probability 0 there", i,
                             unit, outcomes(i, unit)),
                 "clamp to an outcome that can occur");
      }
  }
}

template <class S> void Executor<S>::load_rewards(std::span<const RewardValues<S>> rewards) {
  check_bound_once(
      rewards, plan_.rewards.size(), [](const auto& given) { return given.reward.index; },
      [&](std::size_t i) { return plan_.rewards[i]; }, "reward");
  for (std::size_t r = 0; r < plan_.rewards.size(); ++r) {
    const auto given = [&](const RewardValues<S>& values) {
      return static_cast<std::size_t>(values.reward.index) == r;
    };
    if (std::none_of(rewards.begin(), rewards.end(), given))
      refuse("missing-reward", "", fmt::format("reward '{}' was not given", plan_.rewards[r]),
             fmt::format("model.backward(run, {{{{{}, values}}}});", plan_.rewards[r]));
  }
  for (const auto& [reward, values] : rewards) {
    const std::string& name = plan_.rewards[static_cast<std::size_t>(reward.index)];
    if (values.rows() * values.cols() != run_.samples_ ||
        (values.rows() != run_.samples_ && values.cols() != run_.samples_))
      refuse("reward-length", "",
             fmt::format("reward '{}' was given {} × {} values for {} samples", name, values.rows(),
                         values.cols(), run_.samples_),
             "give one value per sample of the last forward pass");
    for (int i = 0; i < run_.samples_; ++i) {
      const S value = values.cols() == 1 ? values(i, 0) : values(0, i);
      if (!std::isfinite(value))
        refuse("reward-not-finite", "", fmt::format("reward '{}' is {} in sample {}", name, value, i),
               "give finite rewards; use 0 where there is none");
    }
  }
  for (const auto& [reward, values] : rewards)
    for (int i = 0; i < run_.samples_; ++i)
      run_.signals_[static_cast<std::size_t>(reward.index) * run_.stride_ + static_cast<std::size_t>(i)] =
          values.cols() == 1 ? values(i, 0) : values(0, i);
}

template <class S> void Executor<S>::share(std::span<const S> shares) {
  for (std::size_t r = 0; r < plan_.rewards.size(); ++r)
    for (std::size_t i = 0; i < shares.size(); ++i) run_.signals_[r * run_.stride_ + i] *= shares[i];
}

template <class S> void Executor<S>::send_messages() {
  std::fill(run_.evidence_.begin(), run_.evidence_.end(), S(0));
  for (int chunk = 0; chunk < chunks(); ++chunk)
    for (const auto& block : plan_.blocks) block->send_messages(frame(chunk));
}

template <class S> void Executor<S>::make_weights() {
  std::fill(run_.weights_.begin(), run_.weights_.end(), S(0));
  for (int chunk = 0; chunk < chunks(); ++chunk) {
    const Frame<S> at = frame(chunk);
    for (const CreditRun& credit : plan_.credits) {
      const LocalView<S> view{.units = credit.units,
                              .outcomes = credit.outcomes,
                              .samples = at.samples,
                              .stride = at.stride,
                              .log_probs = at.log_prob(credit.table_row),
                              .sampled = at.outcome(credit.unit_row),
                              .evidence = at.evidence_of(credit.table_row),
                              .signal = run_.signals_.data() +
                                        static_cast<std::size_t>(credit.reward) * run_.stride_ +
                                        static_cast<std::size_t>(chunk) * chunk_samples};
      try {
        credit.estimator.add_weights(view, WeightTable<S>{&view, at.weight(credit.table_row)});
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const std::exception& problem) {
        refuse("estimator-threw", credit.node,
               fmt::format("its estimator {} threw: {}", credit.estimator.name(), problem.what()),
               "make add_weights total: it must answer for every outcome, evidence and signal");
      }
    }
  }
}

template <class S> void Executor<S>::make_score_weights() {
  std::fill(run_.weights_.begin(), run_.weights_.end(), S(0));
  for (std::size_t n = 0; n < plan_.placements.size(); ++n) {
    if (plan_.is_input[n]) continue;
    const Placement& at = plan_.placements[n];
    for (std::size_t unit = 0; unit < static_cast<std::size_t>(at.shape.units); ++unit)
      for (std::size_t i = 0; i < static_cast<std::size_t>(run_.samples_); ++i) {
        const auto outcome =
            static_cast<std::size_t>(run_.outcomes_[(at.unit_row + unit) * run_.stride_ + i]);
        S& weight =
            run_.weights_[(at.table_row + unit * static_cast<std::size_t>(at.shape.outcomes()) + outcome) *
                              run_.stride_ +
                          i];
        for (std::size_t r = 0; r < plan_.rewards.size(); ++r) weight += run_.signals_[r * run_.stride_ + i];
      }
  }
}

template <class S> void Executor<S>::accumulate(bool continues) {
  if (!continues) std::fill(run_.gradient_.begin(), run_.gradient_.end(), S(0));
  for (const auto& block : plan_.blocks)
    for (int chunk = 0; chunk < chunks(); ++chunk) block->accumulate(frame(chunk), 0, block->rows());
}

template <class S> double Executor<S>::log_probability(int sample) const {
  double total = 0;
  for (std::size_t n = 0; n < plan_.placements.size(); ++n) {
    if (plan_.is_input[n]) continue;
    const Placement& at = plan_.placements[n];
    for (std::size_t unit = 0; unit < static_cast<std::size_t>(at.shape.units); ++unit) {
      const auto outcome = static_cast<std::size_t>(
          run_.outcomes_[(at.unit_row + unit) * run_.stride_ + static_cast<std::size_t>(sample)]);
      const std::size_t row = at.table_row + unit * static_cast<std::size_t>(at.shape.outcomes()) + outcome;
      total += static_cast<double>(run_.log_probs_[row * run_.stride_ + static_cast<std::size_t>(sample)]);
    }
  }
  return total;
}

template class Executor<float>;
template class Executor<double>;

}  // namespace hindsight
