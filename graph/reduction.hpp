#pragma once

#include <string>
#include <vector>

#include <hindsight/core/pattern.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/violations.hpp>

namespace hindsight {

/// What was taken out of the edge between two nodes.
struct RemovedEdge {
  std::string parent, child;
  bool whole = true;     ///< nothing of it is left
  Pattern::Pairs pairs;  ///< (unit of the parent, unit of the child); empty: a dense edge, all of it
};

/// A violation that is left, because nothing could be removed without loss.
struct KeptViolation {
  std::string node, child;  ///< or single units, "a[3]"
  std::string why;
};

struct Reduction {
  Graph graph;
  std::vector<RemovedEdge> removed;  ///< by child in order of addition, then by its list of parents
  std::vector<KeptViolation> kept;   ///< by child, then by its list of parents; empty: Assumption 1 holds
};

/// The graph without the edges that violate Assumption 1: its transitive reduction, but for what leaves nodes
/// that are not checked. Nodes, their order, kinds and estimators stay, and so do rewards and what they read.
/// Every node still descends from the same nodes, and none loses its last parent.
///
/// An edge between stochastic nodes goes if it is at fault. One into or out of a deterministic node goes if
/// every edge of the contraction that runs through it is at fault, and no reward follows from it; of several
/// in a row the last goes. A violation stays where routes that are at fault share each of their edges with
/// others that are not, and where the child's kind cannot do without: a Table needs its parents, and a kind
/// that reads no patterns cannot lose a part of an edge.
Reduction reduce(const Graph&, InputPolicy = InputPolicy::exempt);

}  // namespace hindsight
