#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <hindsight/graph/plan.hpp>
#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

/// Reproducible choices; philox again, so that a failing seed fails everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  double uniform() {
    const std::uint32_t number = count_++;
    return to_uniform<double>(philox(seed_, {0, 0, 0, number / 4})[number % 4]);
  }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  int below(int bound) { return static_cast<int>(uniform() * bound); }
  bool chance(double probability) { return uniform() < probability; }

 private:
  std::uint64_t seed_;
  std::uint32_t count_ = 0;
};

enum class Wiring {
  layered,  ///< parents only from the layer before
  any,      ///< parents from anywhere before: skip edges, routes of unequal length
};

struct RandomGraphOptions {
  Wiring wiring = Wiring::any;
  int nodes = 5;
  bool sparse = true;      ///< patterns on some edges
  bool custom = true;      ///< some SineVote, ChunkSineVote and Table nodes
  bool functions = false;  ///< some deterministic nodes, between any others
  bool rows = false;       ///< two rows of inputs instead of one
  bool known = false;      ///< some rewards are known
  double most_states = 4096;
};

/// A graph with everything the oracle needs to judge it.
struct RandomGraph {
  Graph graph;
  std::vector<NodeId> inputs, stochastic, functions;
  std::vector<std::vector<double>> input_values;  ///< per input, row after row
  std::vector<RewardFunction> rewards;            ///< those that are black boxes
  int input_rows = 1;

  template <class S>
  std::vector<InputValues<S>> bind(std::vector<std::vector<S>>& storage) const {
    storage.clear();
    std::vector<InputValues<S>> bound;
    for (const auto& values : input_values) storage.emplace_back(values.begin(), values.end());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      bound.push_back(
          {inputs[i], MatrixView<const S>(storage[i].data(), input_rows, graph.shape(inputs[i]).units)});
    return bound;
  }
};

/// Mixed kinds, cardinalities 2 to 5, populations and single units, one to three rewards that read anything,
/// also hidden nodes. The reward functions are arbitrary tables of what the reward reads and of the input
/// row.
RandomGraph random_graph(std::uint64_t seed, const RandomGraphOptions& options = {});

/// Gives every (node, reward) pair an estimator drawn from those the validator calls admissible and unbiased.
void choose_estimators(RandomGraph& random, std::uint64_t seed);

/// Gives some nodes, rewards and pairs of them a baseline that remembers something.
void choose_baselines(RandomGraph& random, std::uint64_t seed);

/// Compiles and replaces the initial parameters by numbers in ±spread: probabilities away from uniform,
/// biases not 0.
template <class S>
BasicModel<S> random_model(const Graph& graph, std::uint64_t seed, double spread = 1.5,
                           std::optional<InstructionSet> instructions = {}) {
  BasicModel<S> model =
      compile<S>(graph, {.seed = seed, .instructions = instructions, .elimination_limit = 1e9});
  Dice dice(seed + 1);
  for (S& parameter : model.parameters()) parameter = static_cast<S>(dice.between(-spread, spread));
  return model;
}

/// How often each kind of node occurs.
using KindCounts = std::map<std::string, int, std::less<>>;
inline void count_kinds(const Graph& graph, KindCounts& counts) {
  for (const NodeId node : graph.nodes()) ++counts[std::string(graph.kind(node))];
}

/// The parameters of the model that belong to one unit of a node.
std::vector<std::size_t> unit_parameters(const internal::Plan<double>& plan, NodeId node, int unit);

}  // namespace hindsight::testing
