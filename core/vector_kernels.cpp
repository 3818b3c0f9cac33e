#include <hindsight/core/vector_kernels.hpp>

// Baseline, AVX2 and AVX-512: what lies between them is rare today, and each set costs compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_TARGET_INCLUDE <hindsight/core/vector_kernels-inl.hpp>
#include <hwy/foreach_target.h>

#include <hindsight/core/vector_kernels-inl.hpp>

namespace hindsight {

template <class S>
const VectorKernels<S>& vector_kernels(InstructionSet set) {
#if HWY_ARCH_X86_64
  if (set == InstructionSet::avx512) return N_AVX3::vector_table<S>();
  if (set == InstructionSet::avx2) return N_AVX2::vector_table<S>();
#endif
  static_cast<void>(set);
  return HWY_NAMESPACE::vector_table<S>();
}

template const VectorKernels<float>& vector_kernels<float>(InstructionSet);
template const VectorKernels<double>& vector_kernels<double>(InstructionSet);

}  // namespace hindsight
