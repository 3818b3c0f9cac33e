#include "products.hpp"

#include <cblas.h>

namespace hindsight::benchmarks {
namespace {

class OpenblasProduct final : public Product {
 public:
  OpenblasProduct(const ProductShape& shape, CBLAS_ORDER order, CBLAS_TRANSPOSE left)
      : shape_(shape),
        order_(order),
        transpose_(left),
        left_(size(shape.rows, shape.inner), 0.5F),
        right_(size(shape.inner, shape.columns), 0.25F),
        result_(size(shape.rows, shape.columns)) {}

  void step() override {
    const auto [rows, inner, columns] = shape_;
    const bool by_columns = order_ == CblasColMajor;
    const bool left_by_columns = by_columns == (transpose_ == CblasNoTrans);
    cblas_sgemm(order_, transpose_, CblasNoTrans, rows, columns, inner, 1, left_.data(),
                left_by_columns ? rows : inner, right_.data(), by_columns ? inner : columns, 0,
                result_.data(), by_columns ? rows : columns);
  }

 private:
  static std::size_t size(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }

  ProductShape shape_;
  CBLAS_ORDER order_;
  CBLAS_TRANSPOSE transpose_;
  std::vector<float> left_, right_, result_;
};

}  // namespace

bool has_openblas() { return true; }
bool openblas_is_outdated() { return cpu_has_avx2() && std::string(openblas_get_corename()) == "Prescott"; }
void use_one_blas_thread() { openblas_set_num_threads(1); }
std::unique_ptr<Product> openblas_dense(const ProductShape& shape, int variant) {
  const bool row_times_column = variant == 2;
  return std::make_unique<OpenblasProduct>(shape, variant == 1 ? CblasRowMajor : CblasColMajor,
                                           row_times_column ? CblasTrans : CblasNoTrans);
}

}  // namespace hindsight::benchmarks
