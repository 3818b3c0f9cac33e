#pragma once

#include <span>

#include <hindsight/graph/model.hpp>
#include <hindsight/graph/pass.hpp>

namespace hindsight::internal {

// What users hand in, checked before anything changes and then laid into the rows of the state.

/// The inputs say how many samples there are if `samples` does not.
template <class S>
void load_inputs(const Pass<S>& pass, std::span<const InputValues<S>> inputs, int samples = 0);

/// Nodes that are not listed will be sampled.
template <class S>
void clamp(const Pass<S>& pass, std::span<const ClampedOutcomes> clamps);
/// After the forward pass, which knows the probabilities.
template <class S>
void refuse_impossible_clamps(const Pass<S>& pass, std::span<const ClampedOutcomes> clamps);

/// Of black boxes: known rewards are worked out.
template <class S>
void load_rewards(const Pass<S>& pass, std::span<const RewardValues<S>> rewards);

}  // namespace hindsight::internal
