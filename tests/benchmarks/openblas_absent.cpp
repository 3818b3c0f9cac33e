// What stands in for openblas_product.cpp where OpenBLAS is not installed.
#include "products.hpp"

namespace hindsight::benchmarks {

bool has_openblas() { return false; }
bool openblas_is_outdated() { return false; }
void use_one_blas_thread() {}
std::unique_ptr<Product> openblas_dense(const ProductShape&, int) { return nullptr; }

}  // namespace hindsight::benchmarks
