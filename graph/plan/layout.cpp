#include <hindsight/graph/layout.hpp>

#include <algorithm>
#include <map>
#include <typeindex>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::internal {
namespace {

/// Appends the range, or lengthens the last one by it.
void append_rows(std::vector<RowRange>& ranges, const RowRange& rows) {
  if (!ranges.empty() && ranges.back().last == rows.first)
    ranges.back().last = rows.last;
  else
    ranges.push_back(rows);
}

struct Rows {
  struct Place {
    int level = 0;
    std::size_t feature = 0, unit = 0, table = 0;
  };
  std::vector<Place> first;  ///< per node
  std::vector<RowRange> evidence, slopes;
  std::size_t inputs = 0, features = 0, units = 0, tables = 0;  ///< how many
};

Rows give_rows(const Graph& graph, std::span<const NodeGroup> groups, const Wants& wants) {
  Rows rows;
  rows.first.resize(graph.nodes().size());
  for (const NodeGroup& group : groups)
    for (const NodeId node : group.nodes) {
      const NodeShape& shape = graph.shape(node);
      const bool stochastic = graph.is_stochastic(node);
      const Rows::Place first{group.level, rows.features, rows.units, rows.tables};
      rows.first[index(node)] = first;
      rows.features += index(shape.units) * index(stochastic ? shape.encoding.width : 1);
      if (group.holds_inputs()) rows.inputs = rows.features;
      if (stochastic) {
        rows.units += index(shape.units);
        rows.tables += index(shape.units) * index(shape.outcome_count());
      }
      if (wants.messages[index(node)]) append_rows(rows.evidence, {first.table, rows.tables});
      if (wants.slopes[index(node)]) append_rows(rows.slopes, {first.feature, rows.features});
    }
  return rows;
}

/// Placements refer to those of their parents: the list must never grow beyond its memory.
std::vector<Placement> place_nodes(const Graph& graph, const Contraction& contraction, const Wants& wants,
                                   const Rows& rows) {
  std::vector<Placement> placements;
  placements.reserve(graph.nodes().size());
  std::size_t parameters = 0;
  for (const NodeId node : graph.nodes()) {
    const Rows::Place& first = rows.first[index(node)];
    Placement& at = placements.emplace_back(Placement{.name = graph.name(node),
                                                      .shape = graph.shape(node),
                                                      .is_discrete = graph.is_stochastic(node),
                                                      .level = first.level,
                                                      .first_unit = graph.first_unit(node),
                                                      .feature_row = first.feature,
                                                      .unit_row = first.unit,
                                                      .table_row = first.table,
                                                      .first_parameter = parameters,
                                                      .parents = {},
                                                      .wirings = {}});
    parameters += at.shape.parameter_count;
    at.parents.reserve(graph.parents(node).size());
    const bool is_wired = std::any_of(graph.parents(node).begin(), graph.parents(node).end(),
                                      [](const Graph::Parent& parent) { return parent.connectivity; });
    for (const auto& [parent, connectivity] : graph.parents(node)) {
      if (is_wired) at.wirings.push_back(connectivity);
      // Where deterministic nodes join the two as well, a rerun speaks for all routes at once.
      const bool by_message = wants.messages[index(parent)] && graph.is_stochastic(node) &&
                              !contraction.is_joined_by_functions(parent, node);
      at.parents.push_back({&placements[index(parent)], by_message, wants.slopes[index(parent)]});
    }
  }
  return placements;
}

std::vector<Role> roles_of(const Graph& graph) {
  std::vector<Role> roles;
  for (const NodeId node : graph.nodes()) roles.push_back(graph.role(node));
  return roles;
}

}  // namespace

std::vector<NodeGroup> group_nodes(const Graph& graph) {
  const std::vector<int> level = levels(graph);
  std::map<std::type_index, int> kinds;
  std::map<std::pair<int, int>, NodeGroup> groups;
  for (const NodeId node : graph.nodes()) {
    const int kind =
        graph.is_input(node)
            ? -1
            : kinds.emplace(graph.node(node)->type(), static_cast<int>(kinds.size())).first->second;
    const int at = level[index(node)];
    groups.emplace(std::pair{at, kind}, NodeGroup{at, kind, {}}).first->second.nodes.push_back(node);
  }
  std::vector<NodeGroup> ordered;
  for (auto& [key, members] : groups) ordered.push_back(std::move(members));
  return ordered;
}

Layout lay_out(const Graph& graph, const Contraction& contraction, std::span<const NodeGroup> groups,
               const Wants& wants) {
  Rows rows = give_rows(graph, groups, wants);
  std::vector<Placement> placements = place_nodes(graph, contraction, wants, rows);
  const std::size_t parameter_count =
      placements.empty() ? 0 : placements.back().first_parameter + placements.back().shape.parameter_count;
  return {.placements = std::move(placements),
          .roles = roles_of(graph),
          .evidence_rows = std::move(rows.evidence),
          .slope_rows = std::move(rows.slopes),
          .input_rows = rows.inputs,
          .feature_rows = rows.features,
          .unit_rows = rows.units,
          .table_rows = rows.tables,
          .parameter_count = parameter_count,
          .wirings = {graph.wirings().begin(), graph.wirings().end()}};
}

const Placement& Layout::placement(NodeId node) const {
  if (node.index < 0 || index(node) >= placements.size())
    refuse({.code = "unknown-node",
            .message = fmt::format("node number {} does not exist; the model has {} {}", node.index,
                                   placements.size(), placements.size() == 1 ? "node" : "nodes"),
            .help = {"use the NodeId that graph.add(…) returned"}});
  return placements[index(node)];
}

const Placement& Layout::owner(std::size_t table_row) const {
  return *std::find_if(placements.begin(), placements.end(), [&](const Placement& at) {
    const std::size_t rows = index(at.shape.units) * index(at.shape.outcome_count());
    return table_row >= at.table_row && table_row < at.table_row + rows;
  });
}

}  // namespace hindsight::internal
