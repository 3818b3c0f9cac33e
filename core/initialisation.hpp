#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <hindsight/core/shape.hpp>

namespace hindsight {

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
