#pragma once

#include <cstddef>
#include <span>

namespace hindsight::internal {

/// Counts through the joint outcomes of some units, the last one fastest, in an order of its own that all
/// parts of elimination share.
class OutcomeCounter {
 public:
  /// More units with two outcomes or more have more joint outcomes than any limit allows.
  static constexpr std::size_t most_units = 64;

  explicit OutcomeCounter(std::span<const int> outcome_counts) : outcome_counts_(outcome_counts) {}
  int operator[](std::size_t unit) const { return digits_[unit]; }
  /// Where the present joint outcome lies in a table with these strides.
  template <class Strides>
  std::size_t row(const Strides& strides) const {
    std::size_t row = 0;
    for (std::size_t i = 0; i < outcome_counts_.size(); ++i)
      row += static_cast<std::size_t>(digits_[i]) * static_cast<std::size_t>(strides[i]);
    return row;
  }
  /// False: that was the last one.
  bool advance() {
    for (std::size_t i = outcome_counts_.size(); i-- > 0;) {
      if (++digits_[i] < outcome_counts_[i]) return true;
      digits_[i] = 0;
    }
    return false;
  }

 private:
  std::span<const int> outcome_counts_;
  int digits_[most_units] = {};
};

}  // namespace hindsight::internal
