#pragma once

// The only public header that includes Eigen, and no source of the library includes it: maps may pass between
// code that was compiled for different vectors, matrices that own their memory may not.
#include <ranges>
#include <type_traits>

#include <Eigen/Core>

#include <hindsight/core/matrix_view.hpp>

namespace hindsight {

namespace internal {

/// M, and const if T is.
template <class T, class M>
using ConstLike = std::conditional_t<std::is_const_v<T>, const M, M>;

}  // namespace internal

/// Numbers that lie at any steps from row to row and from column to column.
template <class T>
using EigenMatrix =
    Eigen::Map<internal::ConstLike<T, Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic>>,
               Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// A column of numbers that lie side by side.
template <class T>
using EigenVector =
    Eigen::Map<internal::ConstLike<T, Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, 1>>>;

/// The same numbers, not a copy: `as_eigen(run.outcomes(y))`, `as_eigen(model.parameters("a/bias"))`.
template <class T>
EigenMatrix<T> as_eigen(MatrixView<T> view) {
  // Eigen calls the step from column to column the outer one.
  return {view.data(), view.rows(), view.cols(), {view.col_stride(), view.row_stride()}};
}

/// The same for spans, vectors and arrays: `as_eigen(model.parameters()) += 0.1F * as_eigen(run.gradient());`
/// A temporary that owns its numbers is refused: nothing would be left to look at.
template <std::ranges::contiguous_range R>
requires std::ranges::borrowed_range<R>
auto as_eigen(R&& values) {
  using T = std::remove_reference_t<decltype(*std::ranges::data(values))>;
  return EigenVector<T>(std::ranges::data(values), static_cast<Eigen::Index>(std::ranges::size(values)));
}

}  // namespace hindsight
