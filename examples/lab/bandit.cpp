#include "lab/bandit.hpp"

#include <random>

#include <fmt/format.h>

namespace hindsight::lab {
namespace {

/// One unit that a reward reads, and what it should be in each row.
struct Target {
  NodeId node;
  int unit = 0;
  std::vector<Outcome> outcomes;
};

std::vector<Target> draw_targets(const Graph& graph, RewardId reward, int rows, std::mt19937_64& draw) {
  std::vector<Target> targets;
  for (const NodeId node : graph.reads(reward)) {
    if (!graph.is_stochastic(node)) continue;
    for (int unit = 0; unit < graph.shape(node).units; ++unit) {
      Target target{node, unit, {}};
      for (int row = 0; row < rows; ++row)
        target.outcomes.push_back(
            static_cast<Outcome>(draw() % static_cast<std::uint64_t>(graph.shape(node).outcomes())));
      targets.push_back(std::move(target));
    }
  }
  if (targets.empty())
    refuse({.code = "graph-has-no-bandit",
            .message = fmt::format("reward '{}' reads nothing that is sampled, so it has no targets",
                                   graph.name(reward)),
            .help = {"let the reward read a stochastic node"}});
  return targets;
}

double share_of_hits(const std::vector<Target>& targets, const JointOutcome& outcome) {
  const auto row = static_cast<std::size_t>(outcome.input_row());
  double hits = 0;
  for (const Target& target : targets)
    if (outcome(target.node, target.unit) == target.outcomes[row]) ++hits;
  return hits / static_cast<double>(targets.size());
}

}  // namespace

Bandit::Bandit(const Graph& graph, int rows, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  for (int i = 0; i < graph.node_count(); ++i) {
    if (!graph.is_input({i})) continue;
    const int units = graph.shape({i}).units;
    std::vector<float>& values =
        values_.emplace_back(static_cast<std::size_t>(rows) * static_cast<std::size_t>(units));
    for (float& value : values) value = draw() % 2 == 0 ? -1.0F : 1.0F;
    inputs_.push_back({NodeId{i}, MatrixView<const float>(values.data(), rows, units)});
  }
  for (int r = 0; r < graph.reward_count(); ++r) {
    if (graph.is_known({r})) continue;
    rewards_.push_back(
        {RewardId{r}, [targets = draw_targets(graph, {r}, rows, draw)](const JointOutcome& outcome) {
           return share_of_hits(targets, outcome);
         }});
  }
}

}  // namespace hindsight::lab
