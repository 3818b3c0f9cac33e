#pragma once

#include <hindsight/graph/graph.hpp>

namespace hindsight::internal {

/// Gives a graph that has the same nodes in the same order, and no rewards yet, all that is said beside them:
/// rewards, with their functions, and every choice of an estimator or a baseline.
void copy_rewards_and_choices(const Graph& from, Graph& to);

}  // namespace hindsight::internal
