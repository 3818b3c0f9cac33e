#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hindsight/core/ids.hpp>
#include <hindsight/core/matrix_view.hpp>

namespace hindsight {

/// What children see of an outcome: `width` numbers for each of `outcome_count` outcomes, one after another.
/// It is all a child knows of its parent's kind. No values at all means one-hot, which needs no table.
struct Encoding {
  int outcome_count = 0;
  int width = 0;
  std::vector<double> values = {};

  bool is_one_hot() const { return values.empty(); }
  double value(Outcome outcome, int feature) const {
    if (is_one_hot()) return outcome == feature ? 1 : 0;
    return values[static_cast<std::size_t>(outcome) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(feature)];
  }
  bool operator==(const Encoding&) const = default;
};

/// One number per outcome.
Encoding scalar_encoding(std::vector<double> values);
/// One feature per outcome: 1 for the sampled one, 0 for the others.
Encoding one_hot_encoding(int outcome_count);

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

/// Units of one node, one end of an edge as a pattern sees it.
struct UnitRange {
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
  std::optional<Connectivity> connect(const UnitRange& parent, const UnitRange& child,
                                      const std::string& parent_name) const;

 private:
  enum class How { dense, random, pairs };

  How how_ = How::dense;
  RandomWiring random_;
  Pairs pairs_;
};

/// A parent as its child sees it. Refers to the parent's name and wiring, which whoever made it keeps.
struct ParentShape {
  std::string_view name = {};
  int units = 0;
  std::optional<Encoding> encoding = {};       ///< none: real-valued, one feature per unit
  const Connectivity* connectivity = nullptr;  ///< none: every unit reads every unit

  int width() const { return encoding ? encoding->width : 1; }
  std::size_t features() const { return static_cast<std::size_t>(units) * static_cast<std::size_t>(width()); }
  /// How many of the parent's units the child's unit reads.
  std::size_t fan_in(int child_unit) const {
    return connectivity ? connectivity->parents_of(child_unit).size() : static_cast<std::size_t>(units);
  }
};

/// How many there are, from whichever integer the user has.
class Count {
 public:
  template <std::integral I>
  constexpr Count(I number) : number_(static_cast<std::ptrdiff_t>(number)) {}
  constexpr bool is_negative() const { return number_ < 0; }
  constexpr operator std::size_t() const { return static_cast<std::size_t>(number_); }

 private:
  std::ptrdiff_t number_;
};

/// A named piece of a node's parameters, row after row.
struct ParameterBlock {
  std::string name = {};
  Count rows = 0;
  Count cols = 1;
  std::size_t size() const { return rows * cols; }
};

/// What a node kind is once its parents are known: what `shape` of a node type returns.
struct Shape {
  int units = 1;
  Encoding encoding = {};                       ///< also says how many outcomes a unit has
  std::vector<ParameterBlock> parameters = {};  ///< in the order in which they lie in the node's flat vector
  int logits = 1;  ///< scores a unit forms from what it reads; what Glorot calls outputs

  int outcome_count() const { return encoding.outcome_count; }
  std::size_t parameter_count() const {
    std::size_t count = 0;
    for (const ParameterBlock& block : parameters) count += block.size();
    return count;
  }
};

/// What is kept of a shape: all but the names of parameters, which are as many as edges and are made again
/// when somebody asks for them.
struct NodeShape {
  int units = 1;
  int logits = 1;
  Encoding encoding = {};
  std::size_t parameter_count = 0;

  NodeShape() = default;
  explicit NodeShape(const Shape& shape)
      : units(shape.units),
        logits(shape.logits),
        encoding(shape.encoding),
        parameter_count(shape.parameter_count()) {}

  int outcome_count() const { return encoding.outcome_count; }
};

/// What one population reads in one sample: its parents one after another, in the order of its edges.
template <class S>
struct Reading {
  std::span<const S> features;
  std::span<const Outcome> outcomes;     ///< one per parent unit; -1 for a real-valued one
  std::span<const ParentShape> parents;  ///< how the two are divided
};

/// The same for up to 64 samples at once: a row per sample, and the columns of a Reading.
template <class S>
struct ChunkReading {
  MatrixView<const S> features;
  MatrixView<const Outcome> outcomes;
  std::span<const ParentShape> parents;

  std::ptrdiff_t samples() const { return features.rows(); }
};

/// One parent as initialisation sees it.
struct ParentStart {
  std::uint32_t first_unit = 0;          ///< number of its first unit, in order of addition
  std::span<const std::size_t> fan_out;  ///< per unit: the logits, over the whole graph, that read it
};

/// What a node may use to choose initial parameters. The numbers depend on which units an edge joins, not on
/// how the units are gathered into nodes.
struct Initialisation {
  std::uint64_t seed = 0;
  std::uint32_t first_unit = 0;
  int units = 1;
  std::span<const ParentShape> parents;
  std::span<const ParentStart> starts;

  /// A uniform in [0, 1) that belongs to one weight: parent's unit and feature into one logit of the node's
  /// unit.
  double uniform(int unit, int logit, std::size_t parent, int parent_unit, int feature) const;
  /// A uniform in [0, 1) that belongs to one parameter of one unit and to no edge.
  double uniform(int unit, std::size_t parameter) const;
};

}  // namespace hindsight
