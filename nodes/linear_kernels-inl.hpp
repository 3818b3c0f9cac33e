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
namespace hindsight {
namespace HWY_NAMESPACE {

template <class S>
const LinearKernels<S>& linear_table() {
  static constexpr LinearKernels<S> table{.add_dense = add_dense<S>,
                                          .add_sparse = add_sparse<S>,
                                          .add_bits = add_bits<S>,
                                          .settle_binary = settle_binary<S>,
                                          .settle_softmax = settle_softmax<S>,
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
                                          .tell_dense = tell_dense<S>,
                                          .make_sparse_table = make_sparse_table<S>,
                                          .tell_sparse = tell_sparse<S>,
                                          .tell_safely = tell_safely<S>,
                                          .make_general_table = make_general_table<S>,
                                          .tell_general = tell_general<S>,
                                          .tell_general_safely = tell_general_safely<S>};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight
HWY_AFTER_NAMESPACE();

#endif
