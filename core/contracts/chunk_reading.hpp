#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <hindsight/core/block.hpp>
#include <hindsight/core/matrix_view.hpp>
#include <hindsight/core/node_runner.hpp>
#include <hindsight/core/shape.hpp>

namespace hindsight::internal {

/// What a real-valued unit shows in place of outcomes, in every sample of a chunk.
inline constexpr auto no_outcomes = [] {
  std::array<Outcome, chunk_samples> all{};
  all.fill(-1);
  return all;
}();

/// Rows of samples as a matrix with a row per sample.
template <class T>
MatrixView<T> transposed(T* rows, std::size_t stride, int samples, std::size_t count) {
  return {rows, samples, static_cast<std::ptrdiff_t>(count), 1, static_cast<std::ptrdiff_t>(stride)};
}

/// Makes what one node reads in a chunk.
template <class S>
class ChunkReader {
 public:
  explicit ChunkReader(const NodeRunner<S>& runner) : runner_(runner) {
    std::size_t feature_row = first_feature_row(), unit_row = first_unit_row();
    for (const ParentPlace& parent : runner.at.parents) {
      const bool discrete = parent.from->is_discrete;
      features_adjoin_ = features_adjoin_ && parent.from->feature_row == feature_row;
      outcomes_adjoin_ = outcomes_adjoin_ && discrete && parent.from->unit_row == unit_row;
      any_discrete_ = any_discrete_ || discrete;
      feature_row += parent.from->features();
      unit_row += parent.from->units();
    }
  }

  /// A view of the parents' rows if they lie side by side, and otherwise a copy.
  ChunkReading<S> read(const Frame<S>& frame) const {
    return {features_adjoin_ ? transposed<const S>(frame.feature(first_feature_row()), frame.stride,
                                                   frame.samples, runner_.features)
                             : copied_features(frame),
            !any_discrete_     ? transposed(no_outcomes.data(), 0, frame.samples, runner_.parent_units)
            : outcomes_adjoin_ ? transposed<const Outcome>(frame.outcome(first_unit_row()), frame.stride,
                                                           frame.samples, runner_.parent_units)
                               : copied_outcomes(frame),
            runner_.parent_shapes};
  }

  /// A copy in the beginning of the scratch, rows of `lanes` numbers, that may be changed there.
  ChunkReading<S> copy(const Frame<S>& frame) const {
    return {copied_features(frame), copied_outcomes(frame), runner_.parent_shapes};
  }

 private:
  std::size_t first_feature_row() const {
    return runner_.at.parents.empty() ? 0 : runner_.at.parents.front().from->feature_row;
  }
  std::size_t first_unit_row() const {
    return runner_.at.parents.empty() ? 0 : runner_.at.parents.front().from->unit_row;
  }

  MatrixView<const S> copied_features(const Frame<S>& frame) const {
    S* to = frame.scratch;
    for (const ParentPlace& parent : runner_.at.parents)
      for (std::size_t row = 0; row < parent.from->features(); ++row, to += frame.lanes)
        std::copy_n(frame.feature(parent.from->feature_row + row), frame.lanes, to);
    return transposed<const S>(frame.scratch, static_cast<std::size_t>(frame.lanes), frame.samples,
                               runner_.features);
  }
  MatrixView<const Outcome> copied_outcomes(const Frame<S>& frame) const {
    Outcome* to = frame.outcome_scratch;
    for (const ParentPlace& parent : runner_.at.parents)
      for (std::size_t row = 0; row < parent.from->units(); ++row, to += frame.lanes)
        std::copy_n(
            parent.from->is_discrete ? frame.outcome(parent.from->unit_row + row) : no_outcomes.data(),
            frame.lanes, to);
    return transposed<const Outcome>(frame.outcome_scratch, static_cast<std::size_t>(frame.lanes),
                                     frame.samples, runner_.parent_units);
  }

  const NodeRunner<S>& runner_;
  bool features_adjoin_ = true, outcomes_adjoin_ = true, any_discrete_ = false;
};

/// Slopes of all that a node reads, in scratch; the parents that want them get theirs added.
template <class S>
class ChunkSlopes {
 public:
  ChunkSlopes(const Frame<S>& frame, const NodeRunner<S>& runner, S* scratch)
      : frame_(frame), runner_(runner), rows_(scratch) {
    std::fill_n(rows_, runner.features * static_cast<std::size_t>(frame.lanes), S(0));
  }

  MatrixView<S> view() const {
    return transposed(rows_, static_cast<std::size_t>(frame_.lanes), frame_.samples, runner_.features);
  }
  void add_to_parents() const {
    const S* slopes = rows_;
    for (const ParentPlace& parent : runner_.at.parents)
      for (std::size_t row = 0; row < parent.from->features(); ++row, slopes += frame_.lanes)
        if (parent.wants_slopes)
          for (int i = 0; i < frame_.samples; ++i)
            frame_.slope(parent.from->feature_row + row)[i] += slopes[i];
  }

 private:
  const Frame<S>& frame_;
  const NodeRunner<S>& runner_;
  S* const rows_;
};

/// Whether any of the matrix is not zero.
template <class S>
bool has_nonzero(MatrixView<const S> matrix) {
  for (std::ptrdiff_t col = 0; col < matrix.cols(); ++col)
    for (std::ptrdiff_t row = 0; row < matrix.rows(); ++row)
      if (matrix(row, col) != 0) return true;
  return false;
}

}  // namespace hindsight::internal
