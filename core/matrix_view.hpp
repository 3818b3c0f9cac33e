#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <type_traits>

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

}  // namespace hindsight
