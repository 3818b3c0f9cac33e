#include <hindsight/graph/workspace.hpp>

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include <hindsight/core/memory.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/executor.hpp>
#include <hindsight/graph/plan.hpp>

namespace hindsight {
namespace {

constexpr int most_threads = 256;

/// Rows hold whole cache lines. A stride that is a large power of two would send every row to the same cache
/// sets.
std::size_t row_stride(int capacity) {
  const std::size_t samples = padded(static_cast<std::size_t>(capacity));
  return samples % 256 == 0 ? samples + lane_padding : samples;
}

}  // namespace

template <class S>
BasicWorkspace<S>::BasicWorkspace(std::shared_ptr<const Plan<S>> plan, int capacity,
                                  const WorkspaceOptions& options)
    : plan_(std::move(plan)), capacity_(capacity), threads_(options.threads) {
  if (capacity < 1)
    refuse({.code = "batch-size",
            .message = fmt::format("a workspace for {} samples cannot run; it holds at least 1", capacity),
            .help = {"model.workspace(16)"}});
  if (options.threads < 1 || options.threads > most_threads)
    refuse(
        {.code = "thread-count",
         .message = fmt::format("a workspace runs on 1 to {} threads, not on {}; this machine has {} cores",
                                most_threads, options.threads, std::thread::hardware_concurrency()),
         .help = {fmt::format(
             "model.workspace({}, {{.threads = {}}})", capacity,
             std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads))}});
  if (capacity < plan_->replicas)
    refuse({.code = "batch-size",
            .message = fmt::format("a workspace for {} samples cannot run: its baselines want {} samples of "
                                   "each input",
                                   capacity, plan_->replicas),
            .help = {fmt::format("model.workspace({})", 16 * plan_->replicas)}});
  stride_ = row_stride(capacity);
  for (std::size_t b = 0; b < plan_->blocks.size(); ++b) {
    const Block<S>& block = *plan_->blocks[b];
    const ScratchSize wanted = block.scratch(chunk_samples);
    scratch_stride_ = std::max(scratch_stride_, padded(wanted.scalars));
    outcome_scratch_stride_ = std::max(outcome_scratch_stride_, padded(wanted.outcomes));
    cut(b, block.table_parts(), table_slices_);
    cut(b, block.rows(), row_slices_);
  }
  for (const auto* reevaluations : {&plan_->reevaluations, &plan_->candidates})
    for (const Reevaluation<S>& reevaluation : *reevaluations) {
      const ScratchSize wanted = reevaluation.scratch(chunk_samples);
      scratch_stride_ = std::max(scratch_stride_, padded(wanted.scalars));
      outcome_scratch_stride_ = std::max(outcome_scratch_stride_, padded(wanted.outcomes));
    }
  const ScratchSize wanted_by_trials = plan_->eliminations.scratch(chunk_samples);
  scratch_stride_ = std::max(scratch_stride_, padded(wanted_by_trials.scalars));
  outcome_scratch_stride_ = std::max(outcome_scratch_stride_, padded(wanted_by_trials.outcomes));
  const std::size_t elimination_scalars =
      plan_->eliminations.table_scalars(chunk_samples) * static_cast<std::size_t>(threads_);
  const auto threads = static_cast<double>(threads_);
  const std::size_t sloped_rows = plan_->sloped.empty() ? 0 : plan_->feature_rows;
  const std::size_t trials = plan_->tries_outcomes() ? static_cast<std::size_t>(threads_) : 0;
  const double rows =
      static_cast<double>(plan_->feature_rows + sloped_rows + 3 * plan_->table_rows + plan_->rewards.size() +
                          plan_->signals.size() + 1 + plan_->eliminations.evidence_rows());
  const std::size_t words_of_bits =
      plan_->packs_outcomes()
          ? plan_->unit_rows * ((static_cast<std::size_t>(capacity) - 1) / chunk_samples + 1)
          : 0;
  const double bytes =
      static_cast<double>(stride_) *
          (rows * sizeof(S) + static_cast<double>(plan_->unit_rows) * sizeof(Outcome)) +
      static_cast<double>(plan_->parameter_count + plan_->table_scalars + elimination_scalars) * sizeof(S) +
      static_cast<double>(words_of_bits) * sizeof(std::uint64_t) +
      static_cast<double>(trials * chunk_samples) *
          static_cast<double>((plan_->feature_rows + plan_->table_rows + plan_->candidate_rows) * sizeof(S) +
                              plan_->unit_rows * sizeof(Outcome)) +
      2 * static_cast<double>(plan_->baseline_scalars) * sizeof(double) +
      threads * static_cast<double>(scratch_stride_ * sizeof(S) + outcome_scratch_stride_ * sizeof(Outcome));
  require_memory(bytes, fmt::format("a workspace for {} samples", capacity),
                 "model.workspace(64)   // and several parts per batch: backward(run, rewards, {.of = 1024, "
                 ".continues = true})");
  features_.resize(plan_->feature_rows * stride_);
  slopes_.resize(sloped_rows * stride_);
  trial_features_.resize(trials * plan_->feature_rows * chunk_samples);
  trial_log_probs_.resize(trials * plan_->table_rows * chunk_samples);
  trial_outcomes_.resize(trials * plan_->unit_rows * chunk_samples);
  trial_bits_.resize(words_of_bits > 0 ? trials * plan_->unit_rows : 0);
  all_clamped_.resize(trials > 0 ? plan_->unit_rows : 0, 1);
  log_probs_.resize(plan_->table_rows * stride_);
  evidence_.resize(plan_->table_rows * stride_);
  eliminated_evidence_.resize(plan_->eliminations.evidence_rows() * stride_);
  elimination_tables_.resize(elimination_scalars);
  weights_.resize(plan_->table_rows * stride_);
  rewards_.resize(plan_->rewards.size() * stride_);
  signals_.resize(plan_->signals.size() * stride_);
  shares_.resize(stride_);
  candidate_signals_.resize(trials * plan_->candidate_rows * chunk_samples);
  baselines_.resize(plan_->baseline_scalars);
  learned_.resize(plan_->baseline_scalars);
  outcomes_.resize(plan_->unit_rows * stride_);
  outcome_bits_.resize(words_of_bits);
  clamped_.resize(plan_->unit_rows);
  seen_.resize(std::max(plan_->placements.size(), plan_->rewards.size()));
  gradient_.resize(plan_->parameter_count);
  tables_.resize(plan_->table_scalars);
  scratch_.resize(scratch_stride_ * static_cast<std::size_t>(threads_));
  outcome_scratch_.resize(outcome_scratch_stride_ * static_cast<std::size_t>(threads_));
}

/// A few slices per thread, so that all finish at about the same time; one thread needs no cuts, and what a
/// block does once per slice is done once.
template <class S>
void BasicWorkspace<S>::cut(std::size_t block, int parts, std::vector<Slice>& slices) const {
  const int count = threads_ == 1 ? 1 : std::min(parts, 2 * threads_);
  for (int i = 0; i < count; ++i) {
    const auto bound = [&](int k) { return static_cast<int>(static_cast<std::int64_t>(parts) * k / count); };
    if (bound(i) < bound(i + 1)) slices.push_back({block, bound(i), bound(i + 1)});
  }
}

template <class S>
void BasicWorkspace<S>::seek(const StreamPosition& position) {
  if (position.stream >= 1U << 24)
    refuse({.code = "stream-number",
            .message = fmt::format("there is no stream {}; streams are numbered 0 to {}", position.stream,
                                   (1U << 24) - 1),
            .help = {"run.seek({.stream = 1});"}});
  position_ = position;
}

template <class S>
const Placement& BasicWorkspace<S>::stochastic(NodeId node) const {
  const Placement& at = plan_->placement(node);
  if (plan_->is_input(static_cast<std::size_t>(node.index)))
    refuse({.code = "input-has-no-outcomes",
            .node = at.name,
            .message = "it is an input: it samples nothing, so there are no outcomes or tables to read",
            .help = {"ask for a node that graph.add(…) made"}});
  if (!plan_->is_stochastic(static_cast<std::size_t>(node.index)))
    refuse({.code = "function-has-no-outcomes",
            .node = at.name,
            .message = "it is deterministic: it samples nothing, so there are no outcomes or tables to read",
            .help = {fmt::format("run.values({})", at.name)}});
  return at;
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::values(NodeId node) const {
  const Placement& at = plan_->placement(node);
  if (plan_->is_stochastic(static_cast<std::size_t>(node.index)))
    refuse({.code = "outcomes-not-values",
            .node = at.name,
            .message = "it is stochastic: it has outcomes; only inputs and deterministic nodes have values",
            .help = {fmt::format("run.outcomes({})", at.name)}});
  return {features_.data() + at.feature_row * stride_, samples_, at.shape.units, 1,
          static_cast<std::ptrdiff_t>(stride_)};
}

template <class S>
MatrixView<const Outcome> BasicWorkspace<S>::outcomes(NodeId node) const {
  const Placement& at = stochastic(node);
  return {outcomes_.data() + at.unit_row * stride_, samples_, at.shape.units, 1,
          static_cast<std::ptrdiff_t>(stride_)};
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::table(const AlignedBuffer<S>& rows, NodeId node) const {
  const Placement& at = stochastic(node);
  return {rows.data() + at.table_row * stride_, samples_,
          static_cast<std::ptrdiff_t>(at.shape.units) * at.shape.outcomes(), 1,
          static_cast<std::ptrdiff_t>(stride_)};
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::log_probs(NodeId node) const {
  return table(log_probs_, node);
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::evidence(NodeId node) const {
  return table(evidence_, node);
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::evidence(NodeId node, RewardId reward) const {
  const Placement& at = stochastic(node);
  rewards(reward);  // refuses one that does not exist
  if (const CreditRun* const credit = plan_->credit_of(at, reward); credit && credit->eliminated_row)
    return {
        eliminated_evidence_.data() + (*credit->eliminated_row + at.table_row - credit->table_row) * stride_,
        samples_, static_cast<std::ptrdiff_t>(at.shape.units) * at.shape.outcomes(), 1,
        static_cast<std::ptrdiff_t>(stride_)};
  return evidence(node);
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::weights(NodeId node) const {
  return table(weights_, node);
}

template <class S>
std::span<const S> BasicWorkspace<S>::rewards(RewardId reward) const {
  if (reward.index < 0 || static_cast<std::size_t>(reward.index) >= plan_->rewards.size())
    refuse({.code = "unknown-reward",
            .message = fmt::format("reward number {} does not exist; the model has {}", reward.index,
                                   plan_->rewards.size()),
            .help = {"use the RewardId that graph.reward(…) returned"}});
  return std::span(rewards_.data() + static_cast<std::size_t>(reward.index) * stride_,
                   static_cast<std::size_t>(samples_));
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::gradient(std::string_view path) const {
  const ParameterPlace& place = plan_->parameter(path);
  return {gradient_.data() + place.first, static_cast<std::ptrdiff_t>(place.rows),
          static_cast<std::ptrdiff_t>(place.cols)};
}

template class BasicWorkspace<float>;
template class BasicWorkspace<double>;

}  // namespace hindsight
