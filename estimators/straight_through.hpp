#pragma once

#include <string>
#include <string_view>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/estimator.hpp>

namespace hindsight {

/// What stands in for the derivative of an outcome, which has none.
enum class Surrogate {
  probabilities,  ///< the mean of the features: their derivative is that of the probabilities
  identity,       ///< the outcome follows its logit one to one
  clipped,        ///< the same where the logit lies within ±1; beyond, it does not move
};

/// The straight-through estimator: children pass back slopes as if what they read could change by a little,
/// and a surrogate takes the slopes from the features to the logits. Low variance and cheap, but biased
/// wherever the expected reward is not linear in the features (docs/theory.md).
///
/// With x_k the features of outcome k, g their slopes and d_k = ⟨g, x_k⟩, for any encoding:
///   probabilities   w_k = π_k·d_k, which is a·p(1-p)·g at the logit of a Bernoulli unit with a = v1 - v0
///   identity        w_k = d_k - mean of d: a/2·g for a Bernoulli unit, g_k - mean of g for one-hot features
///   clipped         the same over the outcomes whose logit is within ±1, and 0 for the others
/// The logit of an outcome is its log-probability less the mean of the others', so ±(log p1 - log p0) where
/// there are two; it is 0 for all outcomes that are equally likely, however many they are. What cannot occur
/// takes no part.
struct StraightThrough {
  static constexpr std::string_view kind = "straight-through";
  Surrogate through = Surrogate::probabilities;

  Needs needs() const { return {.pathwise = true}; }
  Verdict admissible(const Facts& facts) const;
  std::string name() const;
  static StraightThrough read(AttributeReader& given);

  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const;

  bool operator==(const StraightThrough&) const = default;
};

static_assert(Estimator<StraightThrough>);

}  // namespace hindsight
