#include <hindsight/graph/copy_choices.hpp>

namespace hindsight::internal {
namespace {

void copy_rewards(const Graph& from, Graph& to) {
  for (const RewardId reward : from.rewards()) {
    const std::span<const NodeId> read = from.reads(reward);
    std::vector<NodeId> reads(read.begin(), read.end());
    if (from.is_known(reward))
      to.reward(from.name(reward), std::move(reads), from.known(reward));
    else
      to.reward(from.name(reward), std::move(reads));
    if (const BaselineChoice* const chosen = from.chosen_baseline(reward)) to.baseline(reward, *chosen);
  }
}

void copy_choices(const Graph& from, NodeId node, Graph& to) {
  to.estimate_with(node, from.choice(node));
  if (const BaselineChoice* const chosen = from.chosen_baseline(node)) to.baseline(node, *chosen);
  for (const RewardId reward : from.rewards()) {
    if (from.has_own_choice(node, reward)) to.estimate_with(node, reward, from.choice(node, reward));
    if (const BaselineChoice* const chosen = from.chosen_baseline(node, reward))
      to.baseline(node, reward, *chosen);
  }
}

}  // namespace

void copy_rewards_and_choices(const Graph& from, Graph& to) {
  copy_rewards(from, to);
  for (const NodeId node : from.nodes())
    if (from.is_stochastic(node)) copy_choices(from, node, to);
}

}  // namespace hindsight::internal
