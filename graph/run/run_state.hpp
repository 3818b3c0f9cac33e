#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <hindsight/core/aligned_buffer.hpp>
#include <hindsight/core/random.hpp>
#include <hindsight/graph/plan.hpp>
#include <hindsight/graph/workspace.hpp>

namespace hindsight::internal {

constexpr std::size_t chunks_of(int samples) { return (index(samples) - 1) / chunk_samples + 1; }
/// Of a batch that comes in parts of so many samples.
constexpr std::size_t chunks_of_parts(int batch, int part) {
  return ((index(batch) - 1) / index(part) + 1) * chunks_of(part);
}

/// A part of one block's rows or tables that one thread works.
struct Slice {
  std::size_t block;
  int first, last;
};

/// Everything that changes while a plan runs. All memory is taken at once, when it is made, but for sums of
/// batches that come in parts unannounced. Rows hold one number per sample and lie `stride` apart.
template <class S>
struct RunState {
  RunState(std::shared_ptr<const Plan<S>> plan_to_run, int most_samples, const WorkspaceOptions& options);
  /// What one would take.
  static double bytes(std::shared_ptr<const Plan<S>> plan_to_run, int most_samples,
                      const WorkspaceOptions& options);

  std::shared_ptr<const Plan<S>> plan;
  int capacity, threads;
  int batch = 0;                  ///< the largest that is to come in parts
  int samples = 0;                ///< of the last forward pass
  bool forwarded = false;         ///< there is something to go back over
  bool sum_is_whole = true;       ///< no backward pass failed while it added to the gradient
  bool sum_is_open = false;       ///< parts of the batch are still to come
  std::size_t summed_chunks = 0;  ///< of the batch so far
  std::int64_t summed_samples = 0;
  int summed_of = 0;  ///< samples of the whole batch, while it is open
  StreamPosition position = {};

  std::size_t stride = 0;
  AlignedBuffer<S> features, slopes;             ///< rows of features
  AlignedBuffer<S> log_probs, evidence, credit;  ///< rows of tables
  AlignedBuffer<S> eliminated_evidence;          ///< rows that eliminations write
  AlignedBuffer<S> rewards, signals;             ///< a row per reward, a row per signal
  AlignedBuffer<S> shares;                       ///< each sample's share of the gradient
  AlignedBuffer<Outcome> outcomes;               ///< rows of units
  std::vector<std::uint8_t> clamped;             ///< per row of units
  std::vector<std::uint64_t> outcome_bits;       ///< chunk by chunk, a word per unit; empty if unread
  AlignedBuffer<S> gradient, tables;
  std::vector<AlignedBuffer<S>>
      waiting_sums;                        ///< as long as the gradient: sums of chunks that wait for others
  std::vector<double> baselines, learned;  ///< what baselines remember, before and after the batch
  std::vector<std::uint8_t> given;         ///< per node or reward: was it given already?

  std::size_t scratch_stride = 0, outcome_scratch_stride = 0;  ///< from thread to thread
  AlignedBuffer<S> scratch;
  AlignedBuffer<Outcome> outcome_scratch;
  AlignedBuffer<S> elimination_tables, candidate_signals;
  std::vector<Slice> table_slices, row_slices;

  /// A clamped copy of one chunk per thread, in which blocks run again.
  struct Trial {
    AlignedBuffer<S> features, log_probs;
    AlignedBuffer<Outcome> outcomes;
    std::vector<std::uint64_t> bits;
    std::vector<std::uint8_t> all_clamped;
  } trial;

 private:
  class Memory;
  struct WithoutMemory {};
  RunState(WithoutMemory, std::shared_ptr<const Plan<S>> plan_to_run, int most_samples,
           const WorkspaceOptions& options);
  void plan_memory(Memory& memory);
};

extern template struct RunState<float>;
extern template struct RunState<double>;

}  // namespace hindsight::internal
