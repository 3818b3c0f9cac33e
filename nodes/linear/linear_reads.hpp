#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <hindsight/core/shape.hpp>
#include <hindsight/nodes/linear_fusion.hpp>
#include <hindsight/nodes/linear_kernels.hpp>

namespace hindsight::internal {

/// What all units of a block read side by side: one run of features, and per logit row where its weights
/// begin.
struct DenseRun {
  std::size_t feature_row = 0, features = 0, step = 1;
  bool skip_zeros = false, wants_slopes = false;
  std::vector<std::size_t> begin = {};

  bool is(const FeatureRun& run) const {
    return run.feature_row == feature_row && run.features == features && run.step == step;
  }
  template <class S>
  SampleRows<const S> features_of(const SampleRows<const S>& all) const {
    return {all.row(feature_row), all.stride, all.lanes};
  }
  template <class T>
  WeightRows<T> weights(T* parameters, std::size_t first, std::size_t last) const {
    return {parameters, std::span(begin).subspan(first, last - first), features, step, skip_zeros};
  }
};

/// What children see of the two outcomes of a unit; kept here because encodings lie scattered.
template <class S>
struct BinaryValues {
  S low = 0, high = 0;

  BinaryValues() = default;
  explicit BinaryValues(const Encoding& encoding)
      : low(static_cast<S>(encoding.value(0, 0))), high(static_cast<S>(encoding.value(1, 0))) {}
  bool operator==(const BinaryValues&) const = default;
};

/// What one logit row reads besides, through weights that lie side by side.
template <class S>
struct SparseSegment {
  std::size_t parameter = 0;
  std::size_t first = 0, count = 0;  ///< in the list of rows
  bool wants_slopes = false, wants_messages = false;
  std::optional<BinaryValues<S>> binary =
      {};                          ///< rows of binary units, which are read as bits; none: of features
  std::size_t feature_offset = 0;  ///< from a row in the list to the row of its feature
};

inline bool is_binary(const Encoding& encoding) { return encoding.outcome_count == 2 && encoding.width == 1; }

}  // namespace hindsight::internal
