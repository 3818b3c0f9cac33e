#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace hindsight::benchmarks {

/// A matrix product that can be done again and again.
class Product {
 public:
  virtual ~Product();
  virtual void step() = 0;
};

/// (rows × inner)·(inner × columns).
struct ProductShape {
  int rows = 0, inner = 0, columns = 0;
};

/// Which entries of a square sparse matrix are there, row after row. Points to memory of the caller.
struct SparsePattern {
  int rows = 0;
  const int* begin = nullptr;  ///< per row and one more: where its columns begin
  const int* columns = nullptr;
};

// Built once per instruction set from one source. Plain pointers only: inline functions of the standard
// library that were compiled for AVX-512 must not end up being those of the whole program.
namespace avx2 {
Product* eigen_dense(const ProductShape& shape, int variant);
Product* eigen_sparse(const SparsePattern& pattern, int columns, int variant);
Product* highway_messages(const ProductShape& shape);
Product* eigen_messages(const ProductShape& shape);
}  // namespace avx2
namespace avx512 {
Product* eigen_dense(const ProductShape& shape, int variant);
Product* eigen_sparse(const SparsePattern& pattern, int columns, int variant);
Product* highway_messages(const ProductShape& shape);
Product* eigen_messages(const ProductShape& shape);
}  // namespace avx512

/// How the operands and the result of each variant lie in memory.
inline constexpr std::array dense_variants{"column-major", "row-major", "row-major × column-major"};
inline constexpr std::array sparse_variants{
    "row-major × row-major",       "row-major × column-major",        "column-major × row-major",
    "column-major × column-major", "row-major × row-major, 64 fixed", "column-major × row-major, 64 fixed"};

bool cpu_has_avx2();
bool has_openblas();
/// OpenBLAS did not know this processor and runs kernels from before AVX.
bool openblas_is_outdated();
/// Also stops OpenBLAS from starting threads, for libtorch too.
void use_one_blas_thread();
std::unique_ptr<Product> openblas_dense(const ProductShape& shape, int variant);

/// One way to compute a product, with a name for the report.
struct Candidate {
  std::string name;
  std::unique_ptr<Product> product;
};

/// The fastest of several ways, found by a short trial.
class FastestProduct {
 public:
  explicit FastestProduct(std::vector<Candidate> candidates);
  void step() { best_.product->step(); }
  const std::string& label() const { return best_.name; }

 private:
  Candidate best_;
};

}  // namespace hindsight::benchmarks
