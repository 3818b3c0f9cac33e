#pragma once

#include <cstddef>

#include <hindsight/core/ids.hpp>

namespace hindsight::internal {

/// Numbers that cannot be negative, as positions in a vector.
constexpr std::size_t index(int number) { return static_cast<std::size_t>(number); }
constexpr std::size_t index(NodeId node) { return index(node.index); }
constexpr std::size_t index(RewardId reward) { return index(reward.index); }

}  // namespace hindsight::internal
