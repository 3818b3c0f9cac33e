#pragma once

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

/// Where two graphs differ in what they describe; empty: nowhere.
inline std::string difference(const Graph& a, const Graph& b, const Catalogue& catalogue) {
  if (a.node_count() != b.node_count()) return fmt::format("{} and {} nodes", a.node_count(), b.node_count());
  if (a.reward_count() != b.reward_count())
    return fmt::format("{} and {} rewards", a.reward_count(), b.reward_count());
  const auto described = [&](const Graph& graph, NodeId node) {
    std::string text = fmt::format("{} {} ×{}", graph.name(node), graph.kind(node), graph.shape(node).units);
    if (graph.is_input(node)) return text;
    const Attributes attributes = catalogue.describe(*graph.node(node)).value();
    for (const auto& [name, value] : attributes) text += fmt::format(" {}={}", name, value);
    const auto add_choice = [&](const EstimatorChoice& choice) {
      text += choice.chosen() ? ' ' + choice.chosen()->name() : " auto";
    };
    add_choice(graph.choice(node));
    for (int i = 0; i < graph.reward_count(); ++i)
      if (graph.has_own_choice(node, {i})) {
        text += fmt::format(" {}:", i);
        add_choice(graph.choice(node, {i}));
      }
    for (const Graph::Parent& parent : graph.parents(node)) {
      text += fmt::format(" <-{}", parent.node.index);
      if (!parent.connectivity) continue;
      if (const auto& drawn = parent.connectivity->drawn_from())
        text += fmt::format("({}, {})", drawn->density, drawn->seed);
      for (int unit = 0; unit < parent.connectivity->child_units(); ++unit)
        for (const int read : parent.connectivity->parents_of(unit))
          text += fmt::format(" {}>{}", read, unit);
    }
    return text;
  };
  for (int i = 0; i < a.node_count(); ++i)
    if (const std::string one = described(a, {i}), other = described(b, {i}); one != other)
      return one + " is not " + other;
  for (int i = 0; i < a.reward_count(); ++i)
    if (a.name(RewardId{i}) != b.name(RewardId{i}) || !std::ranges::equal(a.reads({i}), b.reads({i})))
      return fmt::format("reward {} differs", a.name(RewardId{i}));
  return {};
}

}  // namespace hindsight::testing
