#include <hindsight/estimators/hnca.hpp>

#include <cmath>

namespace hindsight {
namespace {

const Alternative reinforce{"Reinforce{}", "unbiased everywhere, more variance"};
const Alternative relaxed{"Hnca{.assumption = Assumption::relaxed}",
                          "unbiased on any DAG, and never more variance than REINFORCE"};

/// posterior - prior for one unit and sample. With a reference outcome r and d_k = evidence_k - evidence_r,
///   posterior_k - prior_k = prior_k·(e^{d_k - L} - 1),   L = log Σ prior_j·e^{d_j} = log(1 + Σ
///   prior_j·(e^{d_j} - 1)).
/// r is the outcome of the largest posterior: then nothing overflows, and a small difference keeps its
/// precision.
template <class S>
class PosteriorMinusPrior {
 public:
  PosteriorMinusPrior(const LocalView<S>& view, int unit, int sample)
      : view_(view), unit_(unit), sample_(sample) {
    for (int k = 1; k < view.outcomes; ++k)
      if (joint(k) > joint(reference_)) reference_ = k;
    S excess = 0, rest = 0;
    for (int k = 0; k < view.outcomes; ++k) {
      if (k == reference_) continue;
      excess += change(k, ratio(k));
      rest += std::exp(prior(k) - prior(reference_) + ratio(k));
    }
    log_normaliser_ = excess > S(-0.5) ? std::log1p(excess) : prior(reference_) + std::log1p(rest);
  }

  S operator()(int k) const { return change(k, ratio(k) - log_normaliser_); }

 private:
  S prior(int k) const { return view_.log_prob(unit_, k, sample_); }
  S joint(int k) const { return prior(k) + view_.evidence_of(unit_, k, sample_); }
  S ratio(int k) const {
    return view_.evidence_of(unit_, k, sample_) - view_.evidence_of(unit_, reference_, sample_);
  }
  /// prior_k·(e^x - 1), where e^x alone may overflow.
  S change(int k, S x) const {
    return x < 1 ? std::exp(prior(k)) * std::expm1(x) : std::exp(prior(k) + x) - std::exp(prior(k));
  }

  const LocalView<S>& view_;
  int unit_, sample_, reference_ = 0;
  S log_normaliser_ = 0;
};

}  // namespace

Verdict Hnca::admissible(const Facts& facts) const {
  if (facts.reads_directly)
    return {.admissible = false,
            .unbiased = false,
            .reason = Reason::biased,
            .why = facts.has_children ? "the reward reads it, so its children tell only a part of its effect"
                                      : "the reward reads it and no child tells its effect",
            .alternatives = {reinforce}};
  if (!facts.assumption_1 && assumption == Assumption::enforced)
    return {.admissible = false,
            .unbiased = true,
            .reason = Reason::policy,
            .why = "Assumption 1 is violated",
            .alternatives = {relaxed, reinforce}};
  return {.why = facts.assumption_1 ? "Assumption 1 holds" : "unbiased without Assumption 1"};
}

template <class S>
void Hnca::add_weights(const LocalView<S>& view, const WeightTable<S>& weights) const {
  for (int unit = 0; unit < view.units; ++unit)
    for (int i = 0; i < view.samples; ++i) {
      if (view.signal[i] == 0) continue;
      const PosteriorMinusPrior<S> change(view, unit, i);
      for (int k = 0; k < view.outcomes; ++k) weights(unit, k, i) += change(k) * view.signal[i];
    }
}

template void Hnca::add_weights(const LocalView<float>&, const WeightTable<float>&) const;
template void Hnca::add_weights(const LocalView<double>&, const WeightTable<double>&) const;

}  // namespace hindsight
