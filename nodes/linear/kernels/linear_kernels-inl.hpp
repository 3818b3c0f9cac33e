// The table of kernels of one instruction set: included once per set, by foreach_target.h.
#if defined(HINDSIGHT_LINEAR_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_LINEAR_KERNELS_INL
#undef HINDSIGHT_LINEAR_KERNELS_INL
#else
#define HINDSIGHT_LINEAR_KERNELS_INL
#endif

#include <hindsight/nodes/linear_bits-inl.hpp>
#include <hindsight/nodes/linear_functions-inl.hpp>
#include <hindsight/nodes/linear_general_messages-inl.hpp>
#include <hindsight/nodes/linear_gradients-inl.hpp>
#include <hindsight/nodes/linear_messages-inl.hpp>
#include <hindsight/nodes/linear_products-inl.hpp>
#include <hindsight/nodes/linear_units-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {

template <class S>
const LinearKernels<S>& linear_table() {
  static constexpr LinearKernels<S> table{
      .add_dense = add_dense<S>,
      .add_sparse = add_sparse<S>,
      .add_bits = add_bits<S>,
      .sample_binary = sample_binary<S>,
      .sample_softmax = sample_softmax<S>,
      .binary_deltas = binary_deltas<S>,
      .softmax_deltas = softmax_deltas<S>,
      .accumulate_dense = accumulate_dense<S>,
      .accumulate_sparse = accumulate_sparse<S>,
      .sum_subsets = sum_subsets<S>,
      .accumulate_bits = accumulate_bits<S>,
      .sum = sum<S>,
      .activate = activate<S>,
      .function_deltas = function_deltas<S>,
      .backpropagate_dense = backpropagate_dense<S>,
      .backpropagate_sparse = backpropagate_sparse<S>,
      .describe_for_dense = describe_for_dense<S>,
      .describe_for_sparse = describe_for_sparse<S>,
      .describe_for_general = describe_for_general<S>,
      .make_dense_table = make_dense_table<S>,
      .add_dense_messages = add_dense_messages<S>,
      .make_sparse_table = make_sparse_table<S>,
      .add_sparse_messages = add_sparse_messages<S>,
      .add_message_in_log_space = add_message_in_log_space<S>,
      .make_general_table = make_general_table<S>,
      .add_general_messages = add_general_messages<S>,
      .add_general_message_in_log_space = add_general_message_in_log_space<S>};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
