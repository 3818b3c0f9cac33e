#pragma once

#include <algorithm>
#include <span>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/parallel.hpp>
#include <hindsight/graph/run_state.hpp>

namespace hindsight::internal {

/// One batch on its way through a plan. The steps of a pass are functions of it, each in the file that says
/// what it does; `forward` and `backward` are their order, and the exact oracle uses the same.
template <class S>
struct Pass {
  const Plan<S>& plan;
  std::span<const S> parameters;
  RunState<S>& state;
  std::span<const int> input_rows = {};  ///< what rewards call the rows of the inputs; none: by their numbers

  /// Refuses a workspace of another model.
  void check_owner() const;

  int chunks() const { return static_cast<int>(chunks_of(state.samples)); }
  /// What a block sees of one chunk on one of the workspace's threads.
  Frame<S> frame(int chunk, int worker) const;
  /// A clamped copy of the chunk, on that thread, in which blocks run again.
  Frame<S> trial_frame(const Frame<S>& at, int worker) const;

  /// Where rows of tables hold the entry of the outcome that a unit sampled.
  std::size_t sampled_entry(const Placement& at, int unit, int sample) const {
    const Outcome outcome = state.outcomes[(at.unit_row + index(unit)) * state.stride + index(sample)];
    return (at.table_row + index(unit) * index(at.shape.outcome_count()) + index(outcome)) * state.stride +
           index(sample);
  }

  /// work(chunk, worker, frame) for every chunk, on the workspace's threads.
  template <class Work>
  void for_each_chunk(const Work& work) const {
    for_each_item(chunks(), state.threads,
                  [&](int chunk, int worker) { work(chunk, worker, frame(chunk, worker)); });
  }
};

template <class S>
void Pass<S>::check_owner() const {
  if (state.plan.get() != &plan)
    refuse({.code = "foreign-workspace",
            .message = "this workspace was made by another model; its arrays do not fit this one",
            .help = {"auto run = model.workspace(batch);   // from the model that uses it"}});
}

template <class S>
Frame<S> Pass<S>::frame(int chunk, int worker) const {
  const std::size_t thread = index(worker), first = index(chunk) * chunk_samples;
  const int samples = std::min(chunk_samples, state.samples - chunk * chunk_samples);
  Frame<S> frame{.parameters = parameters.data(),
                 .gradient = state.gradient.data(),
                 .features = state.features.data() + first,
                 .slopes = state.slopes.empty() ? nullptr : state.slopes.data() + first,
                 .outcomes = state.outcomes.data() + first,
                 .log_probs = state.log_probs.data() + first,
                 .evidence_rows = state.evidence.data() + first,
                 .credit_rows = state.credit.data() + first,
                 .outcome_bits = state.outcome_bits.empty()
                                     ? nullptr
                                     : state.outcome_bits.data() + index(chunk) * plan.layout.unit_rows,
                 .clamped = state.clamped.data(),
                 .scratch = state.scratch.data() + thread * state.scratch_stride,
                 .outcome_scratch = state.outcome_scratch.data() + thread * state.outcome_scratch_stride,
                 .stride = state.stride,
                 .lanes = static_cast<int>(padded(index(samples))),
                 .samples = samples,
                 .seed = plan.seed,
                 .position = state.position,
                 .instructions = plan.instructions};
  frame.position.first_sample += static_cast<std::uint32_t>(first);
  return frame;
}

template <class S>
Frame<S> Pass<S>::trial_frame(const Frame<S>& at, int worker) const {
  const std::size_t thread = index(worker);
  const Layout& layout = plan.layout;
  auto& copy = state.trial;
  Frame<S> trial = at;
  trial.stride = chunk_samples;
  trial.features = copy.features.data() + thread * layout.feature_rows * chunk_samples;
  trial.log_probs = copy.log_probs.data() + thread * layout.table_rows * chunk_samples;
  trial.outcomes = copy.outcomes.data() + thread * layout.unit_rows * chunk_samples;
  trial.clamped = copy.all_clamped.data();
  trial.slopes = trial.evidence_rows = trial.credit_rows = nullptr;  // of no use to a forward pass
  for (std::size_t row = 0; row < layout.feature_rows; ++row)
    std::copy_n(at.feature(row), at.lanes, trial.feature(row));
  for (std::size_t row = 0; row < layout.unit_rows; ++row)
    std::copy_n(at.outcome(row), at.lanes, trial.outcome(row));
  if (at.outcome_bits) {
    trial.outcome_bits = copy.bits.data() + thread * layout.unit_rows;
    std::copy_n(at.outcome_bits, layout.unit_rows, trial.outcome_bits);
  }
  return trial;
}

}  // namespace hindsight::internal
