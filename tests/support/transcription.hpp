#pragma once

#include <span>
#include <vector>

namespace hindsight::testing {

/// A network of single neurons, as the paper has it: real inputs, Bernoulli neurons on any DAG, softmax
/// outputs. Everything is one sample at a time and as slow as the pseudo-code.
struct PaperNeuron {
  std::vector<int> inputs = {};   ///< indices into the network's inputs
  std::vector<int> parents = {};  ///< indices of earlier neurons
  std::vector<std::vector<double>> theta =
      {};                         ///< one row per logit: weights of the inputs, then of the parents
  std::vector<double> bias = {};  ///< one per logit; one logit: Bernoulli, more: softmax
  double low = 0, high = 1;       ///< what children see of a Bernoulli neuron's 0 and 1
  bool output = false;            ///< credited by REINFORCE, as the paper's output neuron
};

struct PaperGradient {
  std::vector<std::vector<double>> theta;
  std::vector<double> bias;
};

/// The updates (before the learning rate) that Algorithms 1 and 2 give to every neuron when `outcomes` were
/// sampled and the reward was `reward`. Two corrections are made: a Bernoulli child passes the probabilities
/// of the outcome it actually had (Algorithm 1, lines 12 to 14, passes those of firing whatever happened),
/// and Algorithm 2 changes the one entry of the logits that it speaks of.
std::vector<PaperGradient> paper_updates(std::span<const PaperNeuron> network, std::span<const double> inputs,
                                         std::span<const int> outcomes, double reward);

}  // namespace hindsight::testing
