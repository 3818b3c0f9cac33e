#include "torch_network.hpp"

#include <cmath>

namespace hindsight::benchmarks {

TorchNetwork::TorchNetwork(std::span<const int> sizes, int batch) {
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    const int inputs = sizes[i - 1], units = sizes[i];
    const double bound = std::sqrt(6.0 / (inputs + units));
    layers.push_back({.weights = torch::empty({units, inputs}).uniform_(-bound, bound),
                      .bias = torch::zeros({units}),
                      .logits = torch::empty({batch, units}),
                      .probabilities = torch::empty({batch, units}),
                      .outcomes = torch::empty({batch, units}),
                      .uniforms = torch::empty({batch, units})});
  }
}

void TorchNetwork::forward_stochastic(const Tensor& pixels) {
  static const Tensor one = torch::ones({});
  Tensor input = pixels;
  for (TorchLayer& layer : layers) {
    layer.input = input;
    torch::addmm_out(layer.logits, layer.bias, input, layer.weights.t());
    if (&layer == &layers.back()) break;
    torch::sigmoid_out(layer.probabilities, layer.logits);
    // The sign of p - u, but never 0.
    torch::sub_out(layer.outcomes, layer.probabilities, layer.uniforms.uniform_());
    torch::copysign_out(layer.outcomes, one, layer.outcomes);
    input = layer.outcomes;
  }
  sample_classes();
}

void TorchNetwork::forward_tanh(const Tensor& pixels) {
  Tensor input = pixels;
  for (TorchLayer& layer : layers) {
    layer.input = input;
    torch::addmm_out(layer.logits, layer.bias, input, layer.weights.t());
    if (&layer == &layers.back()) break;
    torch::tanh_out(layer.outcomes, layer.logits);
    input = layer.outcomes;
  }
  sample_classes();
}

void TorchNetwork::sample_classes() {
  TorchLayer& output = layers.back();
  torch::_softmax_out(output.probabilities, output.logits, 1, false);
  // What torch::multinomial does, without its checks: the first of exponential clocks to ring.
  torch::div_out(output.uniforms, output.probabilities, output.uniforms.exponential_());
  output.outcomes = output.uniforms.argmax(1, true);
}

void TorchNetwork::credit_output(const Tensor& share) {
  TorchLayer& output = layers.back();
  output.deltas = output.probabilities.neg();
  output.deltas.scatter_(1, output.outcomes, 1.0, "add");
  output.deltas.mul_(share);
}

void TorchNetwork::credit_hnca(const Tensor& rewards, TorchMethod form) {
  const Tensor share = rewards / static_cast<double>(rewards.size(0));
  credit_output(share);
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    TorchLayer& layer = layers[i];
    TorchLayer& child = layers[i + 1];
    const Tensor evidence =
        i + 2 == layers.size() ? evidence_of_softmax(child, form) : evidence_of_bernoulli(child, form);
    layer.deltas = torch::add(layer.logits, evidence).sigmoid_().sub_(layer.probabilities).mul_(share);
  }
}

void TorchNetwork::credit_backprop(const Tensor& rewards) {
  credit_output(rewards / static_cast<double>(rewards.size(0)));
  for (std::size_t i = layers.size() - 1; i-- > 0;) {
    TorchLayer& layer = layers[i];
    layer.deltas = torch::tanh_backward(layers[i + 1].deltas.mm(layers[i + 1].weights), layer.outcomes);
  }
}

void TorchNetwork::learn(double rate) {
  for (TorchLayer& layer : layers) {
    layer.weights.addmm_(layer.deltas.t(), layer.input, 1, rate);
    layer.bias.add_(layer.deltas.sum(0), rate);
  }
}

}  // namespace hindsight::benchmarks
