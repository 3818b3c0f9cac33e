#pragma once

namespace hindsight::internal {

/// What becomes of weights·features + bias. Bernoulli: one logit, that of outcome 1. Softmax: one logit per
/// outcome. The others are deterministic.
enum class LinkFunction { bernoulli, softmax, tanh, relu, sigmoid, identity };

constexpr bool is_deterministic(LinkFunction link) {
  return link != LinkFunction::bernoulli && link != LinkFunction::softmax;
}

}  // namespace hindsight::internal
