#include <hindsight/core/instruction_set_dispatch.hpp>

#define HWY_TARGET_INCLUDE <hindsight/nodes/linear_factor_kernels-inl.hpp>
#include <hwy/foreach_target.h>

#include <hindsight/nodes/linear_factor_kernels-inl.hpp>

namespace hindsight::internal {

template <class S>
const LinearFactorKernels<S>& linear_factor_kernels(InstructionSet set) {
  return HINDSIGHT_CALL_FOR(set, linear_factor_table<S>());
}

template const LinearFactorKernels<float>& linear_factor_kernels<float>(InstructionSet);
template const LinearFactorKernels<double>& linear_factor_kernels<double>(InstructionSet);

}  // namespace hindsight::internal
