// Log-probabilities of units at other outcomes of what they read, samples in the vector lanes. Compiled once
// per instruction set.
#if defined(HINDSIGHT_LINEAR_FACTOR_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_LINEAR_FACTOR_KERNELS_INL
#undef HINDSIGHT_LINEAR_FACTOR_KERNELS_INL
#else
#define HINDSIGHT_LINEAR_FACTOR_KERNELS_INL
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <hindsight/nodes/linear_factor_kernels.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class S>
inline constexpr int factor_lanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<S>()));

/// e^-|x|, also where x is not finite.
template <class S, class V>
HWY_INLINE V decay(V x) {
  const hn::ScalableTag<S> d;
  return hn::Exp(d, hn::Max(hn::Neg(hn::Abs(x)), hn::Set(d, S(-1e4))));
}

template <class S>
HWY_INLINE hn::Vec<hn::ScalableTag<S>> outcomes_as_numbers(const Outcome* outcomes) {
  const hn::ScalableTag<S> d;
  const hn::Rebind<Outcome, hn::ScalableTag<S>> narrow;
  if constexpr (sizeof(S) == sizeof(Outcome))
    return hn::ConvertTo(d, hn::Load(narrow, outcomes));
  else
    return hn::PromoteTo(d, hn::Load(narrow, outcomes));
}

template <class S>
void binary_logit(const S* log_probs, std::size_t stride, int lanes, S* logit) {
  const hn::ScalableTag<S> d;
  for (int i = 0; i < lanes; i += factor_lanes<S>)
    hn::Store(hn::Sub(hn::Load(d, log_probs + stride + i), hn::Load(d, log_probs + i)), d, logit + i);
}

template <class S>
void turn_to_outcome(const Outcome* sampled, int lanes, S* logit, S* sign) {
  const hn::ScalableTag<S> d;
  const auto one = hn::Set(d, S(1)), minus_one = hn::Set(d, S(-1));
  for (int i = 0; i < lanes; i += factor_lanes<S>) {
    const auto turned =
        hn::IfThenElse(hn::Eq(outcomes_as_numbers<S>(sampled + i), hn::Zero(d)), minus_one, one);
    hn::Store(turned, d, sign + i);
    hn::Store(hn::Mul(turned, hn::Load(d, logit + i)), d, logit + i);
  }
}

/// log σ(x) = min(x, 0) - log(1 + e^-|x|): the sums of the first parts, and one logarithm of the product of
/// the others.
template <class S>
void known_binary(std::span<const KnownBinary<S>> units, const S* contributions, int lanes, bool starts,
                  S* out) {
  const hn::ScalableTag<S> d;
  const auto one = hn::Set(d, S(1)), zero = hn::Zero(d);
  for (int i = 0; i < lanes; i += factor_lanes<S>) {
    auto sum = starts ? zero : hn::Load(d, out + i), product = one;
    for (std::size_t u = 0; u < units.size(); ++u) {
      const auto x = hn::MulAdd(hn::Load(d, units[u].sign + i), hn::Set(d, contributions[u]),
                                hn::Load(d, units[u].logit + i));
      sum = hn::Add(sum, hn::Min(x, zero));
      product = hn::MulAdd(product, decay<S>(x), product);
    }
    hn::Store(hn::Sub(sum, hn::Log(d, product)), d, out + i);
  }
}

template <class S>
void open_binary(const S* logit, S contribution, int lanes, S* out_0, S* out_1) {
  const hn::ScalableTag<S> d;
  const auto zero = hn::Zero(d), added = hn::Set(d, contribution);
  for (int i = 0; i < lanes; i += factor_lanes<S>) {
    const auto x = hn::Add(hn::Load(d, logit + i), added);
    const auto rest = hn::Log1p(d, decay<S>(x));
    hn::Store(hn::Sub(hn::Neg(hn::Max(x, zero)), rest), d, out_0 + i);
    hn::Store(hn::Sub(hn::Min(x, zero), rest), d, out_1 + i);
  }
}

/// The logarithm of the normaliser of logits in rows of lanes.
template <class S>
HWY_INLINE hn::Vec<hn::ScalableTag<S>> log_normaliser(const S* logits, std::span<const S> contributions,
                                                      std::size_t row) {
  const hn::ScalableTag<S> d;
  const auto logit = [&](std::size_t k) HWY_ATTR {
    return hn::Add(hn::Load(d, logits + k * row), hn::Set(d, contributions[k]));
  };
  auto largest = logit(0);
  for (std::size_t k = 1; k < contributions.size(); ++k) largest = hn::Max(largest, logit(k));
  auto total = hn::Zero(d);
  for (std::size_t k = 0; k < contributions.size(); ++k)
    total = hn::Add(total, hn::Exp(d, hn::Max(hn::Sub(logit(k), largest), hn::Set(d, S(-1e4)))));
  return hn::Add(largest, hn::Log(d, total));
}

template <class S>
void known_softmax(const S* logits, std::span<const S> contributions, const Outcome* sampled, int lanes,
                   bool starts, S* out) {
  const hn::ScalableTag<S> d;
  const auto row = static_cast<std::size_t>(lanes);
  for (int i = 0; i < lanes; i += factor_lanes<S>) {
    const auto outcome = outcomes_as_numbers<S>(sampled + i);
    auto chosen = hn::Zero(d);
    for (std::size_t k = 0; k < contributions.size(); ++k) {
      const auto logit = hn::Add(hn::Load(d, logits + k * row + i), hn::Set(d, contributions[k]));
      chosen = hn::IfThenElse(hn::Eq(outcome, hn::Set(d, static_cast<S>(k))), logit, chosen);
    }
    const auto log_prob = hn::Sub(chosen, log_normaliser(logits + i, contributions, row));
    hn::Store(starts ? log_prob : hn::Add(hn::Load(d, out + i), log_prob), d, out + i);
  }
}

template <class S>
void open_softmax(const S* logits, std::span<const S> contributions, int lanes, std::size_t stride, S* out) {
  const hn::ScalableTag<S> d;
  const auto row = static_cast<std::size_t>(lanes);
  for (int i = 0; i < lanes; i += factor_lanes<S>) {
    const auto normaliser = log_normaliser(logits + i, contributions, row);
    for (std::size_t k = 0; k < contributions.size(); ++k) {
      const auto logit = hn::Add(hn::Load(d, logits + k * row + i), hn::Set(d, contributions[k]));
      hn::Store(hn::Sub(logit, normaliser), d, out + k * stride + i);
    }
  }
}

template <class S>
const LinearFactorKernels<S>& linear_factor_table() {
  static constexpr LinearFactorKernels<S> table{.binary_logit = binary_logit<S>,
                                                .turn_to_outcome = turn_to_outcome<S>,
                                                .known_binary = known_binary<S>,
                                                .open_binary = open_binary<S>,
                                                .known_softmax = known_softmax<S>,
                                                .open_softmax = open_softmax<S>};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
