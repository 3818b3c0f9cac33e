#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <hindsight/core/block.hpp>

namespace hindsight {

/// A unit of a parent whose outcome is left open.
struct OpenParent {
  std::size_t edge = 0;  ///< number of the edge by which it is read
  int unit = 0;          ///< of the parent
};

/// log π of one unit's outcome while the outcomes of some units that it reads are open.
struct Factor {
  const Placement* at = nullptr;
  int unit = 0;
  std::vector<OpenParent> open;  ///< the same units, in the same order, in all factors of a group
};

/// Factors that share one table of logarithms, because the same units are open in all of them. Its rows have
/// one number per sample; a row stands for one joint outcome of the open units.
struct FactorGroup {
  std::vector<Factor> factors;
  std::vector<std::size_t> strides;  ///< per open unit: rows from one outcome to the next
  std::size_t own_stride = 0;        ///< the same for the unit's own outcome, if that is open and the only
                                     ///< factor's; 0: own outcomes are those sampled, and factors add up
};

/// Tables of the factors of nodes of one kind, for exact elimination. Const: all that changes is in the
/// frame. A kind without it is worked by running its ordinary blocks, outcome by outcome.
template <class S>
class FactorTables {
 public:
  virtual ~FactorTables() = default;

  /// Overwrites all rows of the table, the frame's `lanes` numbers each, side by side.
  virtual void fill(const Frame<S>&, std::size_t group, S* table, S* scratch) const = 0;
  /// Scalars of scratch that any group takes.
  virtual std::size_t scratch(int lanes) const = 0;
};

/// Counts through the joint outcomes of some units, the last one fastest, in an order of its own that all
/// parts of elimination share.
class OutcomeCounter {
 public:
  /// More units with two outcomes or more have more joint outcomes than any limit allows.
  static constexpr std::size_t most_units = 64;

  explicit OutcomeCounter(std::span<const int> outcomes) : outcomes_(outcomes) {}
  int operator[](std::size_t unit) const { return digits_[unit]; }
  /// Where the present joint outcome lies in a table with these strides.
  template <class Strides>
  std::size_t row(const Strides& strides) const {
    std::size_t row = 0;
    for (std::size_t i = 0; i < outcomes_.size(); ++i)
      row += static_cast<std::size_t>(digits_[i]) * static_cast<std::size_t>(strides[i]);
    return row;
  }
  /// False: that was the last one.
  bool advance() {
    for (std::size_t i = outcomes_.size(); i-- > 0;) {
      if (++digits_[i] < outcomes_[i]) return true;
      digits_[i] = 0;
    }
    return false;
  }

 private:
  std::span<const int> outcomes_;
  int digits_[most_units] = {};
};

}  // namespace hindsight
