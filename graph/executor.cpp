#include <hindsight/graph/executor.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/vector_kernels.hpp>
#include <hindsight/graph/parallel.hpp>

namespace hindsight {

template <class S>
BasicWorkspace<S> Executor<S>::make_workspace(std::shared_ptr<const Plan<S>> plan, int capacity,
                                              const WorkspaceOptions& options) {
  return BasicWorkspace<S>(std::move(plan), capacity, options);
}

template <class S>
void Executor<S>::forward(std::span<const InputValues<S>> inputs, const ForwardOptions& options) {
  check_owner();
  run_.forwarded_ = false;
  load_inputs(inputs, options.samples);
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
    refuse({.code = "no-forward",
            .message = "there is nothing to go back over: no forward pass has succeeded in this workspace",
            .help = {"model.forward(run, …);   // before model.backward(run, …)"}});
  if (options.of < 0 || (options.of > 0 && options.of < run_.samples_))
    refuse({.code = "batch-size",
            .message = fmt::format("{} samples cannot be a part of a batch of {}", run_.samples_, options.of),
            .help = {".of = the samples of all parts together"}});
  if (options.continues && !run_.sum_is_whole_)
    refuse({.code = "broken-sum",
            .message = "there is no sum to continue: the backward pass of an earlier part failed half-way",
            .help = {"run all parts again, the first without .continues"}});
  load_rewards(rewards);
  const S each = S(1) / static_cast<S>(options.of > 0 ? options.of : run_.samples_);
  std::fill(run_.shares_.begin(), run_.shares_.end(), each);
  make_signals();
  send_messages();
  make_weights();
  learn_baselines();
  accumulate(options.continues);
  run_.baselines_.swap(run_.learned_);
}

template <class S>
void Executor<S>::check_owner() const {
  if (run_.plan_.get() != &plan_)
    refuse({.code = "foreign-workspace",
            .message = "this workspace was made by another model; its arrays do not fit this one",
            .help = {"auto run = model.workspace(batch);   // from the model that uses it"}});
}

template <class S>
Frame<S> Executor<S>::frame(int chunk, int worker) const {
  const auto thread = static_cast<std::size_t>(worker);
  const auto first = static_cast<std::size_t>(chunk) * chunk_samples;
  const int samples = std::min(chunk_samples, run_.samples_ - chunk * chunk_samples);
  constexpr int padding = static_cast<int>(lane_padding);
  Frame<S> frame{
      .parameters = parameters_.data(),
      .gradient = run_.gradient_.data(),
      .features = run_.features_.data() + first,
      .slopes = run_.slopes_.empty() ? nullptr : run_.slopes_.data() + first,
      .outcomes = run_.outcomes_.data() + first,
      .log_probs = run_.log_probs_.data() + first,
      .evidence = run_.evidence_.data() + first,
      .weights = run_.weights_.data() + first,
      .outcome_bits = run_.outcome_bits_.empty()
                          ? nullptr
                          : run_.outcome_bits_.data() + static_cast<std::size_t>(chunk) * plan_.unit_rows,
      .clamped = run_.clamped_.data(),
      .scratch = run_.scratch_.data() + thread * run_.scratch_stride_,
      .outcome_scratch = run_.outcome_scratch_.data() + thread * run_.outcome_scratch_stride_,
      .stride = run_.stride_,
      .lanes = (samples + padding - 1) / padding * padding,
      .samples = samples,
      .seed = plan_.seed,
      .position = run_.position_,
      .instructions = plan_.instructions};
  frame.position.first_sample += static_cast<std::uint32_t>(first);
  return frame;
}

template <class S>
void Executor<S>::sample() {
  for_each_item(chunks(), run_.threads_, [&](int chunk, int worker) {
    const Frame<S> at = frame(chunk, worker);
    for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
      guarded_call({"node-threw", nullptr, "the forward of a block"}, [&] { plan_.blocks[b]->forward(at); });
      pack_outcomes(at, plan_.packed_after[b]);
    }
    refuse_nan(chunk);
  });
}

template <class S>
void Executor<S>::pack_outcomes(const Frame<S>& at, const RowRange& rows) const {
  if (rows.first < rows.last)
    vector_kernels<S>(at.instructions)
        .pack_outcomes(at.outcome(rows.first), at.stride, rows.last - rows.first, at.lanes,
                       at.outcome_bits + rows.first);
}

template <class S>
void Executor<S>::refuse_nan(int chunk) const {
  const Frame<S> at = frame(chunk, 0);
  for (const RowRange& rows : plan_.sloped)
    if (vector_kernels<S>(at.instructions)
            .any_nan(at.feature(rows.first), at.stride, rows.last - rows.first,
                     static_cast<std::size_t>(at.samples)))
      blame_function(at, rows);
  if (!vector_kernels<S>(at.instructions)
           .any_nan(at.log_probs, at.stride, plan_.table_rows, static_cast<std::size_t>(at.samples)))
    return;
  for (std::size_t row = 0; row < plan_.table_rows; ++row) {
    const S* const values = at.log_prob(row);
    const S* const bad = std::find_if(values, values + at.samples, [](S value) { return std::isnan(value); });
    if (bad != values + at.samples) blame(row, chunk * chunk_samples + static_cast<int>(bad - values));
  }
}

template <class S>
const Placement& Executor<S>::owner(std::size_t table_row) const {
  return *std::find_if(plan_.placements.begin(), plan_.placements.end(), [&](const Placement& at) {
    const auto rows =
        static_cast<std::size_t>(at.shape.units) * static_cast<std::size_t>(at.shape.outcomes());
    return table_row >= at.table_row && table_row < at.table_row + rows;
  });
}

template <class S>
void Executor<S>::blame_function(const Frame<S>& frame, const RowRange& rows) const {
  for (const Placement& at : plan_.placements) {
    if (at.feature_row < rows.first || at.feature_row >= rows.last) continue;
    for (std::size_t unit = 0; unit < static_cast<std::size_t>(at.shape.units); ++unit) {
      const S* const values = frame.feature(at.feature_row + unit);
      if (std::none_of(values, values + frame.samples, [](S value) { return std::isnan(value); })) continue;
      refuse_bad_parameter(at);
      refuse({.code = "value-not-a-number",
              .node = at.name,
              .message = fmt::format(
                  "the value of its unit {} is not a number, though its parameters are finite", unit),
              .help = {"sums have overflowed or evaluate is wrong: scale the inputs, or check it by finite "
                       "differences"}});
    }
  }
}

template <class S>
void Executor<S>::refuse_bad_parameter(const Placement& at) const {
  for (const ParameterPlace& place : plan_.parameters) {
    if (place.first < at.first_parameter) continue;
    if (place.first >= at.first_parameter + at.shape.parameter_count()) break;
    for (std::size_t i = 0; i < place.rows * place.cols; ++i)
      if (const S value = parameters_[place.first + i]; !std::isfinite(value))
        refuse({.code = "parameter-not-finite",
                .node = at.name,
                .message = fmt::format("parameter {} of '{}' is {}", i, place.path, value),
                .help = {"lower the learning rate, or load good parameters: learning has diverged"}});
  }
}

template <class S>
void Executor<S>::blame(std::size_t table_row, int sample) const {
  const Placement& at = owner(table_row);
  refuse_bad_parameter(at);
  refuse(
      {.code = "log-probs-not-finite",
       .node = at.name,
       .message = fmt::format(
           "its log-probabilities are not numbers in sample {}, though its parameters are finite", sample),
       .help = {"logits have overflowed or log_probs is wrong: scale the inputs, or check the node by finite "
                "differences"}});
}

template <class S>
void Executor<S>::share(std::span<const S> shares) {
  std::copy(shares.begin(), shares.end(), run_.shares_.begin());
}

template <class S>
void Executor<S>::prepare_tables() {
  for_each_item(static_cast<int>(run_.table_slices_.size()), run_.threads_, [&](int item, int worker) {
    const auto& slice = run_.table_slices_[static_cast<std::size_t>(item)];
    Frame<S> at = frame(0, worker);
    at.tables = run_.tables_.data() + plan_.first_table[slice.block];
    guarded_call({"node-threw", nullptr, "the prepare of a block"},
                 [&] { plan_.blocks[slice.block]->prepare(at, slice.first, slice.last); });
  });
}

template <class S>
void Executor<S>::send_messages() {
  prepare_tables();
  for_each_item(chunks(), run_.threads_, [&](int chunk, int worker) {
    Frame<S> at = frame(chunk, worker);
    for (const RowRange& rows : plan_.told)
      for (std::size_t row = rows.first; row < rows.last; ++row)
        std::fill_n(at.evidence_of(row), at.lanes, S(0));
    for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
      at.tables = run_.tables_.data() + plan_.first_table[b];
      guarded_call({"node-threw", nullptr, "the send_messages of a block"},
                   [&] { plan_.blocks[b]->send_messages(at); });
    }
    const Frame<S> trial = plan_.tries_chunks() ? trial_frame(at, worker) : at;
    for (const Reevaluation<S>& reevaluation : plan_.reevaluations)
      guarded_call({"node-threw", nullptr, "the forward of a block"}, [&] { reevaluation.send(at, trial); });
    if (!plan_.eliminations.empty()) eliminate(at, trial, chunk, worker);
  });
}

template <class S>
void Executor<S>::eliminate(const Frame<S>& at, const Frame<S>& trial, int chunk, int worker) {
  const std::size_t per_thread = run_.elimination_tables_.size() / static_cast<std::size_t>(run_.threads_);
  guarded_call({"node-threw", nullptr, "the forward or the factors of a block"}, [&] {
    plan_.eliminations.run(at, trial,
                           run_.eliminated_evidence_.data() + static_cast<std::size_t>(chunk) * chunk_samples,
                           run_.elimination_tables_.data() + static_cast<std::size_t>(worker) * per_thread);
  });
}

template <class S>
Frame<S> Executor<S>::trial_frame(const Frame<S>& at, int worker) {
  const auto thread = static_cast<std::size_t>(worker);
  Frame<S> trial = at;
  trial.stride = chunk_samples;
  trial.features = run_.trial_features_.data() + thread * plan_.feature_rows * chunk_samples;
  trial.log_probs = run_.trial_log_probs_.data() + thread * plan_.table_rows * chunk_samples;
  trial.outcomes = run_.trial_outcomes_.data() + thread * plan_.unit_rows * chunk_samples;
  trial.clamped = run_.all_clamped_.data();
  trial.slopes = trial.evidence = trial.weights =
      nullptr;  // of another stride, and of no use to a forward pass
  for (std::size_t row = 0; row < plan_.feature_rows; ++row)
    std::copy_n(at.feature(row), at.lanes, trial.feature(row));
  for (std::size_t row = 0; row < plan_.unit_rows; ++row)
    std::copy_n(at.outcome(row), at.lanes, trial.outcome(row));
  if (at.outcome_bits) {
    trial.outcome_bits = run_.trial_bits_.data() + thread * plan_.unit_rows;
    std::copy_n(at.outcome_bits, plan_.unit_rows, trial.outcome_bits);
  }
  return trial;
}

template <class S>
void Executor<S>::forget_evidence(int sample) {
  for (std::size_t row = 0; row < plan_.table_rows; ++row)
    run_.evidence_[row * run_.stride_ + static_cast<std::size_t>(sample)] = 0;
  for (std::size_t row = 0; row < plan_.eliminations.evidence_rows(); ++row)
    run_.eliminated_evidence_[row * run_.stride_ + static_cast<std::size_t>(sample)] = 0;
}

template <class S>
void Executor<S>::make_weights() {
  std::fill(run_.weights_.begin(), run_.weights_.end(), S(0));
  for_each_item(chunks(), run_.threads_, [&](int chunk, int worker) {
    const Frame<S> at = frame(chunk, worker);
    const Frame<S> trial = plan_.candidates.empty() ? at : trial_frame(at, worker);
    S* const candidates = run_.candidate_signals_.data() +
                          static_cast<std::size_t>(worker) * plan_.candidate_rows * chunk_samples;
    for (const CreditRun& credit : plan_.credits) {
      if (credit.candidates) ask_candidates(credit, at, trial, chunk, candidates);
      const std::size_t first = static_cast<std::size_t>(chunk) * chunk_samples;
      const LocalView<S> view{
          .units = credit.units,
          .outcomes = credit.outcomes,
          .samples = at.samples,
          .stride = at.stride,
          .log_probs = at.log_prob(credit.table_row),
          .sampled = at.outcome(credit.unit_row),
          .evidence = credit.eliminated_row
                          ? run_.eliminated_evidence_.data() + *credit.eliminated_row * run_.stride_ + first
                          : at.evidence_of(credit.table_row),
          .signal = run_.signals_.data() + credit.signal * run_.stride_ + first,
          .candidate_signals = credit.candidates ? candidates : nullptr,
          .candidate_stride = chunk_samples,
          .instructions = at.instructions};
      guarded_call({"estimator-threw", &credit.node, "its estimator"}, [&] {
        credit.estimator.add_weights(view, WeightTable<S>{&view, at.weight(credit.table_row)});
      });
      check_weights(at, credit);
    }
  });
  backpropagate(plan_.pathwise);
}

template <class S>
void Executor<S>::check_weights(const Frame<S>& at, const CreditRun& credit) const {
  const auto rows = static_cast<std::size_t>(credit.units) * static_cast<std::size_t>(credit.outcomes);
  if (vector_kernels<S>(at.instructions)
          .all_finite(at.weight(credit.table_row), at.stride, rows, static_cast<std::size_t>(at.samples)))
    return;
  for (std::size_t row = credit.table_row; row < credit.table_row + rows; ++row) {
    const S* const weights = at.weight(row);
    const S* const bad =
        std::find_if(weights, weights + at.samples, [](S value) { return !std::isfinite(value); });
    if (bad != weights + at.samples)
      refuse({.code = "weights-not-finite",
              .node = owner(row).name,
              .message = fmt::format(
                  "its estimator {} gave the weight {} in sample {} for {}", credit.estimator.name(), *bad,
                  bad - (run_.weights_.data() + row * run_.stride_),
                  credit.reward == CreditRun::all_rewards
                      ? "all rewards"
                      : fmt::format("reward '{}'", plan_.rewards[static_cast<std::size_t>(credit.reward)])),
              .help = {"check add_weights: it must give finite weights for finite signals"}});
  }
}

template <class S>
std::size_t Executor<S>::sampled_entry(const Placement& at, std::size_t unit, std::size_t sample) const {
  const auto outcome = static_cast<std::size_t>(run_.outcomes_[(at.unit_row + unit) * run_.stride_ + sample]);
  const auto outcomes = static_cast<std::size_t>(at.shape.outcomes());
  return (at.table_row + unit * outcomes + outcome) * run_.stride_ + sample;
}

template <class S>
void Executor<S>::make_score_weights() {
  std::fill(run_.weights_.begin(), run_.weights_.end(), S(0));
  for (std::size_t n = 0; n < plan_.placements.size(); ++n) {
    if (!plan_.is_stochastic(n)) continue;
    const Placement& at = plan_.placements[n];
    for (std::size_t unit = 0; unit < static_cast<std::size_t>(at.shape.units); ++unit)
      for (std::size_t i = 0; i < static_cast<std::size_t>(run_.samples_); ++i) {
        S& weight = run_.weights_[sampled_entry(at, unit, i)];
        for (std::size_t r = 0; r < plan_.rewards.size(); ++r)
          weight += run_.rewards_[r * run_.stride_ + i] * run_.shares_[i];
      }
  }
  backpropagate({});
}

template <class S>
void Executor<S>::accumulate(bool continues) {
  run_.sum_is_whole_ = false;
  for_each_item(static_cast<int>(run_.row_slices_.size()), run_.threads_, [&](int item, int worker) {
    const auto& slice = run_.row_slices_[static_cast<std::size_t>(item)];
    for (int chunk = 0; chunk < chunks(); ++chunk) {
      Frame<S> at = frame(chunk, worker);
      at.starts_sum = chunk == 0 && !continues;
      guarded_call({"node-threw", nullptr, "the accumulate of a block"},
                   [&] { plan_.blocks[slice.block]->accumulate(at, slice.first, slice.last); });
    }
  });
  run_.sum_is_whole_ = true;
}

template <class S>
double Executor<S>::log_probability(int sample) const {
  double total = 0;
  for (std::size_t n = 0; n < plan_.placements.size(); ++n) {
    if (!plan_.is_stochastic(n)) continue;
    const Placement& at = plan_.placements[n];
    for (std::size_t unit = 0; unit < static_cast<std::size_t>(at.shape.units); ++unit)
      total +=
          static_cast<double>(run_.log_probs_[sampled_entry(at, unit, static_cast<std::size_t>(sample))]);
  }
  return total;
}

template class Executor<float>;
template class Executor<double>;

}  // namespace hindsight
