#include "tool/bandit.hpp"

#include <random>

#include <fmt/format.h>

namespace hindsight::tool {
namespace {

/// One unit that a reward reads, and what it should be in each row.
struct Target {
  NodeId node;
  int unit = 0;
  Eigen::ArrayXi outcomes;
};

std::vector<Target> draw_targets(const Graph& graph, RewardId reward, int rows, std::mt19937_64& draw) {
  std::vector<Target> targets;
  for (const NodeId node : graph.reads(reward)) {
    if (!graph.is_stochastic(node)) continue;
    for (int unit = 0; unit < graph.shape(node).units; ++unit) {
      Target target{node, unit, Eigen::ArrayXi(rows)};
      for (int& outcome : target.outcomes)
        outcome =
            static_cast<Outcome>(draw() % static_cast<std::uint64_t>(graph.shape(node).outcome_count()));
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
  double hits = 0;
  for (const Target& target : targets)
    if (outcome(target.node, target.unit) == target.outcomes(outcome.input_row())) ++hits;
  return hits / static_cast<double>(targets.size());
}

}  // namespace

Bandit::Bandit(const Graph& graph, int rows, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  for (const NodeId node : graph.nodes()) {
    if (!graph.is_input(node)) continue;
    Eigen::MatrixXf& values = values_.emplace_back(rows, graph.shape(node).units);
    for (auto row : values.rowwise())
      for (float& value : row) value = draw() % 2 == 0 ? -1.0F : 1.0F;
    inputs_.push_back({node, values});
  }
  for (const RewardId reward : graph.rewards()) {
    if (graph.is_known(reward)) continue;
    rewards_.push_back(
        {reward, [targets = draw_targets(graph, reward, rows, draw)](const JointOutcome& outcome) {
           return share_of_hits(targets, outcome);
         }});
  }
}

}  // namespace hindsight::tool
