#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace hindsight::testing {

/// The larger of two errors; not a number if one of them is not, so that no check lets it pass.
inline double larger_error(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// Entry by entry; infinite between lists of different lengths.
inline double largest_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = larger_error(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace hindsight::testing
