#pragma once

#include <hindsight/core/estimator.hpp>

namespace hindsight::internal {

/// credit += (posterior - prior)·signal, laid out like the view's log_probs.
template <class S>
void add_posterior_minus_prior(const LocalView<S>& view, S* credit);

}  // namespace hindsight::internal
