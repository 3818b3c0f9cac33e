#pragma once

#include <span>
#include <vector>

#include <torch/torch.h>

#include "torch_peers.hpp"

namespace hindsight::benchmarks {

using torch::Tensor;

/// One layer: its parameters and what the last forward pass left in it.
struct TorchLayer {
  Tensor weights, bias;  ///< units × inputs; units
  Tensor input;          ///< samples × inputs
  Tensor logits;         ///< samples × units
  Tensor probabilities;  ///< of outcome 1, or of the classes
  Tensor outcomes;       ///< -1 or +1 per unit, tanh for backpropagation; the classes as samples × 1
  Tensor uniforms;       ///< room for random numbers
  Tensor deltas;         ///< gradient of the mean reward by the logits
  Tensor room;           ///< for one tile of messages
};

/// A layered network of stochastic or tanh units with a softmax output.
struct TorchNetwork {
  std::vector<TorchLayer> layers;

  TorchNetwork(std::span<const int> sizes, int batch);

  void forward_stochastic(const Tensor& pixels);
  void forward_tanh(const Tensor& pixels);
  /// Deltas of every layer; rewards: samples × 1.
  void credit_hnca(const Tensor& rewards, TorchMethod form);
  void credit_backprop(const Tensor& rewards);
  /// parameters += rate · gradient, without making the gradient.
  void learn(double rate);

  const Tensor& classes() const { return layers.back().outcomes; }

 private:
  void sample_classes();
  void credit_output(const Tensor& share);
};

/// Evidence that a layer of -1/+1 units gets from its child: samples × units,
/// log P(child | outcome 1) - log P(child | outcome 0).
Tensor evidence_of_bernoulli(TorchLayer& child, TorchMethod form);
Tensor evidence_of_softmax(const TorchLayer& child, TorchMethod form);

}  // namespace hindsight::benchmarks
