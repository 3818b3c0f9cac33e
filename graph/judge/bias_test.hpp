#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <hindsight/graph/model.hpp>
#include <hindsight/graph/moments.hpp>

namespace hindsight::internal {

/// Whether the mean of gradients is off a reference, stretch by stretch of the parameters. Along a direction
/// that is fixed beforehand the mean of many gradients is nearly normal, whatever depends on what among the
/// parameters: so some gradients find the direction, and others are measured along it.
class BiasTest {
 public:
  BiasTest() = default;
  /// From the reference to the mean, as first seen.
  BiasTest(std::vector<ParameterRange> stretches, std::span<const double> mean,
           std::span<const double> reference)
      : stretches_(std::move(stretches)),
        direction_(mean.begin(), mean.end()),
        along_(stretches_.size()),
        reference_along_(stretches_.size()) {
    for (std::size_t i = 0; i < direction_.size(); ++i) direction_[i] -= reference[i];
  }

  template <class T>
  void add(std::span<const T> gradient) {
    along_.add(std::span<const double>(project(gradient)));
  }
  /// One of a long run, or the exact gradient once.
  template <class T>
  void add_reference(std::span<const T> gradient) {
    reference_along_.add(std::span<const double>(project(gradient)));
  }

  /// Standard normal if the mean is not off. Numbers are rounded by `rounding` at the least.
  double z(std::size_t stretch, double rounding) const {
    double length = 0;
    for (const double part : part_of(stretch)) length += part * part;
    const double error = std::sqrt(along_.squared_error(stretch) + reference_along_.squared_error(stretch) +
                                   rounding * rounding * length);
    const double off = along_.mean()[stretch] - reference_along_.mean()[stretch];
    return error > 0 ? normal_score(off / error) : 0;
  }

 private:
  /// Student's t as a standard normal number with the same tail, by Wallace's approximation.
  double normal_score(double t) const {
    const std::size_t least =
        reference_along_.count() > 1 ? std::min(along_.count(), reference_along_.count()) : along_.count();
    const double freedom = std::max(1.0, static_cast<double>(least) - 1);
    return std::copysign(std::sqrt(freedom * std::log1p(t * t / freedom)), t) * (8 * freedom + 1) /
           (8 * freedom + 3);
  }

  std::span<const double> part_of(std::size_t stretch) const {
    return std::span(direction_).subspan(stretches_[stretch].first, stretches_[stretch].count);
  }
  template <class T>
  std::vector<double> project(std::span<const T> gradient) const {
    std::vector<double> products;
    for (std::size_t s = 0; s < stretches_.size(); ++s) {
      double product = 0;
      const std::span<const double> direction = part_of(s);
      const std::span<const T> part = gradient.subspan(stretches_[s].first, stretches_[s].count);
      for (std::size_t i = 0; i < part.size(); ++i) product += direction[i] * static_cast<double>(part[i]);
      products.push_back(product);
    }
    return products;
  }

  std::vector<ParameterRange> stretches_;
  std::vector<double> direction_;
  Moments along_, reference_along_;  ///< per stretch
};

}  // namespace hindsight::internal
