#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <hindsight/core/aligned_buffer.hpp>
#include <hindsight/core/ids.hpp>
#include <hindsight/core/matrix_view.hpp>
#include <hindsight/core/random.hpp>

namespace hindsight {

struct Placement;
template <class S>
struct Plan;
template <class S>
class Executor;

struct WorkspaceOptions {
  int threads = 1;  ///< that share the work; results are the same, bit for bit, for any number
};

/// Everything that changes while a model runs: outcomes, messages, weights, the gradient, the position in the
/// random stream. Belongs to one model (and its copies); all memory is taken at once, when it is made.
template <class S>
class BasicWorkspace {
 public:
  /// The most samples one batch may have.
  int capacity() const { return capacity_; }
  /// Samples of the last forward pass.
  int samples() const { return samples_; }
  int threads() const { return threads_; }

  /// Samples × units.
  MatrixView<const Outcome> outcomes(NodeId node) const;
  /// Samples × units, of an input or a deterministic node.
  MatrixView<const S> values(NodeId node) const;
  /// Samples × units·outcomes: log π(outcome | parents).
  MatrixView<const S> log_probs(NodeId node) const;
  /// Samples × units·outcomes: log P(children | outcome) - log P(children | sampled outcome). Zero where no
  /// estimator asked for it; what more steps of hindsight say is not in it.
  MatrixView<const S> evidence(NodeId node) const;
  /// The same as the estimator for that reward saw it: after several steps of hindsight, P of all that it
  /// knows.
  MatrixView<const S> evidence(NodeId node, RewardId reward) const;
  /// Samples × units·outcomes: what the estimators made of the rewards, times the sample's share of the mean.
  MatrixView<const S> weights(NodeId node) const;

  /// Of the mean reward, in the order of the model's parameters.
  std::span<const S> gradient() const { return gradient_; }
  /// The piece that belongs to the parameters of that name.
  MatrixView<const S> gradient(std::string_view path) const;

  /// What the reward was in every sample of the last backward pass.
  std::span<const S> rewards(RewardId reward) const;

  /// What all baselines remember; to be kept with the parameters of a run that is to go on.
  std::span<double> baselines() { return baselines_; }
  std::span<const double> baselines() const { return baselines_; }

  StreamPosition position() const { return position_; }
  void seek(const StreamPosition& position);

 private:
  friend class Executor<S>;
  BasicWorkspace(std::shared_ptr<const Plan<S>> plan, int capacity, const WorkspaceOptions& options);

  /// A part of one block's rows or tables that one thread works.
  struct Slice {
    std::size_t block;
    int first, last;
  };
  void cut(std::size_t block, int parts, std::vector<Slice>& slices) const;

  MatrixView<const S> table(const AlignedBuffer<S>& rows, NodeId node) const;
  const Placement& stochastic(NodeId node) const;

  std::shared_ptr<const Plan<S>> plan_;
  int capacity_ = 0, samples_ = 0, threads_ = 1;
  bool forwarded_ = false;    ///< there is something to go back over
  bool sum_is_whole_ = true;  ///< no backward pass failed while it added to the gradient
  std::size_t stride_ = 0;
  std::size_t scratch_stride_ = 0, outcome_scratch_stride_ = 0;  ///< from thread to thread
  std::vector<Slice> table_slices_, row_slices_;
  StreamPosition position_;
  /// What re-evaluation works in: one chunk per thread.
  AlignedBuffer<S> trial_features_, trial_log_probs_;
  AlignedBuffer<Outcome> trial_outcomes_;
  std::vector<std::uint64_t> trial_bits_;
  std::vector<std::uint8_t> all_clamped_;
  AlignedBuffer<S> features_, slopes_, log_probs_, evidence_, weights_, signals_, gradient_, tables_,
      scratch_;
  AlignedBuffer<S> eliminated_evidence_, elimination_tables_;  ///< the latter for every thread
  AlignedBuffer<S> rewards_, shares_;        ///< one row per reward; each sample's share of the gradient
  AlignedBuffer<S> candidate_signals_;       ///< of one credit, per thread
  std::vector<double> baselines_, learned_;  ///< what baselines remember, before and after the batch
  AlignedBuffer<Outcome> outcomes_, outcome_scratch_;
  std::vector<std::uint64_t>
      outcome_bits_;  ///< chunk after chunk, a word per unit; empty if no block reads them
  std::vector<std::uint8_t> clamped_, seen_;
};

using Workspace = BasicWorkspace<float>;

extern template class BasicWorkspace<float>;
extern template class BasicWorkspace<double>;

}  // namespace hindsight
