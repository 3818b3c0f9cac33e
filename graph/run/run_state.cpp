#include <hindsight/graph/run_state.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/memory.hpp>
#include <hindsight/graph/chunk_tree.hpp>

namespace hindsight::internal {
namespace {

/// Rows hold whole cache lines. A stride that is a large power of two would send every row to the same cache
/// sets.
std::size_t row_stride(int capacity) {
  const std::size_t samples = padded(index(capacity));
  return samples % 256 == 0 ? samples + lane_padding : samples;
}

/// What one thread's blocks need, whichever of them it runs.
template <class S>
ScratchSize largest_scratch(const Plan<S>& plan) {
  ScratchSize most = plan.credit.eliminations.scratch(chunk_samples);
  for (const auto& block : plan.schedule.blocks) most = larger(most, block->scratch(chunk_samples));
  for (const auto* reruns : {&plan.schedule.reruns, &plan.credit.reward_reruns})
    for (const ClampedRerun<S>& rerun : *reruns) most = larger(most, rerun.scratch(chunk_samples));
  return most;
}

/// A few slices per thread, so that all finish at about the same time; one thread needs no cuts, and what a
/// block does once per slice is done once.
void cut(std::size_t block, int parts, int threads, std::vector<Slice>& slices) {
  const int count = threads == 1 ? 1 : std::min(parts, 2 * threads);
  for (int i = 0; i < count; ++i) {
    const auto bound = [&](int k) { return static_cast<int>(static_cast<std::int64_t>(parts) * k / count); };
    if (bound(i) < bound(i + 1)) slices.push_back({block, bound(i), bound(i + 1)});
  }
}

}  // namespace

/// Asks for all memory first, and takes it only if it is there.
template <class S>
class RunState<S>::Memory {
 public:
  /// Counted in double: more rows than fit can make more numbers than can be counted.
  template <class Buffer>
  void plan(Buffer& buffer, std::size_t rows, std::size_t length = 1) {
    bytes_ += static_cast<double>(rows) * static_cast<double>(length) * sizeof(*buffer.data());
    takes_.push_back([&buffer, rows, length] { buffer.resize(rows * length); });
  }
  double bytes() const { return bytes_; }
  void take(int capacity) const {
    require_memory(bytes_, fmt::format("a workspace for {} samples", capacity),
                   "model.workspace(64)   // and several parts per batch: backward(run, rewards, {.of = "
                   "1024, .continues = true})");
    for (const auto& take : takes_) take();
  }

 private:
  double bytes_ = 0;
  std::vector<std::function<void()>> takes_;
};

template <class S>
RunState<S>::RunState(WithoutMemory, std::shared_ptr<const Plan<S>> plan_to_run, int most_samples,
                      const WorkspaceOptions& options)
    : plan(std::move(plan_to_run)),
      capacity(most_samples),
      threads(options.threads),
      batch(options.batch),
      stride(row_stride(capacity)) {
  const Schedule<S>& schedule = plan->schedule;
  for (std::size_t b = 0; b < schedule.blocks.size(); ++b) {
    cut(b, schedule.blocks[b]->table_parts(), threads, table_slices);
    cut(b, schedule.blocks[b]->rows(), threads, row_slices);
  }
  const ScratchSize wanted = largest_scratch(*plan);
  scratch_stride = padded(wanted.scalars);
  outcome_scratch_stride = padded(wanted.outcome_slots);
}

template <class S>
void RunState<S>::plan_memory(Memory& memory) {
  const Layout& layout = plan->layout;
  const Schedule<S>& schedule = plan->schedule;
  const CreditPlan<S>& credits = plan->credit;
  const std::size_t chunks = chunks_of(capacity);
  const std::size_t words = plan->packs_outcomes() ? layout.unit_rows : 0;
  const std::size_t per_thread = index(threads), trials = plan->tries_outcomes() ? per_thread : 0;

  memory.plan(features, layout.feature_rows, stride);
  memory.plan(slopes, layout.slope_rows.empty() ? 0 : layout.feature_rows, stride);
  memory.plan(log_probs, layout.table_rows, stride);
  memory.plan(evidence, layout.table_rows, stride);
  memory.plan(credit, layout.table_rows, stride);
  memory.plan(eliminated_evidence, credits.eliminations.evidence_rows(), stride);
  memory.plan(rewards, plan->rewards.size(), stride);
  memory.plan(signals, credits.signals.size(), stride);
  memory.plan(shares, stride);
  memory.plan(outcomes, layout.unit_rows, stride);
  memory.plan(clamped, layout.unit_rows);
  memory.plan(outcome_bits, words, chunks);
  memory.plan(gradient, layout.parameter_count);
  waiting_sums.resize(batch > capacity ? ChunkTree::slots_of_parts(chunks_of_parts(batch, capacity))
                                       : ChunkTree::slots_of_whole(chunks) - 1);
  for (AlignedBuffer<S>& sum : waiting_sums) memory.plan(sum, layout.parameter_count);
  memory.plan(tables, schedule.table_scalars);
  memory.plan(baselines, credits.baseline_scalars);
  memory.plan(learned, credits.baseline_scalars);
  memory.plan(given, std::max(layout.placements.size(), plan->rewards.size()));
  memory.plan(scratch, scratch_stride, per_thread);
  memory.plan(outcome_scratch, outcome_scratch_stride, per_thread);
  memory.plan(elimination_tables, credits.eliminations.table_scalars(chunk_samples), per_thread);
  memory.plan(candidate_signals, credits.candidate_rows, trials * chunk_samples);
  memory.plan(trial.features, layout.feature_rows, trials * chunk_samples);
  memory.plan(trial.log_probs, layout.table_rows, trials * chunk_samples);
  memory.plan(trial.outcomes, layout.unit_rows, trials * chunk_samples);
  memory.plan(trial.bits, words, trials);
  memory.plan(trial.all_clamped, trials > 0 ? layout.unit_rows : 0);
}

template <class S>
RunState<S>::RunState(std::shared_ptr<const Plan<S>> plan_to_run, int most_samples,
                      const WorkspaceOptions& options)
    : RunState(WithoutMemory(), std::move(plan_to_run), most_samples, options) {
  Memory memory;
  plan_memory(memory);
  memory.take(capacity);
  std::fill(trial.all_clamped.begin(), trial.all_clamped.end(), std::uint8_t{1});
}

template <class S>
double RunState<S>::bytes(std::shared_ptr<const Plan<S>> plan_to_run, int most_samples,
                          const WorkspaceOptions& options) {
  RunState state(WithoutMemory(), std::move(plan_to_run), most_samples, options);
  Memory memory;
  state.plan_memory(memory);
  return memory.bytes();
}

template struct RunState<float>;
template struct RunState<double>;

}  // namespace hindsight::internal
