#include <hindsight/core/instruction_set_dispatch.hpp>

#define HWY_TARGET_INCLUDE <hindsight/core/elimination_kernels-inl.hpp>
#include <hwy/foreach_target.h>

#include <hindsight/core/elimination_kernels-inl.hpp>

namespace hindsight::internal {

template <class S>
const EliminationKernels<S>& elimination_kernels(InstructionSet set) {
  return HINDSIGHT_CALL_FOR(set, elimination_table<S>());
}

template const EliminationKernels<float>& elimination_kernels<float>(InstructionSet);
template const EliminationKernels<double>& elimination_kernels<double>(InstructionSet);

}  // namespace hindsight::internal
