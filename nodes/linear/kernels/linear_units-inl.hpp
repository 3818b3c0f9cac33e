// What happens at a unit: logits to log-probabilities, sampling, derivatives. Compiled once per instruction
// set.
#if defined(HINDSIGHT_LINEAR_UNITS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_LINEAR_UNITS_INL
#undef HINDSIGHT_LINEAR_UNITS_INL
#else
#define HINDSIGHT_LINEAR_UNITS_INL
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <hindsight/nodes/linear_products-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Outcomes as numbers of type S.
template <class S>
HWY_INLINE Vector<S> load_outcomes(const Outcome* outcomes) {
  const Tag<S> d;
  const hn::Rebind<Outcome, Tag<S>> narrow;
  if constexpr (sizeof(S) == sizeof(Outcome))
    return hn::ConvertTo(d, hn::Load(narrow, outcomes));
  else
    return hn::PromoteTo(d, hn::Load(narrow, outcomes));
}

template <class S>
HWY_INLINE void store_outcomes(Vector<S> values, Outcome* outcomes) {
  const hn::Rebind<Outcome, Tag<S>> narrow;
  if constexpr (sizeof(S) == sizeof(Outcome))
    hn::Store(hn::ConvertTo(narrow, values), narrow, outcomes);
  else
    hn::Store(hn::DemoteTo(narrow, values), narrow, outcomes);
}

/// Logits become log-probabilities; a logit that is not finite makes them NaN. Outcome 0 is drawn where the
/// uniform is below its probability.
template <class S>
void sample_binary(const UnitToSample<S>& unit) {
  const Tag<S> d;
  const auto zero = hn::Zero(d), one = hn::Set(d, S(1)), low = hn::Set(d, unit.low),
             high = hn::Set(d, unit.high);
  S* const row_0 = unit.log_probs.row(0);
  S* const row_1 = unit.log_probs.row(1);
  for (int i = 0; i < unit.log_probs.lanes; i += vector_lanes<S>) {
    const auto logit = hn::Load(d, row_1 + i);
    const auto check = hn::Mul(logit, zero);
    const auto magnitude = hn::Abs(logit);
    const auto ratio = hn::Exp(d, hn::Neg(magnitude));
    const auto likely = hn::Sub(check, hn::Log1p(d, ratio));
    const auto unlikely = hn::Sub(likely, magnitude);
    const auto fires = hn::Ge(logit, zero);
    hn::Store(hn::IfThenElse(fires, unlikely, likely), d, row_0 + i);
    hn::Store(hn::IfThenElse(fires, likely, unlikely), d, row_1 + i);
    auto outcome = one;
    if (unit.uniforms) {
      const auto probability_0 = hn::Div(hn::IfThenElse(fires, ratio, one), hn::Add(one, ratio));
      outcome = hn::IfThenZeroElse(hn::Lt(hn::LoadU(d, unit.uniforms + i), probability_0), one);
      store_outcomes<S>(outcome, unit.sampled + i);
    } else {
      outcome = load_outcomes<S>(unit.sampled + i);
    }
    hn::Store(hn::IfThenElse(hn::Eq(outcome, zero), low, high), d, unit.feature + i);
  }
}

/// The largest log-probability is obtained without subtracting numbers of equal size, so that 1 - p keeps its
/// precision when p is next to 1.
template <class S>
HWY_INLINE void normalise(const SampleRows<S>& rows, std::size_t outcome_count, int lane) {
  const Tag<S> d;
  auto top = hn::Zero(d), largest = hn::Load(d, rows.row(0) + lane), check = hn::Mul(largest, hn::Zero(d));
  for (std::size_t k = 1; k < outcome_count; ++k) {
    const auto logit = hn::Load(d, rows.row(k) + lane);
    check = hn::MulAdd(logit, hn::Zero(d), check);
    const auto larger = hn::Gt(logit, largest);
    top = hn::IfThenElse(larger, hn::Set(d, static_cast<S>(k)), top);
    largest = hn::IfThenElse(larger, logit, largest);
  }
  auto rest = hn::Zero(d);
  for (std::size_t k = 0; k < outcome_count; ++k) {
    const auto is_top = hn::Eq(top, hn::Set(d, static_cast<S>(k)));
    const auto logit = hn::Load(d, rows.row(k) + lane);
    rest = hn::Add(rest, hn::IfThenZeroElse(is_top, hn::Exp(d, hn::Sub(logit, largest))));
  }
  const auto excess = hn::Sub(hn::Log1p(d, rest), check);
  for (std::size_t k = 0; k < outcome_count; ++k) {
    const auto logit = hn::Load(d, rows.row(k) + lane);
    hn::Store(hn::Sub(hn::Sub(logit, largest), excess), d, rows.row(k) + lane);
  }
}

/// Inverse CDF over one group of lanes. The sum is in double: in float it would drift over many outcomes.
template <class S>
HWY_INLINE void invert(const UnitToSample<S>& unit, int lane, S* probabilities) {
  const Tag<S> d;
  double cumulative[lane_group] = {};
  Outcome chosen[lane_group] = {};
  for (std::size_t k = 0; k < unit.outcome_count; ++k) {
    for (int i = 0; i < lane_group; i += vector_lanes<S>)
      hn::Store(hn::Exp(d, hn::Load(d, unit.log_probs.row(k) + lane + i)), d, probabilities + i);
    for (int i = 0; i < lane_group; ++i) {
      const bool reached = static_cast<double>(unit.uniforms[lane + i]) < cumulative[i];
      chosen[i] = !reached && probabilities[i] > 0 ? static_cast<Outcome>(k) : chosen[i];
      cumulative[i] += static_cast<double>(probabilities[i]);
    }
  }
  std::copy(chosen, chosen + lane_group, unit.sampled + lane);
}

template <class S>
void sample_softmax(const UnitToSample<S>& unit, S* scratch) {
  for (int lane = 0; lane < unit.log_probs.lanes; lane += vector_lanes<S>)
    normalise(unit.log_probs, unit.outcome_count, lane);
  if (unit.uniforms)
    for (int lane = 0; lane < unit.log_probs.lanes; lane += lane_group) invert(unit, lane, scratch);
}

template <class S>
HWY_INLINE auto counting(int lane, int samples) {
  const int left = samples - lane;
  return hn::FirstN(Tag<S>(), static_cast<std::size_t>(std::clamp(left, 0, vector_lanes<S>)));
}

template <class S>
void binary_deltas(const SampleRows<const S>& log_probs, const S* credit, int samples, S* deltas) {
  const Tag<S> d;
  for (int i = 0; i < log_probs.lanes; i += vector_lanes<S>) {
    const auto credit_0 = hn::Load(d, credit + i), credit_1 = hn::Load(d, credit + log_probs.stride + i);
    const auto p_0 = hn::Exp(d, hn::Load(d, log_probs.row(0) + i)),
               p_1 = hn::Exp(d, hn::Load(d, log_probs.row(1) + i));
    const auto delta = hn::MulSub(credit_1, p_0, hn::Mul(credit_0, p_1));
    hn::Store(hn::IfThenElseZero(counting<S>(i, samples), delta), d, deltas + i);
  }
}

/// w_k - π_k·Σw in the form of softmax_gradient, which keeps its precision when π_k is next to 1.
template <class S>
void softmax_deltas(const SampleRows<const S>& log_probs, const S* credit, std::size_t outcome_count,
                    int samples, S* deltas) {
  const Tag<S> d;
  for (int i = 0; i < log_probs.lanes; i += vector_lanes<S>) {
    auto total = hn::Zero(d);
    for (std::size_t k = 0; k < outcome_count; ++k)
      total = hn::Add(total, hn::Load(d, credit + k * log_probs.stride + i));
    for (std::size_t k = 0; k < outcome_count; ++k) {
      const auto own = hn::Load(d, credit + k * log_probs.stride + i);
      const auto log_prob = hn::Load(d, log_probs.row(k) + i);
      const auto others = hn::Mul(hn::Exp(d, log_prob), hn::Sub(total, own));
      const auto delta = hn::Sub(hn::Neg(hn::Mul(own, hn::Expm1(d, log_prob))), others);
      hn::Store(hn::IfThenElseZero(counting<S>(i, samples), delta), d,
                deltas + k * static_cast<std::size_t>(log_probs.lanes) + static_cast<std::size_t>(i));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
