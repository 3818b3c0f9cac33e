// Compiled once per instruction set: HINDSIGHT_INSTRUCTIONS names it, and the macro Eigen renames Eigen's
// namespace, so that the linker cannot take one version's templates for the other's.
#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "products.hpp"

namespace hindsight::benchmarks::HINDSIGHT_INSTRUCTIONS {
namespace {

using Eigen::ColMajor;
using Eigen::Dynamic;
using Eigen::RowMajor;
template <int order, int columns = Dynamic>
using Dense = Eigen::Matrix<float, Dynamic, columns, order>;

template <class Left, class Right, class Result>
class EigenProduct final : public Product {
 public:
  EigenProduct(Left left, Right right) : left_(std::move(left)), right_(std::move(right)) { step(); }
  void step() override { result_.noalias() = left_ * right_; }

 private:
  Left left_;
  Right right_;
  Result result_;
};

template <class Left, class Right, class Result>
Product* dense(int rows, int inner, int columns) {
  return new EigenProduct<Left, Right, Result>(Left::Random(rows, inner), Right::Random(inner, columns));
}

template <int order>
Eigen::SparseMatrix<float, order> matrix(const SparsePattern& pattern) {
  // Row-major as it comes; the assignment to a column-major matrix sorts.
  Eigen::SparseMatrix<float, RowMajor> rows(pattern.rows, pattern.rows);
  rows.resizeNonZeros(pattern.begin[pattern.rows]);
  for (int i = 0; i <= pattern.rows; ++i) rows.outerIndexPtr()[i] = pattern.begin[i];
  for (int i = 0; i < pattern.begin[pattern.rows]; ++i) {
    rows.innerIndexPtr()[i] = pattern.columns[i];
    rows.valuePtr()[i] = 0.01F * static_cast<float>(i % 7);
  }
  return rows;
}

template <int order, class Right, class Result>
Product* sparse(const SparsePattern& pattern, int columns) {
  using Left = Eigen::SparseMatrix<float, order>;
  return new EigenProduct<Left, Right, Result>(matrix<order>(pattern), Right::Random(pattern.rows, columns));
}

}  // namespace

Product* eigen_dense(const ProductShape& shape, int variant) {
  const auto [rows, inner, columns] = shape;
  switch (variant) {
    case 0:
      return dense<Dense<ColMajor>, Dense<ColMajor>, Dense<ColMajor>>(rows, inner, columns);
    case 1:
      return dense<Dense<RowMajor>, Dense<RowMajor>, Dense<RowMajor>>(rows, inner, columns);
    default:
      return dense<Dense<RowMajor>, Dense<ColMajor>, Dense<ColMajor>>(rows, inner, columns);
  }
}

Product* eigen_sparse(const SparsePattern& pattern, int columns, int variant) {
  constexpr int usual = 64;  // columns known to the compiler help only where their number is right
  switch (columns == usual || variant < 4 ? variant : 0) {
    case 0:
      return sparse<RowMajor, Dense<RowMajor>, Dense<RowMajor>>(pattern, columns);
    case 1:
      return sparse<RowMajor, Dense<ColMajor>, Dense<ColMajor>>(pattern, columns);
    case 2:
      return sparse<ColMajor, Dense<RowMajor>, Dense<RowMajor>>(pattern, columns);
    case 3:
      return sparse<ColMajor, Dense<ColMajor>, Dense<ColMajor>>(pattern, columns);
    case 4:
      return sparse<RowMajor, Dense<RowMajor, usual>, Dense<RowMajor, usual>>(pattern, columns);
    default:
      return sparse<ColMajor, Dense<RowMajor, usual>, Dense<RowMajor, usual>>(pattern, columns);
  }
}

}  // namespace hindsight::benchmarks::HINDSIGHT_INSTRUCTIONS
