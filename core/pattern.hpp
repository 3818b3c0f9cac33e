#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hindsight {

/// What a random pattern was drawn from.
struct RandomWiring {
  double density = 1;
  std::uint64_t seed = 0;
  bool operator==(const RandomWiring&) const = default;
};

/// Which units of a parent each unit of a child reads: sorted, without repetition. Takes memory by pairs,
/// whatever the size of the parent. Made by Pattern::connect.
class Connectivity {
 public:
  std::span<const int> parents_of(int child_unit) const {
    const auto unit = static_cast<std::size_t>(child_unit);
    return std::span(parents_).subspan(begin_[unit], begin_[unit + 1] - begin_[unit]);
  }
  std::span<const int> children_of(int parent_unit) const;
  std::size_t pairs() const { return parents_.size(); }
  /// Pairs that lie before the child's unit, in order of child units.
  std::size_t pairs_before(int child_unit) const { return begin_[static_cast<std::size_t>(child_unit)]; }
  int child_units() const { return static_cast<int>(begin_.size()) - 1; }
  /// None: the pairs were listed.
  const std::optional<RandomWiring>& drawn_from() const { return drawn_from_; }

 private:
  friend class Pattern;
  explicit Connectivity(const std::vector<std::vector<int>>& parents_of_unit);

  std::vector<std::size_t> begin_;  ///< per child unit, and one more
  std::vector<int> parents_;
  std::vector<int> read_;  ///< parent units that are read at all
  std::vector<std::size_t> read_begin_;
  std::vector<int> children_;
  std::optional<RandomWiring> drawn_from_;
};

/// One end of an edge, as a pattern sees it.
struct Population {
  int units = 0;
  std::uint32_t first_unit = 0;  ///< number of its first unit in the graph, in order of addition
};

/// How an edge between two populations is wired, unit by unit.
class Pattern {
 public:
  using Pairs = std::vector<std::pair<int, int>>;

  /// Every unit of the child reads every unit of the parent.
  static Pattern dense() { return {}; }
  /// Each pair of units is joined with probability `density`, independently. Which pairs are joined depends
  /// on the seed and on the numbers of the two units in the graph, not on how the units are gathered into
  /// nodes.
  static Pattern random(double density, std::uint64_t seed);
  /// Exactly these pairs (unit of the parent, unit of the child).
  static Pattern pairs(Pairs list);

  bool is_dense() const { return how_ == How::dense; }

  /// The wiring between two populations; none when dense. Throws Error when the pattern does not fit them.
  std::optional<Connectivity> connect(const Population& parent, const Population& child,
                                      const std::string& parent_name) const;

 private:
  enum class How { dense, random, pairs };

  How how_ = How::dense;
  RandomWiring random_;
  Pairs pairs_;
};

}  // namespace hindsight
