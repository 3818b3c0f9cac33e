#pragma once

#include <string>
#include <vector>

#include <hindsight/graph/contraction.hpp>
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

/// A node whose child has another parent that descends from the node: the edge node → child and a longer
/// route meet. Parents, children and descendants are those of the contraction; the routes are real.
struct Violation {
  UnitRef node, child, coparent;
  std::vector<UnitRef> edge;   ///< node … child: only deterministic nodes between
  std::vector<UnitRef> route;  ///< node … coparent … child: the longer of the two
};

enum class InputPolicy {
  exempt,  ///< inputs are given, not learned: what they violate harms nothing
  checked,
};

/// Per node, the number of edges on the longest route that ends there.
std::vector<int> levels(const Graph&);

/// Per node: does a route lead from it to something the reward reads (or is it read itself)?
std::vector<bool> upstream_of(const Graph&, RewardId);

/// Assumption 1 (parents of children are not descendants): at most one violation per node, in order of
/// addition, with the shortest longer route; ties go to the child that was added first, then to the parent
/// that the child lists first. Deterministic nodes are contracted first. If the graph has a sparse edge the
/// check is made unit by unit. Costs one search per node that has an edge across more than one level.
std::vector<Violation> find_violations(const Graph&, const Contraction&, InputPolicy = InputPolicy::exempt);
std::vector<Violation> find_violations(const Graph&, InputPolicy = InputPolicy::exempt);

}  // namespace hindsight
