#include <hindsight/core/eigen.hpp>

#include <array>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/core/ids.hpp>

using namespace hindsight;

namespace {

template <class T>
concept MapsToEigen = requires(T&& values) {
  as_eigen(std::forward<T>(values));
};

// What is const stays const, and can only be read.
static_assert(std::is_same_v<decltype(as_eigen(MatrixView<float>())), EigenMatrix<float>>);
static_assert(std::is_same_v<decltype(as_eigen(MatrixView<const float>())), EigenMatrix<const float>>);
static_assert(std::is_same_v<decltype(as_eigen(std::span<double>())), EigenVector<double>>);
static_assert(std::is_same_v<decltype(as_eigen(std::span<const Outcome>())), EigenVector<const Outcome>>);
static_assert(std::is_assignable_v<EigenMatrix<float>&, Eigen::MatrixXf>);
static_assert(std::is_same_v<decltype(EigenMatrix<const float>(nullptr, 0, 0, {0, 0}).data()), const float*>);
static_assert(std::is_same_v<decltype(EigenVector<const float>(nullptr, 0).data()), const float*>);
// No map of what is gone when it is read.
static_assert(MapsToEigen<std::vector<float>&>);
static_assert(MapsToEigen<const std::vector<float>&>);
static_assert(!MapsToEigen<std::vector<float>>);
static_assert(!MapsToEigen<std::array<float, 3>>);
static_assert(!MapsToEigen<std::vector<bool>&>);

/// Entry (i, j) is 10·i + j.
template <class S>
Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> counted(int rows, int cols) {
  return Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>::NullaryExpr(
      rows, cols, [](Eigen::Index i, Eigen::Index j) { return static_cast<S>(10 * i + j); });
}

}  // namespace

TEST_CASE_TEMPLATE("a map shows what the view shows and shares its memory", S, float, double, Outcome) {
  std::vector<S> values(6);
  const MatrixView<S> view(values.data(), 2, 3);
  as_eigen(view) = counted<S>(2, 3);
  CHECK(values == std::vector<S>{0, 1, 2, 10, 11, 12});
  CHECK(as_eigen(view).data() == values.data());
  values[5] = S(7);
  CHECK(as_eigen(view)(1, 2) == S(7));
  as_eigen(view).row(0) += as_eigen(view).row(1);
  CHECK(values == std::vector<S>{10, 12, 9, 10, 11, 7});
  CHECK(as_eigen(MatrixView<const S>(view)).sum() == S(59));
}

TEST_CASE_TEMPLATE("a map keeps rows apart from columns whatever the strides", S, float, double) {
  std::vector<S> values(60);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<S>(i);
  const S* const last = values.data() + values.size() - 1;
  for (const MatrixView<const S>& view :
       {MatrixView<const S>(values.data(), 4, 5),
        MatrixView<const S>(values.data(), 4, 5, 1, 4),       // by columns
        MatrixView<const S>(values.data() + 3, 4, 5, 11, 2),  // gaps in both
        MatrixView<const S>(values.data(), 4, 5, 0, 3),       // one row, shown 4 times
        MatrixView<const S>(last, 4, 5, -7, -1)}) {
    const auto map = as_eigen(view);
    REQUIRE(map.rows() == 4);
    REQUIRE(map.cols() == 5);
    const Eigen::Matrix<S, 4, 5> copy = map;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 5; ++j) {
        CHECK(&map.coeffRef(i, j) == &view(i, j));
        CHECK(copy(i, j) == view(i, j));
      }
  }
}

TEST_CASE_TEMPLATE("a view of an Eigen block maps back to the block", S, float, double) {
  const auto columns = counted<S>(6, 7);
  const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = columns;
  const auto returns = [](const auto& block) {
    const MatrixView<const S> view(block);
    CHECK(as_eigen(view).data() == block.data());
    CHECK(as_eigen(view) == block);
  };
  returns(columns);
  returns(rows);
  returns(columns.block(1, 2, 3, 4));
  returns(rows.block(1, 2, 3, 4));
  returns(columns.transpose());
  returns(columns.col(3));
  returns(rows.col(3));
  returns(columns.row(3));
  returns(columns.diagonal());
}

TEST_CASE_TEMPLATE("spans and vectors and arrays are columns", S, float, double) {
  std::vector<S> values{1, 2, 3};
  const std::array<S, 3> array{4, 5, 6};
  const S plain[] = {7, 8, 9};
  as_eigen(values) += S(2) * as_eigen(std::span<const S>(array));
  as_eigen(std::span(values)).array() -= as_eigen(plain).array();
  CHECK(values == std::vector<S>{2, 4, 6});
  CHECK(as_eigen(std::as_const(values)).data() == values.data());
  CHECK(as_eigen(values).rows() == 3);
  CHECK(as_eigen(values).cols() == 1);
}

TEST_CASE("nothing maps to nothing") {
  std::vector<float> none;
  CHECK(as_eigen(none).size() == 0);
  CHECK(as_eigen(std::span<const double>()).sum() == 0.0);
  CHECK(as_eigen(MatrixView<float>()).size() == 0);
  const MatrixView<const float> no_samples(nullptr, 0, 3);
  CHECK(as_eigen(no_samples).rows() == 0);
  CHECK(as_eigen(no_samples).cols() == 3);
  CHECK(as_eigen(no_samples).sum() == 0.0F);
}
