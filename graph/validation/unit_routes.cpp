#include <hindsight/graph/unit_routes.hpp>

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <hindsight/core/index.hpp>

namespace hindsight::internal {
namespace {

/// Units of one node from which a route leads to a reward.
struct RoutedUnits {
  bool all = false;
  std::vector<bool> listed = {};  ///< per unit; empty: none, or all
  int count = 0;                  ///< of those listed

  bool any() const { return all || count > 0; }
  bool contains(int unit) const { return all || listed[index(unit)]; }
  void add(int unit, int units) {
    if (listed.empty()) listed.resize(index(units), false);
    if (listed[index(unit)]) return;
    listed[index(unit)] = true;
    if (++count == units) all = true;
  }
};

}  // namespace

std::vector<LostUnits> units_without_route(const Graph& graph) {
  std::vector<RoutedUnits> routed(index(graph.node_count()));
  std::vector<LostUnits> lost(routed.size());
  for (const RewardId reward : graph.rewards())
    for (const NodeId node : graph.reads(reward)) routed[index(node)].all = true;
  for (std::size_t i = routed.size(); i-- > 0;) {
    const NodeId node{static_cast<int>(i)};
    const int units = graph.shape(node).units;
    RoutedUnits& own = routed[i];
    for (const Graph::Parent& parent : graph.parents(node)) {
      RoutedUnits& above = routed[index(parent.node)];
      if (above.all || !own.any()) continue;
      if (!parent.connectivity) {
        above.all = true;
        continue;
      }
      for (int unit = 0; unit < units && !above.all; ++unit)
        if (own.contains(unit))
          for (const int read : parent.connectivity->parents_of(unit))
            above.add(read, graph.shape(parent.node).units);
    }
    if (!own.all) {
      const auto first = std::find(own.listed.begin(), own.listed.end(), false);
      lost[i] = {units - own.count, static_cast<int>(first - own.listed.begin())};
    }
    own = {};  // its parents know
  }
  return lost;
}

Diagnostic explain_lost_units(const Graph& graph, NodeId node, const LostUnits& lost) {
  const std::string& name = graph.name(node);
  const int units = graph.shape(node).units;
  if (lost.count < units)
    return {.message = fmt::format("no route leads from {} of its {} units to a reward, the first being "
                                   "'{}[{}]'; their gradient is zero and they will not learn",
                                   lost.count, units, name, lost.first),
            .help = {fmt::format("let a reward, or a unit that leads to one, read '{}[{}]', or leave it out",
                                 name, lost.first)}};
  const auto rewards = graph.rewards();
  const bool joined = std::any_of(rewards.begin(), rewards.end(), [&](RewardId reward) -> bool {
    return upstream_of(graph, reward)[index(node)];
  });
  return {
      .message = fmt::format("no route leads from {} to a reward; its gradient is zero and it will not learn",
                             joined ? "any of its units" : "it"),
      .help = {fmt::format("let a reward, or a {} that leads to one, read '{}', or leave it out",
                           joined ? "unit" : "node", name)}};
}

}  // namespace hindsight::internal
