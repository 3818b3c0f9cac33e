#include "tool/bandit.hpp"

#include <random>

#include <fmt/format.h>

#include "tool/memory.hpp"

namespace hindsight::tool {
namespace {

/// A node that a reward reads, and what its units should be.
struct Target {
  NodeId node;
  Eigen::ArrayXXi outcomes;  ///< rows × units
};

double units_of(const Graph& graph, std::span<const NodeId> nodes) {
  double units = 0;
  for (const NodeId node : nodes) units += graph.shape(node).units;
  return units;
}

void require_memory_for(const Graph& graph, int rows) {
  double numbers = 0;
  for (const NodeId node : graph.nodes())
    if (graph.is_input(node)) numbers += graph.shape(node).units;
  for (const RewardId reward : graph.rewards())
    if (!graph.is_known(reward)) numbers += units_of(graph, graph.reads(reward));
  require_memory(sizeof(float) * numbers * rows, fmt::format("a bandit with {} rows", rows), "--rows 1");
}

std::vector<Target> draw_targets(const Graph& graph, RewardId reward, int rows, std::mt19937_64& draw) {
  std::vector<Target> targets;
  for (const NodeId node : graph.reads(reward)) {
    if (!graph.is_stochastic(node)) continue;
    const NodeShape& shape = graph.shape(node);
    Target& target = targets.emplace_back(Target{node, Eigen::ArrayXXi(rows, shape.units)});
    for (auto unit : target.outcomes.colwise())
      for (int& outcome : unit)
        outcome = static_cast<Outcome>(draw() % static_cast<std::uint64_t>(shape.outcome_count()));
  }
  if (targets.empty())
    refuse({.code = "graph-has-no-bandit",
            .message = fmt::format("reward '{}' reads nothing that is sampled, so it has no targets",
                                   graph.name(reward)),
            .help = {"let the reward read a stochastic node"}});
  return targets;
}

double share_of_hits(const std::vector<Target>& targets, const JointOutcome& outcome) {
  double hits = 0, units = 0;
  for (const Target& target : targets) {
    units += static_cast<double>(target.outcomes.cols());
    for (int unit = 0; unit < target.outcomes.cols(); ++unit)
      if (outcome(target.node, unit) == target.outcomes(outcome.input_row(), unit)) ++hits;
  }
  return hits / units;
}

}  // namespace

Bandit::Bandit(const Graph& graph, int rows, std::uint64_t seed) {
  require_memory_for(graph, rows);
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
