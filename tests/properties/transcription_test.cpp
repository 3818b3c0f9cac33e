#include <cmath>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

#include "support/random_graphs.hpp"
#include "support/share.hpp"
#include "support/transcription.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// One network twice: as the paper's neurons and as a graph, with the same parameters.
struct Twins {
  std::vector<PaperNeuron> paper;
  Graph graph;
  NodeId input;
  std::vector<NodeId> nodes;
  RewardId reward;
};

Twins random_twins(std::uint64_t seed, int hidden, int inputs) {
  Dice dice(seed);
  Twins twins;
  twins.input = twins.graph.input("x", inputs);
  for (int n = 0; n <= hidden; ++n) {
    const bool output = n == hidden;
    PaperNeuron neuron{.output = output};
    std::vector<Edge> edges;
    if (dice.chance(0.7) || n == 0) {
      for (int i = 0; i < inputs; ++i) neuron.inputs.push_back(i);
      edges.emplace_back(twins.input);
    }
    for (int p = 0; p < n; ++p)
      if (dice.chance(0.5) || (output && p == n - 1)) {
        neuron.parents.push_back(p);
        edges.emplace_back(twins.nodes[static_cast<std::size_t>(p)]);
      }
    const int logits = output ? 3 : 1;
    for (int k = 0; k < logits; ++k) {
      std::vector<double>& row = neuron.theta.emplace_back();
      for (std::size_t i = 0; i < neuron.inputs.size() + neuron.parents.size(); ++i)
        row.push_back(dice.between(-2, 2));
      neuron.bias.push_back(dice.between(-1, 1));
    }
    if (dice.chance(0.5)) neuron.low = -1;  // zero-one or minus-plus-one
    const std::string name = "n" + std::to_string(n);
    twins.nodes.push_back(output
                              ? twins.graph.add(name, Categorical{.classes = 3}, edges)
                              : twins.graph.add(name, Bernoulli{.values = {neuron.low, neuron.high}}, edges));
    twins.paper.push_back(std::move(neuron));
  }
  twins.reward = twins.graph.reward("r", {twins.nodes.back()});
  for (int n = 0; n < hidden; ++n)
    twins.graph.estimate_with(twins.nodes[static_cast<std::size_t>(n)],
                              Hnca{.assumption = Assumption::relaxed});
  return twins;
}

/// Weights of a logit's row lie edge by edge: inputs, then one weight per parent.
template <class S>
void copy_parameters(const Twins& twins, BasicModel<S>& model) {
  for (std::size_t n = 0; n < twins.paper.size(); ++n) {
    const PaperNeuron& neuron = twins.paper[n];
    const std::string name = "n" + std::to_string(n);
    for (std::size_t k = 0; k < neuron.bias.size(); ++k) {
      const auto row = static_cast<std::ptrdiff_t>(k);
      model.parameters(name + "/bias")(row) = static_cast<S>(neuron.bias[k]);
      for (std::size_t i = 0; i < neuron.inputs.size(); ++i)
        model.parameters(name + "/weights/x")(row, static_cast<std::ptrdiff_t>(i)) =
            static_cast<S>(neuron.theta[k][i]);
      for (std::size_t p = 0; p < neuron.parents.size(); ++p)
        model.parameters(name + "/weights/n" + std::to_string(neuron.parents[p]))(row) =
            static_cast<S>(neuron.theta[k][neuron.inputs.size() + p]);
    }
  }
}

/// Ten samples of a random network; returns how many numbers were compared.
template <class S>
int compare_with_paper(std::uint64_t seed, InstructionSet set) {
  constexpr int inputs = 3;
  constexpr double tolerance = std::is_same_v<S, float> ? 2e-5 : 1e-12;
  int compared = 0;
  const Twins twins = random_twins(seed, 2 + static_cast<int>(seed % 5), inputs);
  BasicModel<S> model = compile<S>(twins.graph, {.seed = seed, .instructions = set});
  copy_parameters(twins, model);
  auto run = model.workspace(1);
  Dice dice(seed + 7);
  for (int sample = 0; sample < 10; ++sample) {
    std::vector<double> x;
    for (int i = 0; i < inputs; ++i) x.push_back(dice.between(-1, 1));
    const std::vector<S> given(x.begin(), x.end());
    model.forward(run, {{twins.input, one_sample(given)}});
    const double reward = dice.between(-1, 2);
    const std::vector<S> rewards{static_cast<S>(reward)};
    model.backward(run, {{twins.reward, rewards}});
    std::vector<int> outcomes;
    for (const NodeId node : twins.nodes) outcomes.push_back(run.outcomes(node)(0));
    const std::vector<PaperGradient> paper = paper_updates(twins.paper, x, outcomes, reward);
    CAPTURE(seed);
    CAPTURE(std::string(name(set)));
    for (std::size_t n = 0; n < paper.size(); ++n) {
      // A neuron that nothing downstream listens to is not credited at all.
      if (!upstream_of(twins.graph, twins.reward)[static_cast<std::size_t>(twins.nodes[n].index)]) continue;
      const std::string node = "n" + std::to_string(n);
      for (std::size_t k = 0; k < paper[n].bias.size(); ++k) {
        const auto row = static_cast<std::ptrdiff_t>(k);
        const auto same = [&](S ours, double theirs) {
          ++compared;
          return std::abs(static_cast<double>(ours) - theirs) <= tolerance * (1 + std::abs(theirs));
        };
        CHECK(same(run.gradient(node + "/bias")(row), paper[n].bias[k]));
        for (std::size_t i = 0; i < twins.paper[n].inputs.size(); ++i)
          CHECK(same(run.gradient(node + "/weights/x")(row, static_cast<std::ptrdiff_t>(i)),
                     paper[n].theta[k][i]));
        for (std::size_t p = 0; p < twins.paper[n].parents.size(); ++p)
          CHECK(same(run.gradient(node + "/weights/n" + std::to_string(twins.paper[n].parents[p]))(row),
                     paper[n].theta[k][twins.paper[n].inputs.size() + p]));
      }
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("forward and backward equal the paper's algorithms, sample by sample, on random DAGs") {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < share(100U); ++seed)
    compared += compare_with_paper<double>(seed, available_instruction_sets().back());
  CHECK(compared > share(10000));
}

TEST_CASE_TEMPLATE("forward and backward equal the paper's algorithms by every instruction set", S, float,
                   double) {
  for (const InstructionSet set : available_instruction_sets()) {
    int compared = 0;
    for (std::uint64_t seed = 200; seed < 200 + share(20U); ++seed)
      compared += compare_with_paper<S>(seed, set);
    CHECK(compared > share(2000));
  }
}
