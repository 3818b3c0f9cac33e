#pragma once

#include <span>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/matrix_view.hpp>
#include <hindsight/graph/plan.hpp>
#include <hindsight/graph/workspace.hpp>

namespace hindsight {

/// What an input is in every sample: samples × units; or in every row of samples, if baselines want several
/// samples of each.
template <class S>
struct InputValues {
  NodeId node;
  MatrixView<const S> values;
};

/// What a reward was in every sample.
template <class S>
struct RewardValues {
  RewardId reward;
  MatrixView<const S> values;
};

/// Outcomes to take instead of sampling: samples × units.
struct ClampedOutcomes {
  NodeId node;
  MatrixView<const Outcome> outcomes;
};

struct ForwardOptions {
  std::vector<ClampedOutcomes> clamp = {};  ///< views: what they show must outlive the call
  int samples = 0;                          ///< 0: as many as the inputs have or, without inputs, as fit
};

struct BackwardOptions {
  int of = 0;  ///< samples of the whole batch that this one is a part of; 0: this is the whole
  /// Add to the gradient of the parts before. Baselines learn from each part, after it.
  bool continues = false;
};

/// Runs a plan in a workspace: the message-passing scheduler. Its phases are separate so that the exact
/// oracle can judge the very code that users run.
template <class S>
class Executor {
 public:
  /// `rows` says what to call the rows of the inputs; none: by their numbers.
  Executor(const Plan<S>& plan, std::span<const S> parameters, BasicWorkspace<S>& run,
           std::span<const int> rows = {})
      : plan_(plan), parameters_(parameters), run_(run), rows_(rows) {}

  static BasicWorkspace<S> make_workspace(std::shared_ptr<const Plan<S>> plan, int capacity,
                                          const WorkspaceOptions& options);

  void forward(std::span<const InputValues<S>> inputs, const ForwardOptions& options);
  void backward(std::span<const RewardValues<S>> rewards, const BackwardOptions& options);

  /// Checks and takes the inputs, which say how many samples there are if `samples` does not.
  void load_inputs(std::span<const InputValues<S>> inputs, int samples = 0);
  void clamp(std::span<const ClampedOutcomes> clamps);
  /// Computes and samples everything that is not clamped.
  void sample();
  /// Checks and takes the rewards, and works out the known ones.
  void load_rewards(std::span<const RewardValues<S>> rewards);
  /// Each sample's share of the gradient.
  void share(std::span<const S> shares);
  /// Rewards minus baselines, times the shares.
  void make_signals();
  /// Makes the tables that depend on the weights alone, then sends all messages, re-evaluates what lies
  /// behind deterministic nodes, and sums out what hindsight over several steps does not know.
  void send_messages();
  /// Evidence about what cannot have happened is meaningless; without it the sample counts for nothing.
  void forget_evidence(int sample);
  /// What the estimators make of signals, evidence and slopes; with it the slopes of everything that wants
  /// them.
  void make_weights();
  /// w = total signal at the sampled outcome: Σ signal·∇log P(all outcomes), which is exact when summed over
  /// all of them. With the slopes that follow.
  void make_score_weights();
  /// From weights and slopes to the gradient.
  void accumulate(bool continues);
  /// From a batch whose signals are made, into a copy: what still fails later must teach nothing.
  void learn_baselines();
  /// log P(all outcomes of one sample).
  double log_probability(int sample) const;

 private:
  int chunks() const { return (run_.samples_ - 1) / chunk_samples + 1; }
  /// What a block sees of one chunk on one of the workspace's threads.
  Frame<S> frame(int chunk, int worker) const;
  /// A copy of the chunk, on that thread, for re-evaluation.
  Frame<S> trial_frame(const Frame<S>& at, int worker);
  void eliminate(const Frame<S>& at, const Frame<S>& trial, int chunk, int worker);
  /// A known reward at sample `lane` of the frame, which is `sample` of the batch. `describe` tells what was
  /// tried, should it fail.
  template <class Describe>
  double ask(int reward, const Frame<S>& frame, int lane, int sample, const std::string* node,
             const Describe& describe) const;
  void ask_known_rewards();
  /// What the credit's signal would be at each outcome of its units: rows of chunk_samples numbers.
  void ask_candidates(const CreditRun& credit, const Frame<S>& at, const Frame<S>& trial, int chunk,
                      S* signals) const;
  BaselineView<S> baseline_view(int reward) const;
  std::string baseline_subject(const SignalPlan& signal) const;
  void prepare_tables();
  /// Slopes and, level by level between them, the weights that are made of slopes.
  void backpropagate(std::span<const PathwiseRun> pathwise);
  void add_weights(const Frame<S>& at, const PathwiseRun& run) const;
  void pack_outcomes(const Frame<S>& at, const RowRange& rows) const;
  void refuse_nan(int chunk) const;
  void check_owner() const;
  void refuse_impossible_clamps(std::span<const ClampedOutcomes> clamps) const;
  void check_weights(const Frame<S>& at, const CreditRun& credit) const;
  /// Where the tables hold the entry of the outcome that a unit sampled.
  std::size_t sampled_entry(const Placement& at, std::size_t unit, std::size_t sample) const;
  /// The node a row of log-probabilities, evidence or weights belongs to.
  const Placement& owner(std::size_t table_row) const;
  [[noreturn]] void blame(std::size_t table_row, int sample) const;
  /// Of deterministic nodes in those rows of features.
  void blame_function(const Frame<S>& frame, const RowRange& rows) const;
  void refuse_bad_parameter(const Placement& at) const;

  const Plan<S>& plan_;
  std::span<const S> parameters_;
  BasicWorkspace<S>& run_;
  std::span<const int> rows_;
};

extern template class Executor<float>;
extern template class Executor<double>;

}  // namespace hindsight
