#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <hindsight/graph/access.hpp>

#include "support/covariance.hpp"
#include "support/random_graphs.hpp"
#include "support/share.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

bool read_by_any_reward(const Graph& graph, NodeId node) {
  for (const RewardId reward : graph.rewards()) {
    const auto reads = graph.reads(reward);
    if (std::find(reads.begin(), reads.end(), node) != reads.end()) return true;
  }
  return false;
}

/// The nodes that only their children connect to rewards: there HNCA is admissible for every reward.
std::vector<NodeId> indirect_nodes(const RandomGraph& random) {
  std::vector<NodeId> nodes;
  for (const NodeId node : random.stochastic)
    if (!read_by_any_reward(random.graph, node)) nodes.push_back(node);
  return nodes;
}

template <class S = double>
BasicModel<S> model_with(const RandomGraph& random, const std::vector<NodeId>& nodes,
                         const EstimatorChoice& choice, std::uint64_t seed,
                         std::optional<InstructionSet> instructions = {}) {
  Graph graph = random.graph;
  for (const NodeId node : random.stochastic) graph.estimate_with(node, Reinforce{});
  for (const NodeId node : nodes) graph.estimate_with(node, choice);
  return random_model<S>(graph, seed, 1.5, instructions);
}

}  // namespace

TEST_CASE("per unit the covariance of HNCA is never above that of REINFORCE on any DAG and any node kind") {
  int units = 0, violating = 0, strictly_better = 0;
  for (std::uint64_t seed = 0; seed < share(150U); ++seed) {
    const RandomGraph random = random_graph(seed, {.nodes = 4, .most_states = 128});
    const std::vector<NodeId> nodes = indirect_nodes(random);
    const BasicModel<double> hnca = model_with(random, nodes, Hnca{.assumption = Assumption::relaxed}, seed);
    const BasicModel<double> reinforce = model_with(random, {}, Auto{}, seed);
    const Eigen::MatrixXd by_hnca = exact_covariance(random, hnca),
                          by_reinforce = exact_covariance(random, reinforce);
    const Violations violations = find_violations(random.graph);
    for (const NodeId node : nodes)
      for (int unit = 0; unit < random.graph.shape(node).units; ++unit) {
        const Gain gain(by_reinforce, by_hnca, unit_parameters(internal::Access::plan(hnca), node, unit));
        CAPTURE(seed);
        CAPTURE(random.graph.name(node));
        CHECK(gain.least >= -1e-12);
        if (gain.largest > 1e-6) ++strictly_better;
        if (violations.contains(node)) ++violating;
        ++units;
      }
  }
  CHECK(units >= share(250));
  CHECK(violating >= share(20));
  CHECK(strictly_better >= share(150));
}

// In float a covariance of order 1 is rounded by about 1e-6.
TEST_CASE_TEMPLATE("the covariance of HNCA is never above that of REINFORCE by any instruction set", S, float,
                   double) {
  for (const InstructionSet set : available_instruction_sets()) {
    int units = 0;
    for (std::uint64_t seed = 2000; seed < 2000 + share(12U); ++seed) {
      const RandomGraph random = random_graph(seed, {.nodes = 4, .most_states = 128});
      const std::vector<NodeId> nodes = indirect_nodes(random);
      const auto hnca = model_with<S>(random, nodes, Hnca{.assumption = Assumption::relaxed}, seed, set),
                 reinforce = model_with<S>(random, {}, Auto{}, seed, set);
      const auto layout = model_with(random, nodes, Hnca{.assumption = Assumption::relaxed}, seed);
      const Eigen::MatrixXd by_hnca = exact_covariance(random, hnca),
                            by_reinforce = exact_covariance(random, reinforce);
      for (const NodeId node : nodes)
        for (int unit = 0; unit < random.graph.shape(node).units; ++unit) {
          const Gain gain(by_reinforce, by_hnca, unit_parameters(internal::Access::plan(layout), node, unit));
          CAPTURE(seed);
          CAPTURE(std::string(name(set)));
          CHECK(gain.least >= (std::is_same_v<S, float> ? -1e-5 : -1e-12));
          ++units;
        }
    }
    CHECK(units >= share(15));
  }
}

TEST_CASE(
    "given the parents the action values of HNCA vary no more than those of REINFORCE, outcome by outcome") {
  struct Moments {
    double probability = 0, hnca = 0, hnca_squared = 0, reinforce = 0, reinforce_squared = 0;
  };
  int compared = 0;
  for (std::uint64_t seed = 1000; seed < 1000 + share(150U); ++seed) {
    const RandomGraph random = random_graph(seed, {.nodes = 4, .most_states = 128});
    const std::vector<NodeId> nodes = indirect_nodes(random);
    const BasicModel<double> model = model_with(random, nodes, Hnca{.assumption = Assumption::relaxed}, seed);
    // Per (node, unit, outcome, reward) and per joint outcome of everything the node reads.
    using Key = std::vector<int>;
    std::map<Key, Moments> moments;
    std::vector<std::vector<double>> storage;
    for_each_state<double>(model, random.bind(storage), random.rewards, [&](const State<double>& state) {
      for (const NodeId node : nodes) {
        Key parents;
        for (const Graph::Parent& parent : random.graph.parents(node))
          if (!random.graph.is_input(parent.node))
            for (int j = 0; j < random.graph.shape(parent.node).units; ++j)
              parents.push_back((*state.outcome)(parent.node, j));
        const auto log_probs = state.run->log_probs(node), evidence = state.run->evidence(node);
        const int outcome_count = random.graph.shape(node).outcome_count();
        for (int unit = 0; unit < random.graph.shape(node).units; ++unit) {
          double normaliser = 0;
          for (int k = 0; k < outcome_count; ++k)
            normaliser +=
                std::exp(log_probs(0, unit * outcome_count + k) + evidence(0, unit * outcome_count + k));
          for (int k = 0; k < outcome_count; ++k)
            for (std::size_t r = 0; r < random.rewards.size(); ++r) {
              if (!upstream_of(random.graph, random.rewards[r].reward)[static_cast<std::size_t>(node.index)])
                continue;
              const double reward = random.rewards[r].value(*state.outcome);
              const double hnca = std::exp(evidence(0, unit * outcome_count + k)) / normaliser * reward;
              const double reinforce = (*state.outcome)(node, unit) == k
                                           ? reward / std::exp(log_probs(0, unit * outcome_count + k))
                                           : 0;
              Key key{node.index, unit, k, static_cast<int>(r), state.outcome->input_row()};
              key.insert(key.end(), parents.begin(), parents.end());
              Moments& sums = moments[key];
              sums.probability += state.probability;
              sums.hnca += state.probability * hnca;
              sums.hnca_squared += state.probability * hnca * hnca;
              sums.reinforce += state.probability * reinforce;
              sums.reinforce_squared += state.probability * reinforce * reinforce;
            }
        }
      }
    });
    for (const auto& [key, sums] : moments) {
      const double p = sums.probability;
      const double hnca = sums.hnca_squared / p - std::pow(sums.hnca / p, 2);
      const double reinforce = sums.reinforce_squared / p - std::pow(sums.reinforce / p, 2);
      CAPTURE(seed);
      // Both estimate the action value itself, so their means agree.
      CHECK(sums.hnca / p == doctest::Approx(sums.reinforce / p).epsilon(1e-9).scale(1));
      CHECK(hnca <= reinforce + 1e-9 * (1 + std::abs(reinforce)));
      ++compared;
    }
  }
  CHECK(compared >= share(500));
}
