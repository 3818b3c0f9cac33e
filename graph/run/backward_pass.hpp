#pragma once

#include <span>

#include <hindsight/graph/model.hpp>
#include <hindsight/graph/pass.hpp>

namespace hindsight::internal {

/// From rewards to the gradient: signals, evidence, credit, gradient.
template <class S>
void backward(const Pass<S>& pass, std::span<const RewardValues<S>> rewards, const BackwardOptions& options);

/// Makes the tables that depend on the weights alone, then sends all messages, runs again what lies behind
/// deterministic nodes, and sums out what hindsight over several steps does not know.
template <class S>
void send_messages(const Pass<S>& pass);
/// Zeroes the evidence of an impossible sample.
template <class S>
void zero_evidence(const Pass<S>& pass, int sample);

/// What the estimators make of signals, evidence and slopes; with it the slopes of everything that wants
/// them.
template <class S>
void make_credit(const Pass<S>& pass);
/// Credit of the sampled outcome = its total reward, of the others 0: Σ reward·∇log P(all outcomes), which is
/// the exact gradient when summed over all of them. With the slopes that follow.
template <class S>
void make_score_credit(const Pass<S>& pass);

}  // namespace hindsight::internal
