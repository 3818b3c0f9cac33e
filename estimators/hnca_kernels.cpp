#include <hindsight/estimators/hnca_kernels.hpp>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_TARGET_INCLUDE <hindsight/estimators/hnca_kernels-inl.hpp>
#include <hwy/foreach_target.h>

#include <hindsight/estimators/hnca_kernels-inl.hpp>

namespace hindsight {

template <class S>
void add_posterior_minus_prior(const LocalView<S>& view, S* weights) {
#if HWY_ARCH_X86_64
  if (view.instructions == InstructionSet::avx512) return N_AVX3::add_posterior_minus_prior(view, weights);
  if (view.instructions == InstructionSet::avx2) return N_AVX2::add_posterior_minus_prior(view, weights);
#endif
  HWY_NAMESPACE::add_posterior_minus_prior(view, weights);
}

template void add_posterior_minus_prior(const LocalView<float>&, float*);
template void add_posterior_minus_prior(const LocalView<double>&, double*);

}  // namespace hindsight
