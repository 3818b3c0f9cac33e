#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <hindsight/core/diagnostics.hpp>
#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/topology.hpp>

namespace hindsight {

/// A node whose child has another parent that descends from the node: the edge node → child and a longer
/// route meet. Parents, children and descendants are those of the contraction; the routes are real.
struct Violation {
  UnitRef node, child, coparent;
  std::vector<UnitRef> edge;   ///< node … child: only deterministic nodes between
  std::vector<UnitRef> route;  ///< node … coparent … child: the longer of the two
};

/// The rule, both routes, and the one that could be dropped.
Diagnostic explain(const Graph& graph, const Violation& violation);

class UnitWitnessSearch;

/// Proves violations, one node at a time. What it keeps between two questions is never cleared, so that a
/// proof costs as much as the part of the graph that is nearer than the answer.
class WitnessSearch {
 public:
  /// Refers to both.
  WitnessSearch(const Graph&, const Contraction&);
  WitnessSearch(WitnessSearch&&) noexcept;
  ~WitnessSearch();

  /// Of all violations at the node the one with the shortest route to the coparent; ties go to the child
  /// that was added first, then to the parent that the child lists first. If the graph has a sparse edge the
  /// answer is about single units, and ties go to the node's first unit before all. None: Assumption 1 holds
  /// at the node.
  std::optional<Violation> shortest(NodeId node);

 private:
  void search(NodeId node);

  const Graph& graph_;
  const Contraction& contraction_;
  std::unique_ptr<UnitWitnessSearch> by_units_;  ///< none: all edges are dense
  std::uint32_t question_ = 0;
  std::vector<std::uint32_t> reached_, is_coparent_;  ///< per node: the question for which it last was
  std::vector<int> distance_;                         ///< of what was reached
  std::vector<NodeId> predecessor_;
  std::vector<NodeId> queue_;
};

}  // namespace hindsight
