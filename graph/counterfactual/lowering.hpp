#pragma once

#include <span>
#include <vector>

#include <hindsight/core/node.hpp>

namespace hindsight::internal {

/// The blocks of some nodes, group by group of one kind, in the order of the forward pass. What a user's own
/// `lower` gets wrong is refused with the name of the group's first node.
template <class S>
Blocks<S> lower_groups(std::span<const std::vector<AnyNode::Placed>> groups);

}  // namespace hindsight::internal
