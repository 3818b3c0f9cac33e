#include <hindsight/graph/workspace.hpp>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/run_state.hpp>

namespace hindsight {
namespace {

using internal::index;
using internal::Layout;
using internal::RunState;

const Placement& stochastic(const Layout& layout, NodeId node) {
  const Placement& at = layout.placement(node);
  if (layout.is_input(node))
    refuse({.code = "input-has-no-outcomes",
            .node = at.name,
            .message = "it is an input: it samples nothing, so there are no outcomes or tables to read",
            .help = {"ask for a node that graph.add(…) made"}});
  if (!layout.is_stochastic(node))
    refuse({.code = "function-has-no-outcomes",
            .node = at.name,
            .message = "it is deterministic: it samples nothing, so there are no outcomes or tables to read",
            .help = {fmt::format("run.values({})", at.name)}});
  return at;
}

/// Rows of the state's arrays as columns of a samples × … view.
template <class T, class S>
MatrixView<const T> columns(const RunState<S>& state, const internal::AlignedBuffer<T>& rows,
                            std::size_t first_row, std::ptrdiff_t count) {
  return {rows.data() + first_row * state.stride, state.samples, count, 1,
          static_cast<std::ptrdiff_t>(state.stride)};
}

std::ptrdiff_t table_rows(const Placement& at) {
  return static_cast<std::ptrdiff_t>(at.shape.units) * at.shape.outcome_count();
}

template <class S>
MatrixView<const S> table(const RunState<S>& state, const internal::AlignedBuffer<S>& rows, NodeId node) {
  const Placement& at = stochastic(state.plan->layout, node);
  return columns(state, rows, at.table_row, table_rows(at));
}

}  // namespace

void internal::refuse_moved_from() {
  refuse({.code = "moved-from",
          .message = "this model or workspace was moved from; another has what it held",
          .help = {"use the one that it was moved to, or compile(graph) another"}});
}

template <class S>
BasicWorkspace<S>::BasicWorkspace(std::unique_ptr<internal::RunState<S>> state) : state_(std::move(state)) {}
template <class S>
BasicWorkspace<S>::BasicWorkspace(const BasicWorkspace& other)
    : state_(std::make_unique<RunState<S>>(*other.state_)) {}
template <class S>
BasicWorkspace<S>& BasicWorkspace<S>::operator=(const BasicWorkspace& other) {
  return *this = BasicWorkspace(other);
}
template <class S>
BasicWorkspace<S>::BasicWorkspace(BasicWorkspace&&) noexcept = default;
template <class S>
BasicWorkspace<S>& BasicWorkspace<S>::operator=(BasicWorkspace&&) noexcept = default;
template <class S>
BasicWorkspace<S>::~BasicWorkspace() = default;

template <class S>
int BasicWorkspace<S>::capacity() const {
  return state_->capacity;
}
template <class S>
int BasicWorkspace<S>::samples() const {
  return state_->samples;
}
template <class S>
int BasicWorkspace<S>::threads() const {
  return state_->threads;
}

template <class S>
MatrixView<const Outcome> BasicWorkspace<S>::outcomes(NodeId node) const {
  const Placement& at = stochastic(state_->plan->layout, node);
  return columns(*state_, state_->outcomes, at.unit_row, at.shape.units);
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::values(NodeId node) const {
  const Placement& at = state_->plan->layout.placement(node);
  if (state_->plan->layout.is_stochastic(node))
    refuse({.code = "outcomes-not-values",
            .node = at.name,
            .message = "it is stochastic: it has outcomes; only inputs and deterministic nodes have values",
            .help = {fmt::format("run.outcomes({})", at.name)}});
  return columns(*state_, state_->features, at.feature_row, at.shape.units);
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::log_probs(NodeId node) const {
  return table(*state_, state_->log_probs, node);
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::evidence(NodeId node) const {
  return table(*state_, state_->evidence, node);
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::evidence(NodeId node, RewardId reward) const {
  const Placement& at = stochastic(state_->plan->layout, node);
  rewards(reward);  // refuses one that does not exist
  const internal::CreditRun* const credit = state_->plan->credit.find(at, reward);
  if (!credit || !credit->eliminated_row) return evidence(node);
  return columns(*state_, state_->eliminated_evidence,
                 *credit->eliminated_row + at.table_row - credit->table_row, table_rows(at));
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::credit(NodeId node) const {
  return table(*state_, state_->credit, node);
}

template <class S>
std::span<const S> BasicWorkspace<S>::gradient() const {
  return state_->gradient;
}

template <class S>
MatrixView<const S> BasicWorkspace<S>::gradient(std::string_view path) const {
  const internal::ParameterPlace& place = state_->plan->parameters.find(path);
  return {state_->gradient.data() + place.first, static_cast<std::ptrdiff_t>(place.rows),
          static_cast<std::ptrdiff_t>(place.cols)};
}

template <class S>
std::span<const S> BasicWorkspace<S>::rewards(RewardId reward) const {
  const std::size_t count = state_->plan->rewards.size();
  if (reward.index < 0 || index(reward) >= count)
    refuse({.code = "unknown-reward",
            .message = fmt::format("reward number {} does not exist; the model has {}", reward.index, count),
            .help = {"use the RewardId that graph.reward(…) returned"}});
  return std::span(state_->rewards.data() + index(reward) * state_->stride, index(state_->samples));
}

template <class S>
std::span<double> BasicWorkspace<S>::baselines() {
  return state_->baselines;
}
template <class S>
std::span<const double> BasicWorkspace<S>::baselines() const {
  return state_->baselines;
}

template <class S>
StreamPosition BasicWorkspace<S>::position() const {
  return state_->position;
}

template <class S>
void BasicWorkspace<S>::seek(const StreamPosition& position) {
  if (position.stream >= 1U << 24)
    refuse({.code = "stream-number",
            .message = fmt::format("there is no stream {}; streams are numbered 0 to {}", position.stream,
                                   (1U << 24) - 1),
            .help = {"run.seek({.stream = 1});"}});
  state_->position = position;
}

template class BasicWorkspace<float>;
template class BasicWorkspace<double>;

}  // namespace hindsight
