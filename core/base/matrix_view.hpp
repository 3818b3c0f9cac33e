#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include <hindsight/core/ids.hpp>

namespace hindsight {

/// What Eigen's dense matrices, maps and blocks offer; named here so that no public header includes Eigen.
template <class M>
concept StridedMatrix = requires(M& matrix) {
  { matrix.rows() } -> std::convertible_to<std::ptrdiff_t>;
  { matrix.cols() } -> std::convertible_to<std::ptrdiff_t>;
  { matrix.rowStride() } -> std::convertible_to<std::ptrdiff_t>;
  { matrix.colStride() } -> std::convertible_to<std::ptrdiff_t>;
  {std::to_address(matrix.data())};
};

/// What Eigen's dense expressions offer, such as `images / 255.0F`: no memory to view, but a value.
template <class M>
concept DenseExpression = !StridedMatrix<M> && requires(const M& expression) {
  { expression.eval() } -> StridedMatrix;
};

/// What Eigen's sparse matrices and expressions of them offer.
template <class M>
concept SparseExpression = !StridedMatrix<M> && requires(const M& expression) {
  { expression.toDense() } -> StridedMatrix;
};

/// Samples × units at the API, wherever and however they lie in memory. Owns nothing: a view of a temporary
/// is for the call it is an argument of.
template <class T>
class MatrixView {
 public:
  MatrixView() = default;

  /// Row after row without gaps: sample after sample.
  MatrixView(T* data, std::ptrdiff_t rows, std::ptrdiff_t cols) : MatrixView(data, rows, cols, cols, 1) {}

  MatrixView(T* data, std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t row_stride,
             std::ptrdiff_t col_stride)
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride), col_stride_(col_stride) {}

  template <StridedMatrix M>
  requires std::convertible_to<decltype(std::declval<M&>().data()), T*> MatrixView(M&& matrix)
      : MatrixView(matrix.data(), matrix.rows(), matrix.cols(), matrix.rowStride(), matrix.colStride()) {}

  /// A contiguous range is one value per sample.
  template <std::ranges::contiguous_range R>
  requires(!StridedMatrix<R> && std::convertible_to<decltype(std::ranges::data(std::declval<R&>())), T*>)
      MatrixView(R&& values)
      : MatrixView(std::ranges::data(values), static_cast<std::ptrdiff_t>(std::ranges::size(values)), 1) {}

  operator MatrixView<const T>() const requires(!std::is_const_v<T>) {
    return {data_, rows_, cols_, row_stride_, col_stride_};
  }

  std::ptrdiff_t rows() const { return rows_; }
  std::ptrdiff_t cols() const { return cols_; }
  std::ptrdiff_t row_stride() const { return row_stride_; }
  std::ptrdiff_t col_stride() const { return col_stride_; }
  T* data() const { return data_; }

  T& operator()(std::ptrdiff_t row, std::ptrdiff_t col = 0) const {
    return data_[row * row_stride_ + col * col_stride_];
  }

 private:
  T* data_ = nullptr;
  std::ptrdiff_t rows_ = 0, cols_ = 0, row_stride_ = 0, col_stride_ = 0;
};

/// One sample whose units are the values of a contiguous range.
template <std::ranges::contiguous_range R>
auto one_sample(R&& values) {
  using T = std::remove_reference_t<decltype(*std::ranges::data(values))>;
  return MatrixView<T>(std::ranges::data(values), 1, static_cast<std::ptrdiff_t>(std::ranges::size(values)));
}

namespace internal {

template <class M, class T>
concept ExpressionOf = (DenseExpression<M> || SparseExpression<M>)&&std::same_as<typename M::Scalar, T>;

template <class M, class T>
concept MatrixOfOthers = (StridedMatrix<M> || DenseExpression<M> ||
                          SparseExpression<M>)&&!std::same_as<typename M::Scalar, T>;

template <class R, class T>
concept RangeOfOthers =
    std::ranges::contiguous_range<R> && !StridedMatrix<R> &&
    std::is_arithmetic_v<std::ranges::range_value_t<R>> && !std::same_as<std::ranges::range_value_t<R>, T>;

}  // namespace internal

/// Samples × units as the user has them. What lies in memory (an Eigen matrix, map or block, a MatrixView, a
/// vector) is viewed and must outlive the call. An expression or a sparse matrix is evaluated into a dense
/// one that lives as long as the argument and its copies; nothing else takes memory.
template <class T>
class MatrixArgument : public MatrixView<const T> {
 public:
  MatrixArgument() = default;
  using MatrixView<const T>::MatrixView;
  MatrixArgument(MatrixView<const T> view) : MatrixView<const T>(view) {}
  MatrixArgument(MatrixView<T> view) : MatrixView<const T>(view) {}

  template <internal::ExpressionOf<T> M>
  MatrixArgument(const M& expression) : MatrixArgument(evaluate(expression)) {}

  // Numbers of another type are not converted behind anybody's back: the compiler stops at a sentence.

  template <internal::MatrixOfOthers<T> M>
  MatrixArgument(const M&) {
    constexpr bool same = std::same_as<typename M::Scalar, T>;
    static_assert(same || !std::same_as<T, float>,
                  "hindsight: a float model takes float inputs and rewards; write values.cast<float>()");
    static_assert(same || !std::same_as<T, double>,
                  "hindsight: a double model takes double inputs and rewards; write values.cast<double>()");
    static_assert(same || !std::same_as<T, Outcome>,
                  "hindsight: clamped outcomes are of type Outcome; write values.cast<Outcome>()");
  }

  template <internal::RangeOfOthers<T> R>
  MatrixArgument(const R& values) : MatrixArgument(MatrixView<const std::ranges::range_value_t<R>>(values)) {}

  template <class U>
  requires(!std::same_as<std::remove_const_t<U>, T>) MatrixArgument(MatrixView<U>) {
    constexpr bool same = std::same_as<std::remove_const_t<U>, T>;
    static_assert(
        same || !std::same_as<T, float>,
        "hindsight: a float model takes float inputs and rewards; write as_eigen(values).cast<float>()");
    static_assert(
        same || !std::same_as<T, double>,
        "hindsight: a double model takes double inputs and rewards; write as_eigen(values).cast<double>()");
    static_assert(same || !std::same_as<T, Outcome>,
                  "hindsight: clamped outcomes are of type Outcome; write as_eigen(values).cast<Outcome>()");
  }

 private:
  template <class M>
  static auto evaluate(const M& expression) {
    if constexpr (SparseExpression<M>)
      return keep(expression.toDense());
    else
      return keep(expression.eval());
  }
  template <class M>
  static std::shared_ptr<const M> keep(M matrix) {
    return std::make_shared<const M>(std::move(matrix));
  }
  template <class M>
  explicit MatrixArgument(std::shared_ptr<const M> evaluated)
      : MatrixView<const T>(*evaluated), evaluated_(std::move(evaluated)) {}

  std::shared_ptr<const void> evaluated_;
};

}  // namespace hindsight
