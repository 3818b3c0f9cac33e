#pragma once

#include <span>
#include <string>
#include <vector>

#include <hindsight/hindsight.hpp>

#include "dags.hpp"
#include "images.hpp"

namespace hindsight::benchmarks {

using Layers = std::vector<int>;  ///< units from the input to the classes

/// "784-64-64-10".
std::string name_of(const Layers& layers);
std::size_t edges_of(const Layers& layers);

/// The share of all pairs of units in neighbouring layers that are joined.
struct Wiring {
  double density = 1;
};

/// A graph with one input and one reward, which is 1 where `output` equals the label.
struct Network {
  Graph graph;
  NodeId input, output;
  RewardId reward;
};

/// -1/+1 Bernoulli layers and a Categorical output; HNCA on the hidden layers, REINFORCE at the output.
Network layered(const Layers& layers, Wiring wiring = {});
/// The same network with every hidden unit a node of its own.
Network neuron_by_neuron(const Layers& layers);
/// The same graph with REINFORCE at every node.
Network with_reinforce(Network network);

/// Every node a single neuron; the reward reads what nobody else does. Lists of the DAG are given up one by
/// one, so that they do not count as memory of the graph.
Graph neurons(Dag dag);

/// A model, a workspace and the training step that all rows of the table mean: forward, reward, backward,
/// SGD.
class Trainer {
 public:
  Trainer(const Network& network, int batch, const Images& images, int threads = 1);

  void step();
  int batch() const { return batch_; }

 private:
  const Images& images_;
  NodeId input_, output_;
  RewardId reward_;
  int batch_;
  Model model_;
  Workspace run_;
  Sgd sgd_{{.rate = 0.01}};
  std::vector<float> rewards_;
  Cursor cursor_;
};

}  // namespace hindsight::benchmarks
