#pragma once

#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include <hindsight/graph/model.hpp>
#include <hindsight/graph/moments.hpp>

namespace hindsight::internal {

/// Of a vector as long as the parameters, what belongs to some of them.
inline std::span<const double> part(std::span<const double> values, const ParameterRange& range) {
  return values.subspan(range.first, range.count);
}

inline double total_variance(const Moments& moments, const ParameterRange& range) {
  return moments.total_variance(range.first, range.count);
}

/// Of the mean; 0 if nothing was added.
inline double total_squared_error(const Moments& moments, const ParameterRange& range) {
  return moments.count() == 0 ? 0 : total_variance(moments, range) / static_cast<double>(moments.count());
}

inline double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

inline double norm(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

inline double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace hindsight::internal
