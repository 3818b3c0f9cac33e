#pragma once

#include <memory>
#include <span>

#include <hindsight/core/block.hpp>

namespace hindsight::internal {

/// Tables for units with linear logits, of one number of logits. A unit with one logit is a Bernoulli unit.
template <class S>
std::unique_ptr<FactorTables<S>> linear_factors(std::span<const FactorGroup> groups);

}  // namespace hindsight::internal
