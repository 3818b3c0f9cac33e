#include <hindsight/core/instruction_set_dispatch.hpp>
#include <hindsight/estimators/hnca_kernels.hpp>

#define HWY_TARGET_INCLUDE <hindsight/estimators/hnca_kernels-inl.hpp>
#include <hwy/foreach_target.h>

#include <hindsight/estimators/hnca_kernels-inl.hpp>

namespace hindsight::internal {

template <class S>
void add_posterior_minus_prior(const LocalView<S>& view, S* credit) {
  HINDSIGHT_CALL_FOR(view.instructions, add_posterior_minus_prior(view, credit));
}

template void add_posterior_minus_prior(const LocalView<float>&, float*);
template void add_posterior_minus_prior(const LocalView<double>&, double*);

}  // namespace hindsight::internal
