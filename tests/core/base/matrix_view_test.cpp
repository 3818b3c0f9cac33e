#include <hindsight/core/matrix_view.hpp>

#include <array>
#include <deque>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <Eigen/Core>

#include <hindsight/core/eigen.hpp>

using namespace hindsight;

namespace {

template <class S>
using ColMajor = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
template <class S>
using RowMajor = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Entry (i, j) is 10·i + j.
template <class M>
M numbered(int rows, int cols) {
  M matrix(rows, cols);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) matrix(i, j) = static_cast<typename M::Scalar>(10 * i + j);
  return matrix;
}

template <class T, class M>
void check_same(MatrixView<T> view, const M& matrix) {
  REQUIRE(view.rows() == matrix.rows());
  REQUIRE(view.cols() == matrix.cols());
  for (std::ptrdiff_t i = 0; i < view.rows(); ++i)
    for (std::ptrdiff_t j = 0; j < view.cols(); ++j) CHECK(view(i, j) == matrix(i, j));
}

template <class T, class From>
constexpr bool views = std::is_constructible_v<MatrixView<T>, From>;

// What is const stays const.
static_assert(views<float, std::vector<float>&>);
static_assert(views<const float, std::vector<float>&>);
static_assert(views<const float, const std::vector<float>&>);
static_assert(!views<float, const std::vector<float>&>);
static_assert(!views<float, std::span<const float>>);
static_assert(!views<float, const ColMajor<float>&>);
static_assert(!views<float, Eigen::Map<const ColMajor<float>>>);
static_assert(views<const float, MatrixView<float>>);
static_assert(!views<float, MatrixView<const float>>);
static_assert(std::is_convertible_v<MatrixView<float>, MatrixView<const float>>);
// Numbers of one type are not read as another's.
static_assert(!views<const float, std::vector<double>&>);
static_assert(!views<const double, std::vector<float>&>);
static_assert(!views<const float, ColMajor<double>&>);
static_assert(!views<const float, std::vector<int>&>);
static_assert(!views<const float, MatrixView<double>>);
// What has no memory of its own, or scattered memory, is no matrix.
static_assert(!views<const bool, std::vector<bool>&>);
static_assert(!views<const float, std::deque<float>&>);
static_assert(!views<const float, decltype(ColMajor<float>() + ColMajor<float>())>);
static_assert(!views<const float, float>);
// Function arguments convert without being asked to.
static_assert(std::is_convertible_v<std::vector<float>, MatrixView<const float>>);
static_assert(std::is_convertible_v<ColMajor<float>, MatrixView<const float>>);

}  // namespace

TEST_CASE("a view of nothing is empty") {
  const MatrixView<const float> view;
  CHECK(view.rows() == 0);
  CHECK(view.cols() == 0);
  CHECK(view.data() == nullptr);
}

TEST_CASE_TEMPLATE("a pointer and two sizes are rows without gaps", S, float, double) {
  std::vector<S> values = {0, 1, 2, 10, 11, 12};
  const MatrixView<S> view(values.data(), 2, 3);
  check_same(view, numbered<RowMajor<S>>(2, 3));
  CHECK(view.row_stride() == 3);
  CHECK(view.col_stride() == 1);
  view(1, 2) = S(7);
  CHECK(values.back() == S(7));
}

TEST_CASE_TEMPLATE("strides may skip and go backwards", S, float, double) {
  std::vector<S> values = {0, 10, 20, 1, 11, 21};
  check_same(MatrixView<const S>(values.data(), 3, 2, 1, 3), numbered<RowMajor<S>>(3, 2));
  const MatrixView<const S> backwards(values.data() + 2, 3, 1, -1, 3);
  CHECK(backwards(0) == S(20));
  CHECK(backwards(2) == S(0));
}

TEST_CASE_TEMPLATE("matrices of either order are seen as they are", S, float, double) {
  auto columns = numbered<ColMajor<S>>(3, 4);
  auto rows = numbered<RowMajor<S>>(3, 4);
  check_same<S>(columns, columns);
  check_same<S>(rows, rows);
  check_same<const S>(std::as_const(columns), columns);
  CHECK(MatrixView<S>(columns).row_stride() == 1);
  CHECK(MatrixView<S>(rows).row_stride() == 4);
  MatrixView<S> writable(columns);
  writable(2, 3) = S(99);
  CHECK(columns(2, 3) == S(99));
}

TEST_CASE_TEMPLATE("blocks and transposes and maps are seen without a copy", S, float, double) {
  auto columns = numbered<ColMajor<S>>(5, 6);
  auto rows = numbered<RowMajor<S>>(5, 6);
  check_same<S>(columns.block(1, 2, 3, 2), columns.block(1, 2, 3, 2));
  check_same<S>(rows.block(1, 2, 3, 2), rows.block(1, 2, 3, 2));
  check_same<S>(rows.row(3), rows.row(3));
  check_same<S>(rows.col(3), rows.col(3));
  check_same<S>(columns.transpose(), columns.transpose());
  CHECK(MatrixView<S>(columns.block(1, 2, 3, 2)).data() == &columns(1, 2));

  const Eigen::Map<const RowMajor<S>, 0, Eigen::OuterStride<>> map(rows.data() + 1, 4, 2,
                                                                   Eigen::OuterStride<>(6));
  check_same<const S>(map, map);
  const Eigen::Ref<const ColMajor<S>> reference(columns);
  check_same<const S>(reference, columns);
}

TEST_CASE_TEMPLATE("vectors of a matrix library keep their direction", S, float, double) {
  Eigen::Matrix<S, Eigen::Dynamic, 1> column(3);
  column << 1, 2, 3;
  Eigen::Matrix<S, 1, Eigen::Dynamic> row = column.transpose();
  check_same<S>(column, column);
  check_same<S>(row, row);
}

TEST_CASE_TEMPLATE("a contiguous range is one value per sample", S, float, double) {
  std::vector<S> values = {4, 5, 6};
  const std::array<S, 3> array = {4, 5, 6};
  const S plain[] = {4, 5, 6};
  for (const MatrixView<const S>& view :
       {MatrixView<const S>(values), MatrixView<const S>(std::span<const S>(values)),
        MatrixView<const S>(array), MatrixView<const S>(plain)}) {
    CHECK(view.rows() == 3);
    CHECK(view.cols() == 1);
    CHECK(view(0) == S(4));
    CHECK(view(2, 0) == S(6));
  }
  CHECK(MatrixView<S>(values).data() == values.data());
}

TEST_CASE_TEMPLATE("one sample is a single row", S, float, double) {
  std::vector<S> values = {4, 5, 6};
  const auto writable = one_sample(values);
  static_assert(std::is_same_v<decltype(writable), const MatrixView<S>>);
  CHECK(writable.rows() == 1);
  CHECK(writable.cols() == 3);
  writable(0, 2) = S(9);
  CHECK(values[2] == S(9));
  static_assert(std::is_same_v<decltype(one_sample(std::as_const(values))), MatrixView<const S>>);
  CHECK(one_sample(std::as_const(values))(0, 1) == S(5));
}

TEST_CASE("a view of numbers becomes a view of constant numbers") {
  std::vector<float> values = {0, 1, 10, 11};
  const MatrixView<float> view(values.data(), 2, 2, 1, 2);
  const MatrixView<const float> constant = view;
  CHECK(constant.data() == view.data());
  CHECK(constant.row_stride() == 1);
  CHECK(constant.col_stride() == 2);
  CHECK(constant(1, 0) == 1.0F);
}

TEST_CASE_TEMPLATE("an argument keeps a temporary, and takes no copy of what has a name", S, float, double) {
  std::vector<MatrixArgument<S>> kept;
  const auto keep_temporaries = [&] {
    kept.push_back(numbered<ColMajor<S>>(40, 30));
    kept.push_back(std::vector<S>(500, S(7)));
    ColMajor<S> moved = numbered<ColMajor<S>>(40, 30);
    kept.push_back(std::move(moved));
    kept.push_back(kept[0]);
  };
  keep_temporaries();
  const std::vector<S> other(1200, S(-1));  // where they would have been
  for (const int i : {0, 2, 3}) {
    const MatrixArgument<S>& argument = kept[static_cast<std::size_t>(i)];
    REQUIRE(argument.rows() == 40);
    CHECK(as_eigen(argument) == numbered<ColMajor<S>>(40, 30));
  }
  CHECK(as_eigen(kept[1]) == Eigen::Matrix<S, Eigen::Dynamic, 1>::Constant(500, S(7)));

  ColMajor<S> matrix = numbered<ColMajor<S>>(3, 2);
  const ColMajor<S>& constant = matrix;
  std::vector<S> values = {1, 2};
  CHECK(MatrixArgument<S>(matrix).data() == matrix.data());
  CHECK(MatrixArgument<S>(constant).data() == matrix.data());
  CHECK(MatrixArgument<S>(matrix.bottomRows(1)).data() == &matrix(2, 0));
  CHECK(MatrixArgument<S>(values).data() == values.data());
  CHECK(MatrixArgument<S>(std::span<const S>(values)).data() == values.data());
}
