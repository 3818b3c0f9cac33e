#pragma once

#include <hindsight/graph/pass.hpp>

namespace hindsight::internal {

// Numbers that are none are looked for once per chunk, by vectors; only when there is one is it asked whose.

/// Refuses log-probabilities and values of deterministic nodes that are not numbers, naming the node, and the
/// parameter if one is to blame.
template <class S>
void refuse_nan(const Pass<S>& pass, const Frame<S>& at, int chunk);

/// Refuses credit that is not finite, naming the node, its estimator and the reward.
template <class S>
void refuse_infinite_credit(const Pass<S>& pass, const Frame<S>& at, const CreditRun& run);

}  // namespace hindsight::internal
