#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hindsight::internal {

/// Adds up the exact covariance of gradients, one possible gradient after another.
class CovarianceSum {
 public:
  /// Refuses what does not fit into memory.
  explicit CovarianceSum(std::size_t parameters);

  /// Their share of Σ probability · (gradient - mean)(gradient - mean)ᵀ.
  template <class S>
  void add(double probability, std::span<const S> gradient, std::span<const double> mean);
  /// Row after row. Nothing is left.
  std::vector<double> take();

 private:
  std::vector<double> deviation_;
  std::vector<double> sum_;  ///< one triangle of it
};

}  // namespace hindsight::internal
