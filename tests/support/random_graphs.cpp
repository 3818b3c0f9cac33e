#include "support/random_graphs.hpp"

#include <algorithm>
#include <cmath>

#include <hindsight/nodes/linear.hpp>

#include "support/chunk_nodes.hpp"

namespace hindsight::testing {
namespace {

double joint_outcome_count(const Graph& graph, NodeId node) {
  return std::pow(graph.shape(node).outcome_count(), graph.shape(node).units);
}

std::vector<std::vector<double>> random_rows(Dice& dice, std::size_t rows, int outcome_count) {
  std::vector<std::vector<double>> table(rows, std::vector<double>(static_cast<std::size_t>(outcome_count)));
  for (auto& row : table) {
    double total = 0;
    for (double& p : row) total += p = dice.between(0.1, 1);
    for (double& p : row) p /= total;
  }
  return table;
}

/// Each pair with probability one half, and at least one.
Pattern random_pattern(Dice& dice, int parent_units, int child_units) {
  Pattern::Pairs pairs;
  for (int from = 0; from < parent_units; ++from)
    for (int to = 0; to < child_units; ++to)
      if (dice.chance(0.5)) pairs.emplace_back(from, to);
  if (pairs.empty()) pairs.emplace_back(dice.below(parent_units), dice.below(child_units));
  return Pattern::pairs(std::move(pairs));
}

std::vector<Edge> wire(Dice& dice, const Graph& graph, const std::vector<NodeId>& parents, int child_units,
                       bool sparse) {
  std::vector<Edge> edges;
  for (const NodeId parent : parents)
    edges.push_back(sparse && dice.chance(0.4)
                        ? Edge{parent, random_pattern(dice, graph.shape(parent).units, child_units)}
                        : Edge{parent});
  return edges;
}

class Builder {
 public:
  Builder(std::uint64_t seed, const RandomGraphOptions& options)
      : dice_(seed), seed_(seed), options_(options) {}

  RandomGraph build() {
    made_.input_rows = options_.rows ? 2 : 1;
    for (int i = 0; i < 1 + dice_.below(2); ++i) add_input(i);
    layer_ = made_.inputs;
    std::vector<NodeId> next;
    for (int i = 0; i < options_.nodes; ++i) {
      if (options_.functions && dice_.chance(0.5)) next.push_back(add_function(i));
      if (const auto node = add_node(i)) {
        made_.stochastic.push_back(*node);
        next.push_back(*node);
      }
      if (next.size() >= 2) layer_ = std::exchange(next, {});
    }
    for (int i = 0; i < 1 + dice_.below(3); ++i) add_reward(i);
    return std::move(made_);
  }

 private:
  void add_input(int number) {
    const int units = 1 + dice_.below(3);
    made_.inputs.push_back(made_.graph.input("x" + std::to_string(number), units));
    std::vector<double>& values = made_.input_values.emplace_back();
    for (int i = 0; i < units * made_.input_rows; ++i) values.push_back(dice_.between(-1.5, 1.5));
  }

  std::vector<NodeId> pick_parents() {
    std::vector<NodeId> candidates = layer_;
    if (options_.wiring == Wiring::any) {
      candidates = made_.inputs;
      candidates.insert(candidates.end(), made_.stochastic.begin(), made_.stochastic.end());
      candidates.insert(candidates.end(), made_.functions.begin(), made_.functions.end());
    }
    std::vector<NodeId> parents;
    for (const NodeId candidate : candidates)
      if (dice_.chance(options_.wiring == Wiring::any ? 0.55 : 0.8)) parents.push_back(candidate);
    if (parents.empty() && dice_.chance(0.9)) parents.push_back(candidates.back());
    return parents;
  }

  std::optional<NodeId> add_node(int number) {
    Graph& graph = made_.graph;
    const std::string name = "n" + std::to_string(number);
    const std::vector<NodeId> parents = pick_parents();
    const int kind = options_.custom ? dice_.below(4) : dice_.below(2);
    if (kind == 2) {
      std::vector<NodeId> discrete;
      double rows = 1;
      for (const NodeId parent : parents)
        if (graph.is_stochastic(parent) && rows * joint_outcome_count(graph, parent) <= 64) {
          discrete.push_back(parent);
          rows *= joint_outcome_count(graph, parent);
        }
      const int outcome_count = 2 + dice_.below(3);
      if (!spend(outcome_count)) return std::nullopt;
      return graph.add(name, Table{.rows = random_rows(dice_, static_cast<std::size_t>(rows), outcome_count)},
                       {discrete.begin(), discrete.end()});
    }
    if (kind == 3) {
      if (!spend(SineVote::outcome_count)) return std::nullopt;
      // By turns for one sample and for chunks; the dice fall as if there were one form.
      return graph.add(name, graph.node_count() % 2 ? AnyNode(SineVote{}) : AnyNode(ChunkSineVote{}),
                       {parents.begin(), parents.end()});
    }
    if (kind == 1) {
      const int classes = 2 + dice_.below(4), units = 1 + dice_.below(2);
      if (!spend(std::pow(classes, units))) return std::nullopt;
      return graph.add(name, Categorical{.units = units, .classes = classes},
                       wire(dice_, graph, parents, units, options_.sparse));
    }
    const int units = 1 + dice_.below(3);
    const std::array values{minus_plus_one, zero_one, TwoValues{0.7, -0.4}};
    if (!spend(std::pow(2, units))) return std::nullopt;
    return graph.add(name,
                     Bernoulli{.units = units, .values = values[static_cast<std::size_t>(dice_.below(3))]},
                     wire(dice_, graph, parents, units, options_.sparse));
  }

  NodeId add_function(int number) {
    Graph& graph = made_.graph;
    const std::string name = "f" + std::to_string(number);
    const std::vector<NodeId> parents = pick_parents();
    const int kind = dice_.below(5), units = 1 + dice_.below(3);
    if (kind == 4) {
      made_.functions.push_back(
          graph.add(name, graph.node_count() % 2 ? AnyNode(SquareSums{}) : AnyNode(ChunkSquareSums{}),
                    {parents.begin(), parents.end()}));
    } else {
      const std::array<AnyNode, 4> kinds{Tanh{units}, Relu{units}, Sigmoid{units}, Identity{units}};
      made_.functions.push_back(graph.add(name, kinds[static_cast<std::size_t>(kind)],
                                          wire(dice_, graph, parents, units, options_.sparse)));
    }
    return made_.functions.back();
  }

  bool spend(double factor) {
    if (states_ * factor * made_.input_rows > options_.most_states) return false;
    states_ *= factor;
    return true;
  }

  void add_reward(int number) {
    std::vector<NodeId> reads{made_.stochastic.back()};
    if (number > 0 || dice_.chance(0.3))
      reads.push_back(
          made_.stochastic[static_cast<std::size_t>(dice_.below(static_cast<int>(made_.stochastic.size())))]);
    if (number > 0) reads.erase(reads.begin());
    std::vector<std::pair<NodeId, int>> units;
    for (const NodeId node : reads) units.emplace_back(node, made_.graph.shape(node).units);
    const KnownReward value = [units, number, seed = seed_](const JointOutcome& outcome) {
      std::uint32_t state = 0;
      for (const auto& [node, count] : units)
        for (int unit = 0; unit < count; ++unit)
          state = state * 7 + static_cast<std::uint32_t>(outcome(node, unit));
      const auto words = philox(seed, {99, static_cast<std::uint32_t>(number), state,
                                       static_cast<std::uint32_t>(outcome.input_row())});
      return 4 * to_uniform<double>(words[0]) - 1.5;
    };
    const std::string name = "r" + std::to_string(number);
    if (options_.known && dice_.chance(0.6))
      add_known(name, std::move(reads), value);
    else
      made_.rewards.push_back({made_.graph.reward(name, reads), value});
  }

  /// Sometimes of an input as well, and of a deterministic node, which has no parameters: they would want a
  /// slope.
  void add_known(const std::string& name, std::vector<NodeId> reads, const KnownReward& value) {
    std::vector<NodeId> valued;
    if (dice_.chance(0.5)) {
      std::vector<Edge> parents;
      for (const NodeId node : made_.stochastic)
        if (dice_.chance(0.5)) parents.emplace_back(node);
      valued.push_back(made_.graph.add(name + "_value", FeatureProduct{}, parents));
    }
    if (dice_.chance(0.5)) valued.push_back(made_.inputs.front());
    reads.insert(reads.end(), valued.begin(), valued.end());
    made_.graph.reward(name, reads, [valued, value](const JointOutcome& outcome) {
      double sum = value(outcome);
      for (const NodeId node : valued) sum += std::sin(3 * outcome.value(node));
      return sum;
    });
  }

  Dice dice_;
  std::uint64_t seed_;
  RandomGraphOptions options_;
  RandomGraph made_;
  std::vector<NodeId> layer_;
  double states_ = 1;
};

}  // namespace

RandomGraph random_graph(std::uint64_t seed, const RandomGraphOptions& options) {
  return Builder(seed, options).build();
}

void choose_estimators(RandomGraph& random, std::uint64_t seed) {
  Dice dice(seed);
  const Report report = validate(random.graph);
  const std::array<AnyEstimator, 5> known{Hnca{}, Reinforce{}, Hnca{.assumption = Assumption::relaxed},
                                          Hnca{.steps = 2}, HindsightCredit{}};
  for (const NodeId node : random.stochastic)
    for (const RewardId reward : random.graph.rewards())
      for (const CreditVerdict& credit : report.credits) {
        if (credit.node != random.graph.name(node) || credit.reward != random.graph.name(reward)) continue;
        std::vector<AnyEstimator> admissible;
        for (const AnyEstimator& estimator : known)
          for (const Opinion& opinion : credit.opinions)
            if (opinion.estimator == estimator.name() && opinion.verdict.admissible &&
                opinion.verdict.unbiased)
              admissible.push_back(estimator);
        const int choice = dice.below(static_cast<int>(admissible.size()) + 1);
        if (choice < static_cast<int>(admissible.size()))  // otherwise Auto
          random.graph.estimate_with(node, reward, admissible[static_cast<std::size_t>(choice)]);
      }
}

void choose_baselines(RandomGraph& random, std::uint64_t seed) {
  Dice dice(seed + 17);
  const auto any = [&]() -> BaselineChoice {
    const int kind = dice.below(4);
    if (kind == 0) return NoBaseline{};
    if (kind == 1) return RunningMean{};
    if (kind == 2) return RunningMean{.decay = 0.5};
    return LinearCritic{};
  };
  for (const RewardId reward : random.graph.rewards()) {
    if (dice.chance(0.5)) random.graph.baseline(reward, any());
    for (const NodeId node : random.stochastic)
      if (dice.chance(0.3)) random.graph.baseline(node, reward, any());
  }
  for (const NodeId node : random.stochastic)
    if (dice.chance(0.3)) random.graph.baseline(node, any());
}

std::vector<std::size_t> unit_parameters(const internal::Plan<double>& plan, NodeId node, int unit) {
  const Placement& at = plan.layout.placement(node);
  std::vector<std::size_t> indices;
  if (plan.schedule.nodes[internal::index(node)]->shape(at.parent_shapes()).parameters.back().name ==
      "bias") {
    const internal::LinearLayout layout(at);
    for (int logit = 0; logit < at.shape.logits; ++logit) {
      for (const internal::WeightRun& run : layout.runs(unit))
        for (std::size_t i = 0;
             i < static_cast<std::size_t>(run.units * at.parents[run.parent].from->width()); ++i)
          indices.push_back(at.first_parameter + run.parameter +
                            static_cast<std::size_t>(logit) * run.logit_stride + i);
      indices.push_back(at.first_parameter + layout.bias(unit) + static_cast<std::size_t>(logit));
    }
    return indices;
  }
  // The other kinds of the random graphs have one unit each.
  for (std::size_t i = 0; i < at.shape.parameter_count; ++i) indices.push_back(at.first_parameter + i);
  return indices;
}

}  // namespace hindsight::testing
