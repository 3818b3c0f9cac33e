#pragma once

#include <string>
#include <vector>

#include <hindsight/graph/graph.hpp>

namespace hindsight {

/// A node, or one unit of it.
struct UnitRef {
  NodeId node;
  int unit = -1;  ///< -1: the node as a whole
  bool operator==(const UnitRef&) const = default;
};

/// "a", or "a[3]" for one unit of several.
std::string to_string(const Graph&, const UnitRef&);

/// Per node, the number of edges on the longest route that ends there.
std::vector<int> levels(const Graph&);

/// Per node: does a route lead from it to something the reward reads (or is it read itself)?
std::vector<bool> upstream_of(const Graph&, RewardId);

}  // namespace hindsight
