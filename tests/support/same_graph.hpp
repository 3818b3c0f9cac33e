#pragma once

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

inline std::string baseline_text(const BaselineChoice* baseline) {
  if (!baseline) return ", no baseline chosen";
  return fmt::format(", baseline {}", baseline->chosen() ? baseline->chosen()->name() : "none");
}

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
    text += baseline_text(graph.chosen_baseline(node));
    for (const RewardId reward : graph.rewards()) text += baseline_text(graph.chosen_baseline(node, reward));
    for (const RewardId reward : graph.rewards())
      if (graph.has_own_choice(node, reward)) {
        text += fmt::format(" {}:", reward.index);
        add_choice(graph.choice(node, reward));
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
  for (const NodeId node : a.nodes())
    if (const std::string one = described(a, node), other = described(b, node); one != other)
      return one + " is not " + other;
  for (const RewardId reward : a.rewards())
    if (a.name(reward) != b.name(reward) || !std::ranges::equal(a.reads(reward), b.reads(reward)))
      return fmt::format("reward {} differs", a.name(reward));
  for (const RewardId reward : a.rewards()) {
    const std::string one = baseline_text(a.chosen_baseline(reward)),
                      other = baseline_text(b.chosen_baseline(reward));
    if (one != other || a.is_known(reward) != b.is_known(reward))
      return fmt::format("reward {}{} is not as{}", a.name(reward), one, other);
  }
  return {};
}

}  // namespace hindsight::testing
