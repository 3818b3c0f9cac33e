#pragma once

#include <string>
#include <vector>

#include <hindsight/hindsight.hpp>

namespace hindsight::tool {

/// A classifier that is rewarded for the right class and never told it.
struct Network {
  Graph graph;
  NodeId input, output;
  RewardId reward;
};

inline constexpr int mnist_features = 784, mnist_classes = 10;

/// The method of a graph file that chooses its own estimators.
inline constexpr const char* own_method = "own";

/// Hidden layers as the paper has them, or, if one of them is given, a graph from a file or a topology by
/// name.
struct NetworkOptions {
  std::vector<int> hidden = {64, 64};
  std::string graph = {};     ///< in DOT: the file may change while a run goes on
  std::string topology = {};  ///< "small-world:units=200"
  /// As parse_credit_method understands it, or backprop-tanh, backprop-relu, backprop-sigmoid: a
  /// deterministic network whose output alone is stochastic.
  std::string method = "hnca";
  std::string values = "-1,1";               ///< what children see of a hidden unit's outcomes
  std::vector<std::string> estimators = {};  ///< "h1=reinforce": another estimator for one node
  std::string baseline = {};  ///< of the reward: "running-mean(decay=0.9)"; empty: as the graph says
};

/// Refuses what the options cannot mean.
Network make_network(const NetworkOptions& options, int features, int classes);

/// The graph as a classifier of images: its one input takes the pixels, and its one reward reads the node
/// that names the class. Refuses any other.
Network as_classifier(Graph graph, int features, int classes);

/// What topologies are made of where images are to be classified.
TopologyParts image_parts(const NetworkOptions& options, int features, int classes);

/// Gives a node, called by its name, an estimator, called by its name in reports.
void choose_estimator(Network& network, const std::string& node, const std::string& estimator);

}  // namespace hindsight::tool
