#include "torch_suite.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "instructions.hpp"
#include "torch_peers.hpp"

namespace hindsight::benchmarks {
namespace {

struct Method {
  TorchMethod method;
  const char* name;
  bool is_hnca;
};

constexpr Method methods[] = {
    {TorchMethod::literal, "literal", true},    {TorchMethod::flip, "flip", true},
    {TorchMethod::factored, "factored", true},  {TorchMethod::closed, "closed", true},
    {TorchMethod::backprop, "backprop", false}, {TorchMethod::autograd, "autograd", false}};

/// Hindsight's gradient where the outcomes are those that libtorch sampled.
std::vector<float> gradient_of(const Network& network, const Model& model, const TorchProbe& probe,
                               const Images& images, const std::vector<float>& rewards) {
  const auto samples = static_cast<int>(rewards.size());
  Workspace run = model.workspace(samples);
  ForwardOptions options;
  // The input is node 0, and layers are nodes in their order.
  for (std::size_t i = 0; i < probe.outcomes.size(); ++i) {
    const auto units = static_cast<std::ptrdiff_t>(probe.outcomes[i].size()) / samples;
    options.clamp.push_back({NodeId{static_cast<int>(i) + 1},
                             MatrixView<const Outcome>(probe.outcomes[i].data(), samples, units)});
  }
  model.forward(run,
                {{network.input, MatrixView<const float>(images.pixels.data(), samples, images.features)}},
                options);
  model.backward(run, {{network.reward, rewards}});
  return {run.gradient().begin(), run.gradient().end()};
}

}  // namespace

void add_torch_peers(const std::string& prefix, const Layers& layers, int batch, const Images& images,
                     TorchPeers peers) {
  for (const auto& [method, name, is_hnca] : methods) {
    if (method == TorchMethod::literal && peers == TorchPeers::scalable) continue;
    add_benchmark(prefix + "/torch/" + name, {{"samples", batch}}, [=, &images, method = method] {
      return std::make_unique<TorchTrainer>(layers, batch, method, images);
    });
  }
}

void check_torch(const Images& images) {
  const Layers layers{images.features, 48, 32, 10};
  const Network network = layered(layers);
  Model model = compile(network.graph, {.seed = 3, .instructions = widest_set()});
  // Weights of a trained network are larger than initial ones.
  for (float& parameter : model.parameters()) parameter *= 3;
  std::vector<float> rewards;
  for (int i = 0; i < 40; ++i) rewards.push_back(0.1F * static_cast<float>(i % 7));

  for (const auto& [method, name, is_hnca] : methods) {
    if (!is_hnca) continue;
    const TorchProbe probe = probe_torch(layers, model.parameters(), method, images, rewards, 5);
    const std::vector<float> expected = gradient_of(network, model, probe, images, rewards);
    for (const NodeId node : network.graph.nodes()) {
      if (network.graph.is_input(node)) continue;
      const ParameterRange range = model.range(node);
      float largest = 0, error = 0;
      for (std::size_t i = range.first; i < range.first + range.count; ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        error = std::max(error, std::abs(expected[i] - probe.gradient[i]));
      }
      if (!(error <= 1e-4F * largest))
        throw std::runtime_error(fmt::format("libtorch's {} form differs from Hindsight at node {}: {} of {}",
                                             name, node.index, error, largest));
    }
  }
}

}  // namespace hindsight::benchmarks
