#pragma once

#include <span>

#include <hindsight/graph/pass.hpp>

namespace hindsight::internal {

// From rewards to signals: what is known is worked out, what is expected is subtracted.

/// Works out the rewards whose functions are known.
template <class S>
void ask_known_rewards(const Pass<S>& pass);

/// What the run's signal would be at each outcome of its units: rows of chunk_samples numbers.
template <class S>
void ask_candidates(const Pass<S>& pass, const CreditRun& run, const Frame<S>& at, const Frame<S>& trial,
                    int chunk, S* signals);

/// Rewards minus baselines, times each sample's share of the gradient.
template <class S>
void make_signals(const Pass<S>& pass);

/// From a batch whose signals are made, into a copy: what still fails later must teach nothing.
template <class S>
void learn_baselines(const Pass<S>& pass);

}  // namespace hindsight::internal
