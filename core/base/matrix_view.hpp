#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
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

namespace internal {

template <class M, class T>
concept StridedMatrixOf =
    StridedMatrix<M> && std::convertible_to<decltype(std::to_address(std::declval<M&>().data())), T*>;

template <class R, class T>
concept RangeOf = std::ranges::contiguous_range<R> && !StridedMatrix<R> &&
                  std::convertible_to<decltype(std::ranges::data(std::declval<R&>())), T*>;

/// Eigen calls the type that owns its numbers PlainObject.
template <class M>
concept OwningMatrix = StridedMatrix<M> && std::same_as<M, typename M::PlainObject>;

template <class R>
inline constexpr bool is_initializer_list = false;
template <class T>
inline constexpr bool is_initializer_list<std::initializer_list<T>> = true;
template <class R>
concept OwningRange =
    !StridedMatrix<R> && !std::ranges::borrowed_range<R> && !std::ranges::view<R> && !is_initializer_list<R>;

/// What the reference binds to is about to end, and its numbers with it.
template <class M>
concept EndingOwner = !std::is_lvalue_reference_v<M> &&
                      (OwningMatrix<std::remove_cvref_t<M>> || OwningRange<std::remove_cvref_t<M>>);

}  // namespace internal

/// Samples × units at the API, wherever and however they lie in memory. Owns nothing.
template <class T>
class MatrixView {
 public:
  MatrixView() = default;

  /// Row after row without gaps: sample after sample.
  MatrixView(T* data, std::ptrdiff_t rows, std::ptrdiff_t cols) : MatrixView(data, rows, cols, cols, 1) {}

  MatrixView(T* data, std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t row_stride,
             std::ptrdiff_t col_stride)
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride), col_stride_(col_stride) {}

  template <internal::StridedMatrixOf<T> M>
  requires(!internal::EndingOwner<M>) MatrixView(M&& matrix)
      : MatrixView(matrix.data(), matrix.rows(), matrix.cols(), matrix.rowStride(), matrix.colStride()) {}

  /// A contiguous range is one value per sample.
  template <internal::RangeOf<T> R>
  requires(!internal::EndingOwner<R>) MatrixView(R&& values)
      : MatrixView(std::ranges::data(values), static_cast<std::ptrdiff_t>(std::ranges::size(values)), 1) {}

  /// Nothing would be left to look at.
  template <internal::EndingOwner M>
  requires(internal::StridedMatrixOf<M, T> || internal::RangeOf<M, T>) MatrixView(M&&) {
    static_assert(!internal::EndingOwner<M>,
                  "hindsight: a view would outlive this temporary; give the matrix or vector a name first");
  }

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
  static_assert(!internal::EndingOwner<R>,
                "hindsight: a view would outlive this temporary; give the matrix or vector a name first");
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
/// vector) is viewed and must outlive the call. A temporary matrix or vector is kept, and an expression or a
/// sparse matrix is evaluated into a dense one, for as long as the argument and its copies live; nothing else
/// takes memory.
template <class T>
class MatrixArgument : public MatrixView<const T> {
 public:
  MatrixArgument() = default;
  MatrixArgument(const T* data, std::ptrdiff_t rows, std::ptrdiff_t cols)
      : MatrixView<const T>(data, rows, cols) {}
  MatrixArgument(const T* data, std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t row_stride,
                 std::ptrdiff_t col_stride)
      : MatrixView<const T>(data, rows, cols, row_stride, col_stride) {}
  MatrixArgument(MatrixView<const T> view) : MatrixView<const T>(view) {}
  MatrixArgument(MatrixView<T> view) : MatrixView<const T>(view) {}

  template <internal::ExpressionOf<T> M>
  MatrixArgument(const M& expression) : MatrixArgument(evaluate(expression)) {}

  template <class M>
  requires(internal::StridedMatrixOf<M, const T> || internal::RangeOf<M, const T>) MatrixArgument(M&& values)
      : MatrixArgument(std::forward<M>(values), std::bool_constant<internal::EndingOwner<M>>()) {}

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
  MatrixArgument(const M& values, std::false_type) : MatrixView<const T>(values) {}
  template <class M>
  MatrixArgument(M&& temporary, std::true_type)
      : MatrixArgument(keep(std::remove_cvref_t<M>(std::forward<M>(temporary)))) {}
  template <class M>
  explicit MatrixArgument(std::shared_ptr<const M> kept)
      : MatrixView<const T>(*kept), kept_(std::move(kept)) {}

  std::shared_ptr<const void> kept_;
};

}  // namespace hindsight
