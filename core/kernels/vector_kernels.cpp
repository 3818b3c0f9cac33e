#include <hindsight/core/instruction_set_dispatch.hpp>

#define HWY_TARGET_INCLUDE <hindsight/core/vector_kernels-inl.hpp>
#include <hwy/foreach_target.h>

#include <hindsight/core/vector_kernels-inl.hpp>

namespace hindsight::internal {

template <class S>
const VectorKernels<S>& vector_kernels(InstructionSet set) {
  return HINDSIGHT_CALL_FOR(set, vector_table<S>());
}

template const VectorKernels<float>& vector_kernels<float>(InstructionSet);
template const VectorKernels<double>& vector_kernels<double>(InstructionSet);

}  // namespace hindsight::internal
