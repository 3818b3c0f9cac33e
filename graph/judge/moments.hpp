#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hindsight::internal {

/// Mean and variance of vectors that come one by one, by Welford's recurrence: nothing that is summed is
/// larger than the answer.
class Moments {
 public:
  explicit Moments(std::size_t size = 0) : mean_(size), squares_(size) {}

  template <class T>
  void add(std::span<const T> values) {
    ++count_;
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double off = static_cast<double>(values[i]) - mean_[i];
      mean_[i] += off / static_cast<double>(count_);
      squares_[i] += off * (static_cast<double>(values[i]) - mean_[i]);
    }
  }

  std::size_t count() const { return count_; }
  std::span<const double> mean() const { return mean_; }
  /// Of one value.
  double variance(std::size_t i) const {
    return count_ < 2 ? 0 : squares_[i] / static_cast<double>(count_ - 1);
  }
  /// Of the mean.
  double squared_error(std::size_t i) const {
    return count_ == 0 ? 0 : variance(i) / static_cast<double>(count_);
  }
  /// Over a stretch of them.
  double total_variance(std::size_t first, std::size_t count) const {
    double sum = 0;
    for (std::size_t i = first; i < first + count; ++i) sum += variance(i);
    return sum;
  }

 private:
  std::size_t count_ = 0;
  std::vector<double> mean_, squares_;
};

}  // namespace hindsight::internal
