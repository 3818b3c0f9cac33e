#pragma once

#include <compare>
#include <cstdint>

namespace hindsight {

/// The index of the value a unit sampled; -1 where a real-valued unit has none.
using Outcome = std::int32_t;

/// A node of a graph, by order of addition. A value: copy it freely.
struct NodeId {
  int index = -1;
  auto operator<=>(const NodeId&) const = default;
};

/// A reward of a graph, by order of addition.
struct RewardId {
  int index = -1;
  auto operator<=>(const RewardId&) const = default;
};

}  // namespace hindsight
