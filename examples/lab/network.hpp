#pragma once

#include <string>
#include <vector>

#include <hindsight/hindsight.hpp>

namespace hindsight::lab {

/// A classifier that is rewarded for the right class and never told it.
struct Network {
  Graph graph;
  NodeId input, output;
  RewardId reward;
};

/// Hidden layers as the paper has them.
struct NetworkOptions {
  std::vector<int> hidden = {64, 64};
  /// hnca, reinforce, or backprop-tanh, backprop-relu, backprop-sigmoid: a deterministic network whose output
  /// alone is stochastic.
  std::string method = "hnca";
  std::string values = "-1,1";               ///< what children see of a hidden unit's outcomes
  std::vector<std::string> estimators = {};  ///< "h1=reinforce": another estimator for one node
};

/// x ─→ h1 ─→ … ─→ output ─→ correct. Refuses what the options cannot mean.
Network layered_network(const NetworkOptions& options, int features, int classes);

/// Gives a node, called by its name, an estimator, called by its name in reports.
void choose_estimator(Network& network, const std::string& node, const std::string& estimator);

/// All stochastic nodes by REINFORCE.
void use_reinforce(Network& network);

}  // namespace hindsight::lab
