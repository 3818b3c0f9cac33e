#pragma once

#include <span>

#include <hindsight/graph/model.hpp>
#include <hindsight/graph/pass.hpp>

namespace hindsight::internal {

/// Samples every node, from the inputs on.
template <class S>
void forward(const Pass<S>& pass, std::span<const InputValues<S>> inputs, const ForwardOptions& options);

/// Computes and samples everything that is not clamped, level after level.
template <class S>
void sample(const Pass<S>& pass);

/// log P(all outcomes of one sample).
template <class S>
double log_probability(const Pass<S>& pass, int sample);

}  // namespace hindsight::internal
