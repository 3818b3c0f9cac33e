#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hindsight {

/// Which units of a parent each unit of a child reads. Sorted, without repetition.
class Connectivity {
 public:
  Connectivity(int parent_units, const std::vector<std::vector<int>>& parents_of_unit);

  std::span<const int> parents_of(int child_unit) const {
    const auto unit = static_cast<std::size_t>(child_unit);
    return std::span(parents_).subspan(begin_[unit], begin_[unit + 1] - begin_[unit]);
  }
  std::span<const int> children_of(int parent_unit) const {
    const auto unit = static_cast<std::size_t>(parent_unit);
    return std::span(children_).subspan(child_begin_[unit], child_begin_[unit + 1] - child_begin_[unit]);
  }
  std::size_t pairs() const { return parents_.size(); }
  /// Pairs that lie before the child's unit, in order of child units.
  std::size_t pairs_before(int child_unit) const { return begin_[static_cast<std::size_t>(child_unit)]; }

 private:
  std::vector<std::size_t> begin_, child_begin_;
  std::vector<int> parents_, children_;
};

/// How an edge between two populations is wired, unit by unit.
class Pattern {
 public:
  using Pairs = std::vector<std::pair<int, int>>;

  /// Every unit of the child reads every unit of the parent.
  static Pattern dense() { return {}; }
  /// Each pair of units is joined with probability `density`, independently, reproducibly.
  static Pattern random(double density, std::uint64_t seed);
  /// Exactly these pairs (unit of the parent, unit of the child).
  static Pattern pairs(Pairs list);

  bool is_dense() const { return how_ == How::dense; }

  /// The wiring for populations of these sizes; none when dense. Throws Error when the pattern does not fit
  /// them.
  std::optional<Connectivity> connect(int parent_units, int child_units, const std::string& parent) const;

 private:
  enum class How { dense, random, pairs };

  How how_ = How::dense;
  double density_ = 1;
  std::uint64_t seed_ = 0;
  Pairs pairs_;
};

}  // namespace hindsight
