#include <hindsight/graph/workspace.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/executor.hpp>
#include <hindsight/graph/memory.hpp>
#include <hindsight/graph/plan.hpp>

namespace hindsight {
namespace {

/// Rows hold whole cache lines. A stride that is a large power of two would send every row to the same cache
/// sets.
std::size_t row_stride(int capacity) {
  const auto samples = static_cast<std::size_t>(capacity);
  const std::size_t padded = (samples + lane_padding - 1) / lane_padding * lane_padding;
  return padded % 256 == 0 ? padded + lane_padding : padded;
}

}  // namespace

template <class S>
BasicWorkspace<S>::BasicWorkspace(std::shared_ptr<const Plan<S>> plan, int capacity)
    : plan_(std::move(plan)), capacity_(capacity) {
  if (capacity < 1)
    refuse({.code = "batch-size",
            .message = fmt::format("a workspace for {} samples cannot run; it holds at least 1", capacity),
            .help = {"model.workspace(16)"}});
  stride_ = row_stride(capacity);
  ScratchSize scratch;
  for (const auto& block : plan_->blocks) {
    const ScratchSize wanted = block->scratch(chunk_samples);
    scratch.scalars = std::max(scratch.scalars, wanted.scalars);
    scratch.outcomes = std::max(scratch.outcomes, wanted.outcomes);
  }
  const double rows =
      static_cast<double>(plan_->feature_rows + 3 * plan_->table_rows + plan_->rewards.size());
  const double bytes = static_cast<double>(stride_) *
                           (rows * sizeof(S) + static_cast<double>(plan_->unit_rows) * sizeof(Outcome)) +
                       static_cast<double>(plan_->parameter_count + scratch.scalars) * sizeof(S);
  require_memory(bytes, fmt::format("a workspace for {} samples", capacity),
                 "model.workspace(64)   // and several parts per batch: backward(run, rewards, {.of = 1024, "
                 ".continues = true})");
  features_.resize(plan_->feature_rows * stride_);
  log_probs_.resize(plan_->table_rows * stride_);
  evidence_.resize(plan_->table_rows * stride_);
  weights_.resize(plan_->table_rows * stride_);
  signals_.resize(plan_->rewards.size() * stride_);
  outcomes_.resize(plan_->unit_rows * stride_);
  clamped_.resize(plan_->unit_rows);
  seen_.resize(std::max(plan_->placements.size(), plan_->rewards.size()));
  gradient_.resize(plan_->parameter_count);
  scratch_.resize(scratch.scalars);
  outcome_scratch_.resize(scratch.outcomes);
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
  if (plan_->is_input[static_cast<std::size_t>(node.index)])
    refuse({.code = "input-has-no-outcomes",
            .node = at.name,
            .message = "it is an input: it samples nothing, so there are no outcomes or tables to read",
            .help = {"ask for a node that graph.add(…) made"}});
  return at;
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
MatrixView<const S> BasicWorkspace<S>::weights(NodeId node) const {
  return table(weights_, node);
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
