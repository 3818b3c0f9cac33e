#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hindsight/core/ids.hpp>
#include <hindsight/core/pattern.hpp>

namespace hindsight {

/// What children see of an outcome: `width` numbers for each of `outcomes` outcomes, outcome after outcome.
/// It is all a child knows of its parent's kind. No values at all means one-hot, which needs no table.
struct Encoding {
  int outcomes = 0;
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
Encoding one_hot_encoding(int outcomes);

/// A parent as its child sees it.
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

/// A named piece of a node's parameters, row after row.
struct ParameterBlock {
  std::string name = {};
  std::size_t rows = 0;
  std::size_t cols = 1;
  std::size_t size() const { return rows * cols; }
};

/// What a node kind is once its parents are known.
struct Shape {
  int units = 1;
  Encoding encoding = {};                       ///< also says how many outcomes a unit has
  std::vector<ParameterBlock> parameters = {};  ///< in the order in which they lie in the node's flat vector
  int logits = 1;  ///< scores a unit forms from what it reads; what Glorot calls outputs

  int outcomes() const { return encoding.outcomes; }
  std::size_t parameter_count() const {
    std::size_t count = 0;
    for (const ParameterBlock& block : parameters) count += block.size();
    return count;
  }
};

/// What one population reads in one sample: its parents one after another, in the order of its edges.
template <class S>
struct Reading {
  std::span<const S> features;
  std::span<const Outcome> outcomes;     ///< one per parent unit; -1 for a real-valued one
  std::span<const ParentShape> parents;  ///< how the two are divided
};

}  // namespace hindsight
