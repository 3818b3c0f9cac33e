#include <algorithm>

#include <hindsight/core/instruction_set_dispatch.hpp>

#define HWY_TARGET_INCLUDE <hindsight/nodes/linear_kernels-inl.hpp>
#include <hwy/foreach_target.h>

#include <hindsight/nodes/linear_kernels-inl.hpp>

namespace hindsight::internal {

template <class S>
std::size_t TableRange<S>::edges_per_log() const {
  const double each = 2 * static_cast<double>(largest);
  return each * static_cast<double>(most_edges_per_log) <= product_range
             ? most_edges_per_log
             : std::max<std::size_t>(1, static_cast<std::size_t>(product_range / each));
}

template <class S>
const LinearKernels<S>& linear_kernels(InstructionSet set) {
  return HINDSIGHT_CALL_FOR(set, linear_table<S>());
}

template struct TableRange<float>;
template struct TableRange<double>;
template const LinearKernels<float>& linear_kernels<float>(InstructionSet);
template const LinearKernels<double>& linear_kernels<double>(InstructionSet);

}  // namespace hindsight::internal
