#include <hindsight/estimators/reinforce.hpp>

namespace hindsight {

Verdict Reinforce::admissible(const Facts&) const { return {.why = "unbiased for every node and reward"}; }

template <class S>
void Reinforce::add_weights(const LocalView<S>& view, const WeightTable<S>& weights) const {
  for (int unit = 0; unit < view.units; ++unit)
    for (int i = 0; i < view.samples; ++i) weights(unit, view.outcome(unit, i), i) += view.signal[i];
}

template void Reinforce::add_weights(const LocalView<float>&, const WeightTable<float>&) const;
template void Reinforce::add_weights(const LocalView<double>&, const WeightTable<double>&) const;

}  // namespace hindsight
