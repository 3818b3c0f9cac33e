#include <hindsight/estimators/hindsight_credit.hpp>

#include <hindsight/estimators/hnca.hpp>

namespace hindsight {

Verdict HindsightCredit::admissible(const Facts& facts) const {
  if (facts.reads_directly && !facts.known)
    return {.admissible = false,
            .unbiased = false,
            .reason = Reason::biased,
            .why = "the reward reads it, so what else the reward reads tells only a part of its effect",
            .alternatives = {{"Reinforce{}", "unbiased everywhere, more variance"}}};
  if (facts.reads_directly) return {.why = "the reward is known, what it reads besides tells the rest"};
  return {.why = "unbiased on any DAG"};
}

template <class S>
void HindsightCredit::add_weights(const LocalView<S>& view, const WeightTable<S>& weights) const {
  Hnca{}.add_weights(view, weights);  // evidence is evidence, however many steps it took
}

template void HindsightCredit::add_weights(const LocalView<float>&, const WeightTable<float>&) const;
template void HindsightCredit::add_weights(const LocalView<double>&, const WeightTable<double>&) const;

}  // namespace hindsight
