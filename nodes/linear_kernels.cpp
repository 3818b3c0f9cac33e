#include <hindsight/nodes/linear_kernels.hpp>

#include <algorithm>

// Baseline, AVX2 and AVX-512: what lies between them is rare today, and each set costs compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_TARGET_INCLUDE <hindsight/nodes/linear_kernels-inl.hpp>
#include <hwy/foreach_target.h>

#include <hindsight/nodes/linear_kernels-inl.hpp>

namespace hindsight {

template <class S>
std::size_t TableRange<S>::edges_per_log() const {
  const double each = 2 * static_cast<double>(largest);
  return each * static_cast<double>(most_edges_per_log) <= product_range
             ? most_edges_per_log
             : std::max<std::size_t>(1, static_cast<std::size_t>(product_range / each));
}

template <class S>
const LinearKernels<S>& linear_kernels(InstructionSet set) {
#if HWY_ARCH_X86_64
  if (set == InstructionSet::avx512) return N_AVX3::linear_table<S>();
  if (set == InstructionSet::avx2) return N_AVX2::linear_table<S>();
#endif
  static_cast<void>(set);
  return HWY_NAMESPACE::linear_table<S>();
}

template struct TableRange<float>;
template struct TableRange<double>;
template const LinearKernels<float>& linear_kernels<float>(InstructionSet);
template const LinearKernels<double>& linear_kernels<double>(InstructionSet);

}  // namespace hindsight
