// HNCA's credit, samples in the vector lanes. Compiled once per instruction set.
#if defined(HINDSIGHT_HNCA_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_HNCA_KERNELS_INL
#undef HINDSIGHT_HNCA_KERNELS_INL
#else
#define HINDSIGHT_HNCA_KERNELS_INL
#endif

#include <algorithm>

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <hindsight/core/estimator.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A vector of samples, of which those beyond the last are left alone. Masked loads and stores are slow on
/// some processors: only the end of a row takes them.
template <class S>
class Samples {
 public:
  using Tag = hn::ScalableTag<S>;
  using Vector = hn::Vec<Tag>;
  static constexpr int lanes = static_cast<int>(hn::MaxLanes(Tag()));

  HWY_INLINE Samples(int first, int count)
      : first_(first),
        whole_(first + lanes <= count),
        inside_(hn::FirstN(Tag(), static_cast<std::size_t>(std::min(lanes, count - first)))) {}

  HWY_INLINE Vector load(const S* row) const {
    return whole_ ? hn::LoadU(Tag(), row + first_) : hn::MaskedLoad(inside_, Tag(), row + first_);
  }
  HWY_INLINE void store(Vector values, S* row) const {
    if (whole_)
      hn::StoreU(values, Tag(), row + first_);
    else
      hn::BlendedStore(values, inside_, Tag(), row + first_);
  }

 private:
  const int first_;
  const bool whole_;
  const hn::Mask<Tag> inside_;
};

/// posterior - prior for one unit with any number of outcomes, samples in the lanes. With a reference outcome
/// r and d_k = evidence_k - evidence_r,
///   posterior_k - prior_k = prior_k·(e^{d_k - L} - 1),   L = log Σ prior_j·e^{d_j} = log(1 + Σ
///   prior_j·(e^{d_j} - 1)).
/// r is the outcome of the largest posterior: then nothing overflows, and a small difference keeps its
/// precision.
template <class S>
class PosteriorMinusPrior {
 public:
  using Tag = hn::ScalableTag<S>;
  using Vector = hn::Vec<Tag>;

  HWY_INLINE PosteriorMinusPrior(const LocalView<S>& view, int unit, const Samples<S>& samples)
      : view_(view), unit_(unit), samples_(samples) {
    const Tag d;
    reference_ = hn::Zero(d);
    reference_prior_ = prior(0);
    reference_evidence_ = evidence(0);
    auto best = hn::Add(reference_prior_, reference_evidence_);
    for (int k = 1; k < view.outcome_count; ++k) {
      const auto joint = hn::Add(prior(k), evidence(k));
      const auto better = hn::Gt(joint, best);
      best = hn::IfThenElse(better, joint, best);
      reference_ = hn::IfThenElse(better, hn::Set(d, static_cast<S>(k)), reference_);
      reference_prior_ = hn::IfThenElse(better, prior(k), reference_prior_);
      reference_evidence_ = hn::IfThenElse(better, evidence(k), reference_evidence_);
    }
    auto excess = hn::Zero(d), rest = hn::Zero(d);
    for (int k = 0; k < view.outcome_count; ++k) {
      const auto is_reference = hn::Eq(reference_, hn::Set(d, static_cast<S>(k)));
      const auto ratio = this->ratio(k);
      excess = hn::Add(excess, hn::IfThenZeroElse(is_reference, change(k, ratio)));
      const auto joint = exp(hn::Add(hn::Sub(prior(k), reference_prior_), ratio));
      rest = hn::Add(rest, hn::IfThenZeroElse(is_reference, joint));
    }
    const auto near = hn::Gt(excess, hn::Set(d, S(-0.5)));
    log_normaliser_ = hn::IfThenElse(near, hn::Log1p(d, hn::Max(excess, hn::Set(d, S(-0.5)))),
                                     hn::Add(reference_prior_, hn::Log1p(d, rest)));
  }

  HWY_INLINE Vector operator()(int k) const { return change(k, hn::Sub(ratio(k), log_normaliser_)); }

 private:
  HWY_INLINE Vector load(const S* rows, int k) const { return samples_.load(rows + view_.row(unit_, k)); }
  HWY_INLINE Vector prior(int k) const { return load(view_.log_probs, k); }
  HWY_INLINE Vector evidence(int k) const { return load(view_.evidence, k); }
  HWY_INLINE Vector ratio(int k) const { return hn::Sub(evidence(k), reference_evidence_); }
  /// Of a number that is not large; -∞ gives 0.
  static HWY_INLINE Vector exp(Vector x) {
    const Tag d;
    return hn::Exp(d, hn::Max(x, hn::Set(d, S(-1e4))));
  }
  /// prior_k·(e^x - 1), where e^x alone may overflow.
  HWY_INLINE Vector change(int k, Vector x) const {
    const Tag d;
    const auto one = hn::Set(d, S(1));
    const auto log_prior = prior(k);
    const auto small = hn::Mul(exp(log_prior), hn::Expm1(d, hn::Max(hn::Min(x, one), hn::Set(d, S(-1e4)))));
    if (hn::AllTrue(d, hn::Lt(x, one))) return small;
    const auto large = hn::Sub(exp(hn::Add(log_prior, x)), exp(log_prior));
    return hn::IfThenElse(hn::Lt(x, one), small, large);
  }

  const LocalView<S>& view_;
  const int unit_;
  const Samples<S>& samples_;
  Vector reference_, reference_prior_, reference_evidence_, log_normaliser_;
};

/// σ(l + λ) - σ(l) for one binary unit, where l is its logit and λ the evidence for outcome 1: the sign of λ
/// times σ(hi)·σ(-lo)·(1 - e^{-|λ|}), hi and lo being the larger and the smaller of l + λ and l. Nothing
/// cancels.
template <class S>
HWY_INLINE hn::Vec<hn::ScalableTag<S>> binary_change(const LocalView<S>& view, int unit,
                                                     const Samples<S>& samples) {
  const hn::ScalableTag<S> d;
  const auto load = [&](const S* rows, int k) HWY_ATTR { return samples.load(rows + view.row(unit, k)); };
  const auto bounded = [&](auto x) HWY_ATTR { return hn::Max(x, hn::Set(d, S(-1e4))); };
  const auto prior_0 = load(view.log_probs, 0), prior_1 = load(view.log_probs, 1);
  const auto evidence = hn::Sub(load(view.evidence, 1), load(view.evidence, 0));
  const auto sign = hn::And(evidence, hn::SignBit(d));
  const auto for_1 = hn::Ge(evidence, hn::Zero(d));
  // The logit of the favoured outcome after the evidence, and the probability of the other one before it.
  const auto favoured = hn::Xor(hn::Add(hn::Sub(prior_1, prior_0), evidence), sign);
  const auto other = hn::Exp(d, bounded(hn::IfThenElse(for_1, prior_0, prior_1)));
  const auto one = hn::Set(d, S(1));
  const auto ratio = hn::Exp(d, bounded(hn::Neg(hn::Abs(favoured))));
  const auto posterior =
      hn::Div(hn::IfThenElse(hn::Ge(favoured, hn::Zero(d)), one, ratio), hn::Add(one, ratio));
  const auto gained = hn::Neg(hn::Expm1(d, bounded(hn::Neg(hn::Abs(evidence)))));
  return hn::Xor(hn::Mul(hn::Mul(posterior, other), gained), sign);
}

template <class S>
void add_posterior_minus_prior(const LocalView<S>& view, S* credit) {
  const hn::ScalableTag<S> d;
  for (int unit = 0; unit < view.units; ++unit)
    for (int i = 0; i < view.samples; i += Samples<S>::lanes) {
      const Samples<S> samples(i, view.samples);
      const auto signal = samples.load(view.signal);
      const auto counts = hn::Ne(signal, hn::Zero(d));
      if (hn::AllFalse(d, counts)) continue;
      const auto add = [&](int k, auto change) HWY_ATTR {
        S* const row = credit + view.row(unit, k);
        const auto before = samples.load(row);
        samples.store(hn::IfThenElse(counts, hn::MulAdd(change, signal, before), before), row);
      };
      if (view.outcome_count == 2) {
        const auto change = binary_change(view, unit, samples);
        add(0, hn::Neg(change));
        add(1, change);
      } else {
        const PosteriorMinusPrior<S> change(view, unit, samples);
        for (int k = 0; k < view.outcome_count; ++k) add(k, change(k));
      }
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
