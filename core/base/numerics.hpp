#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace hindsight {

/// log(1 + e^x), exact to rounding for every x.
template <class S>
S softplus(S x) {
  return std::max(x, S(0)) + std::log1p(std::exp(-std::abs(x)));
}

template <class S>
S log_sigmoid(S x) {
  return -softplus(-x);
}

/// 1/(1 + e^-x); relative precision is kept where it is tiny.
template <class S>
S sigmoid(S x) {
  const S e = std::exp(-std::abs(x));
  return (x >= 0 ? S(1) : e) / (1 + e);
}

/// What turns logits into normalised log-probabilities. The largest is obtained without subtracting numbers
/// of equal size, so that 1 - p keeps its precision when p is next to 1.
template <class S>
struct LogNormaliser {
  S largest, excess;
  S operator()(S logit) const { return (logit - largest) - excess; }
};

/// Of logit(0) … logit(count - 1); some may be -∞.
template <class S, class Logit>
LogNormaliser<S> log_normaliser(std::size_t count, const Logit& logit) {
  std::size_t top = 0;
  for (std::size_t k = 1; k < count; ++k)
    if (logit(k) > logit(top)) top = k;
  double rest = 0;
  for (std::size_t k = 0; k < count; ++k)
    if (k != top) rest += static_cast<double>(std::exp(logit(k) - logit(top)));
  return {logit(top), static_cast<S>(std::log1p(rest))};
}

/// Turns `count` logits, `stride` apart, into normalised log-probabilities.
template <class S>
void log_softmax(S* logits, std::size_t count, std::size_t stride = 1) {
  const LogNormaliser<S> normalised =
      log_normaliser<S>(count, [&](std::size_t k) { return logits[k * stride]; });
  for (std::size_t k = 0; k < count; ++k) logits[k * stride] = normalised(logits[k * stride]);
}

/// log(e^a + e^b); either may be -∞.
template <class S>
S log_add(S a, S b) {
  const S larger = std::max(a, b);
  return larger == -std::numeric_limits<S>::infinity() ? larger
                                                       : larger + std::log1p(std::exp(-std::abs(a - b)));
}

/// The gradient of Σ_k w_k·log π_k at the k-th softmax logit, w_k - π_k·Σw, in a form that keeps its
/// precision when π_k is next to 1.
template <class S>
S softmax_gradient(S credit, S log_prob, S credit_sum) {
  return credit * -std::expm1(log_prob) - std::exp(log_prob) * (credit_sum - credit);
}

}  // namespace hindsight
