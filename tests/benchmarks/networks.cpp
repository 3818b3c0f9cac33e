#include "networks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "instructions.hpp"

namespace hindsight::benchmarks {
namespace {

void finish(Network& network, const Layers& layers, std::vector<Edge> last) {
  network.output = network.graph.add("output", Categorical{.classes = layers.back()}, std::move(last));
  network.reward = network.graph.reward("correct", {network.output});
}

}  // namespace

std::string name_of(const Layers& layers) { return fmt::format("{}", fmt::join(layers, "-")); }

std::size_t edges_of(const Layers& layers) {
  std::size_t edges = 0;
  for (std::size_t i = 1; i < layers.size(); ++i)
    edges += static_cast<std::size_t>(layers[i - 1]) * static_cast<std::size_t>(layers[i]);
  return edges;
}

Network layered(const Layers& layers, Wiring wiring) {
  Network network;
  NodeId last = network.input = network.graph.input("x", layers.front());
  for (std::size_t i = 1; i + 1 < layers.size(); ++i) {
    const Pattern pattern = wiring.density < 1 ? Pattern::random(wiring.density, i) : Pattern::dense();
    last = network.graph.add(fmt::format("h{}", i), Bernoulli{.units = layers[i]}, {Edge{last, pattern}});
    network.graph.estimate_with(last, Hnca{});
  }
  finish(network, layers, {last});
  return network;
}

Network neuron_by_neuron(const Layers& layers) {
  Network network;
  network.input = network.graph.input("x", layers.front());
  std::vector<Edge> last{network.input};
  for (std::size_t i = 1; i + 1 < layers.size(); ++i) {
    std::vector<Edge> units;
    for (int unit = 0; unit < layers[i]; ++unit) {
      units.emplace_back(network.graph.add(fmt::format("h{}_{}", i, unit), Bernoulli{}, last));
      network.graph.estimate_with(units.back().parent, Hnca{});
    }
    last = std::move(units);
  }
  finish(network, layers, last);
  return network;
}

Network with_reinforce(Network network) {
  for (const NodeId node : network.graph.nodes())
    if (!network.graph.is_input(node)) network.graph.estimate_with(node, Reinforce{});
  return network;
}

Graph neurons(Dag dag) {
  const std::vector<int> sinks = dag.sinks();
  Graph graph;
  for (std::size_t i = 0; i < dag.parents.size(); ++i) {
    std::vector<Edge> parents;
    for (const int parent : dag.parents[i]) parents.emplace_back(NodeId{parent});
    dag.parents[i] = {};
    graph.add(fmt::format("n{}", i), Bernoulli{}, std::move(parents));
  }
  std::vector<NodeId> read;
  for (const int sink : sinks) read.push_back({sink});
  graph.reward("reward", std::move(read));
  return graph;
}

Trainer::Trainer(const Network& network, int batch, const Images& images, int threads)
    : images_(images),
      input_(network.input),
      output_(network.output),
      reward_(network.reward),
      batch_(batch),
      model_(compile(network.graph, {.seed = 1, .instructions = widest_set()})),
      run_(model_.workspace(batch, {.threads = threads})),
      rewards_(static_cast<std::size_t>(batch)) {}

void Trainer::step() {
  const int first = cursor_.next(images_, batch_);
  const float* const pixels = images_.pixels.data() + static_cast<std::ptrdiff_t>(first) *
                                                          static_cast<std::ptrdiff_t>(images_.features);
  model_.forward(run_, {{input_, MatrixView<const float>(pixels, batch_, images_.features)}});
  const MatrixView<const Outcome> outcomes = run_.outcomes(output_);
  for (int i = 0; i < batch_; ++i)
    rewards_[static_cast<std::size_t>(i)] =
        outcomes(i) == images_.labels[static_cast<std::size_t>(first + i)] ? 1.0F : 0.0F;
  model_.backward(run_, {{reward_, rewards_}});
  sgd_.step(model_.parameters(), run_.gradient());
}

}  // namespace hindsight::benchmarks
