#include <hindsight/estimators/reinforce.hpp>

namespace hindsight {

Verdict Reinforce::admissible(const Facts&) const { return {.why = "unbiased for every node and reward"}; }

template <class S>
void Reinforce::add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
  for (int unit = 0; unit < view.units; ++unit)
    for (int i = 0; i < view.samples; ++i) credit(unit, view.outcome(unit, i), i) += view.signal[i];
}

template void Reinforce::add_credit(const LocalView<float>&, const CreditTable<float>&) const;
template void Reinforce::add_credit(const LocalView<double>&, const CreditTable<double>&) const;

}  // namespace hindsight
