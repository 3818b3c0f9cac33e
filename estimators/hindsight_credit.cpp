#include <hindsight/estimators/hindsight_credit.hpp>

#include <hindsight/estimators/hnca_kernels.hpp>

namespace hindsight {

Verdict HindsightCredit::admissible(const Facts& facts) const {
  if (facts.reads_directly)
    return {.admissible = false,
            .unbiased = false,
            .reason = Reason::biased,
            .why = "the reward reads it, so what else the reward reads tells only a part of its effect",
            .alternatives = {{"Reinforce{}", "unbiased everywhere, more variance"}}};
  return {.why = "unbiased on any DAG"};
}

template <class S>
void HindsightCredit::add_weights(const LocalView<S>& view, const WeightTable<S>& weights) const {
  add_posterior_minus_prior(view, weights.weights);
}

template void HindsightCredit::add_weights(const LocalView<float>&, const WeightTable<float>&) const;
template void HindsightCredit::add_weights(const LocalView<double>&, const WeightTable<double>&) const;

}  // namespace hindsight
