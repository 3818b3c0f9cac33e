#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/index.hpp>
#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::internal {

struct RowRange {
  std::size_t first = 0, last = 0;
  bool empty() const { return first == last; }
};

/// What the backward pass has to bring to which node.
struct Wants {
  std::vector<bool> messages, slopes;  ///< per node
};

/// Nodes of one level and kind. They lie side by side in the arena, and so do the features of parents that
/// were added one after another.
struct NodeGroup {
  int level = 0;
  int kind = 0;  ///< in order of first appearance; -1: input
  std::vector<NodeId> nodes = {};
  bool holds_inputs() const { return kind < 0; }
};

/// By level, then kind, then order of addition.
std::vector<NodeGroup> group_nodes(const Graph& graph);

/// Where everything of a graph lies: in rows of the workspace's arrays, and in the flat parameter vector.
/// Blocks refer to its placements, and these to each other: it may be moved, which leaves them where they
/// are, and not copied.
struct Layout {
  std::vector<Placement> placements;  ///< per node, in order of addition; an input has features, nothing else
  std::vector<Role> roles;            ///< per node
  std::vector<RowRange> evidence_rows;  ///< of the nodes that want messages, in order
  std::vector<RowRange> slope_rows;     ///< of features, of the nodes that want slopes, in order
  std::size_t input_rows = 0;           ///< rows of features of the inputs, which come first
  std::size_t feature_rows = 0, unit_rows = 0, table_rows = 0, parameter_count = 0;
  std::vector<std::shared_ptr<const Connectivity>> wirings = {};  ///< kept alive for the placements

  IdRange<NodeId> nodes() const { return IdRange<NodeId>(static_cast<int>(placements.size())); }
  bool is_input(NodeId node) const { return roles[index(node)] == Role::input; }
  bool is_stochastic(NodeId node) const { return roles[index(node)] == Role::stochastic; }
  /// Throws Error when there is no such node.
  const Placement& placement(NodeId node) const;
  /// The node to which a row of log-probabilities, evidence or credit belongs.
  const Placement& owner(std::size_t table_row) const;
};

Layout lay_out(const Graph& graph, const Contraction& contraction, std::span<const NodeGroup> groups,
               const Wants& wants);

}  // namespace hindsight::internal
