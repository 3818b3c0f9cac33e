// Hindsight over several steps against its definition, by summing over every joint outcome.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <Eigen/Dense>

#include <hindsight/graph/access.hpp>
#include <hindsight/graph/plan.hpp>
#include <hindsight/hindsight.hpp>

#include "support/covariance.hpp"
#include "support/hindsight_reference.hpp"
#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"
#include "support/share.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

Hnca steps_of(int steps) { return {.assumption = Assumption::relaxed, .steps = steps}; }

struct Pair {
  NodeId node;
  RewardId reward;
};

/// Nodes and rewards between which hindsight is admissible.
std::vector<Pair> indirect_pairs(const RandomGraph& random) {
  const HindsightReference reference(random.graph);
  std::vector<Pair> pairs;
  for (const NodeId node : random.stochastic)
    for (const RewardFunction& reward : random.rewards)
      if (reference.is_upstream(node, reward.reward) && !reference.reads(reward.reward, node))
        pairs.push_back({node, reward.reward});
  return pairs;
}

Graph with_reinforce(const RandomGraph& random) {
  Graph graph = random.graph;
  for (const NodeId node : random.stochastic) graph.estimate_with(node, Reinforce{});
  return graph;
}

Graph with(const RandomGraph& random, const std::vector<Pair>& pairs, const EstimatorChoice& choice) {
  Graph graph = with_reinforce(random);
  for (const Pair& pair : pairs) graph.estimate_with(pair.node, pair.reward, choice);
  return graph;
}

RandomGraphOptions options(std::uint64_t seed, double most_states) {
  return {.wiring = seed % 4 == 0 ? Wiring::layered : Wiring::any,
          .nodes = 3 + static_cast<int>(seed % 4),
          .functions = seed % 3 == 0,
          .rows = seed % 5 == 0,
          .most_states = most_states};
}

}  // namespace

TEST_CASE("the posterior of several steps is that of everything but the unit and what is summed out") {
  int compared = 0, violating = 0, beyond_one = 0, behind_functions = 0;
  for (std::uint64_t seed = 0; seed < share(160U); ++seed) {
    const RandomGraph random = random_graph(seed, options(seed, 128));
    const HindsightReference reference(random.graph);
    const Violations violations = find_violations(random.graph);
    for (const Pair& pair : indirect_pairs(random))
      for (const int steps : {1, 2, 3, 4, every_step}) {
        const auto model = random_model<double>(
            with(random, {pair},
                 steps == every_step ? EstimatorChoice(HindsightCredit{}) : EstimatorChoice(steps_of(steps))),
            seed);
        const double error = posterior_error(random, model, pair.node, pair.reward, steps);
        CAPTURE(seed);
        CAPTURE(steps);
        CAPTURE(random.graph.name(pair.node));
        CAPTURE(random.graph.name(pair.reward));
        CHECK(error <= 1e-10);
        ++compared;
        if (violations.contains(pair.node)) ++violating;
        if (!reference.summed_out({pair.node, 0}, pair.reward, steps).empty()) ++beyond_one;
        if (internal::Access::plan(model).credit.eliminations.uses_trials()) ++behind_functions;
      }
  }
  CHECK(compared >= share(500));
  CHECK(violating >= share(100));
  CHECK(beyond_one >= share(200));
  CHECK(behind_functions >= share(50));
}

TEST_CASE("hindsight over any number of steps is unbiased on random DAGs") {
  int several = 0;
  for (std::uint64_t seed = 1000; seed < 1000 + share(150U); ++seed) {
    const RandomGraph random = random_graph(seed, options(seed, 1024));
    const std::vector<Pair> pairs = indirect_pairs(random);
    for (const int steps : {1, 2, 3, 4, every_step}) {
      const auto model = random_model<double>(
          with(random, pairs,
               steps == every_step ? EstimatorChoice(HindsightCredit{}) : EstimatorChoice(steps_of(steps))),
          seed);
      std::vector<std::vector<double>> storage;
      const Enumeration exact =
          enumerate<double>(model, random.bind(storage), random.rewards, {.variance = false});
      const double error = largest_difference(exact.gradient, exact.estimate);
      CAPTURE(seed);
      CAPTURE(steps);
      CHECK(error <= 1e-10);
      if (!internal::Access::plan(model).credit.eliminations.empty()) ++several;
    }
  }
  CHECK(several >= share(200));
}

// A known reward may read the node itself; what else it reads is not summed out either.
TEST_CASE("hindsight over any number of steps is unbiased with known rewards") {
  int direct = 0;
  for (std::uint64_t seed = 1500; seed < 1500 + share(80U); ++seed) {
    RandomGraphOptions with_known = options(seed, 256);
    with_known.known = true;
    const RandomGraph random = random_graph(seed, with_known);
    const HindsightReference reference(random.graph);
    std::vector<Pair> pairs;
    for (const NodeId node : random.stochastic)
      for (const RewardId reward : random.graph.rewards())
        if (reference.is_upstream(node, reward) &&
            (random.graph.is_known(reward) || !reference.reads(reward, node)))
          pairs.push_back({node, reward});
    for (const int steps : {2, 3, every_step}) {
      const auto model = random_model<double>(
          with(random, pairs,
               steps == every_step ? EstimatorChoice(HindsightCredit{}) : EstimatorChoice(steps_of(steps))),
          seed);
      std::vector<std::vector<double>> storage;
      const Enumeration exact =
          enumerate<double>(model, random.bind(storage), random.rewards, {.variance = false});
      CAPTURE(seed);
      CAPTURE(steps);
      CHECK(largest_difference(exact.gradient, exact.estimate) <= 1e-10);
      for (const internal::CreditRun& credit : internal::Access::plan(model).credit.runs)
        if (credit.reward_rerun && credit.eliminated_row) ++direct;
    }
  }
  CHECK(direct >= share(20));
}

TEST_CASE("hindsight over several steps is unbiased in float up to rounding, by every instruction set") {
  for (const InstructionSet set : available_instruction_sets())
    for (std::uint64_t seed = 2000; seed < 2000 + share(30U); ++seed) {
      const RandomGraph random = random_graph(seed, options(seed, 256));
      for (const EstimatorChoice& choice :
           {EstimatorChoice(steps_of(2)), EstimatorChoice(HindsightCredit{})}) {
        const auto model = random_model<float>(with(random, indirect_pairs(random), choice), seed, 1.5, set);
        std::vector<std::vector<float>> storage;
        const Enumeration exact =
            enumerate<float>(model, random.bind(storage), random.rewards, {.variance = false});
        CAPTURE(seed);
        CAPTURE(std::string(name(set)));
        CHECK(largest_difference(exact.gradient, exact.estimate) <= 2e-5);
      }
    }
}

// Of each reward alone: several may cancel over fewer steps and not over more
// (tests/properties/claims_test.cpp).
TEST_CASE("per unit and reward the covariance never rises with the number of steps") {
  int compared = 0, strictly_better = 0;
  for (std::uint64_t seed = 3000; seed < 3000 + share(60U); ++seed) {
    RandomGraphOptions small = options(seed, 96);
    small.nodes = 4 + static_cast<int>(seed % 2);
    const RandomGraph random = random_graph(seed, small);
    const std::vector<Pair> pairs = indirect_pairs(random);
    std::vector<BasicModel<double>> models;
    models.push_back(random_model<double>(with_reinforce(random), seed));
    for (const int steps : {1, 2, 3})
      models.push_back(random_model<double>(with(random, pairs, steps_of(steps)), seed));
    models.push_back(random_model<double>(with(random, pairs, HindsightCredit{}), seed));
    const HindsightReference reference(random.graph);
    for (std::size_t r = 0; r < random.rewards.size(); ++r) {
      RandomGraph alone = random;
      for (std::size_t other = 0; other < alone.rewards.size(); ++other)
        if (other != r) alone.rewards[other].value = [](const JointOutcome&) { return 0.0; };
      std::vector<Eigen::MatrixXd> covariances;
      for (const BasicModel<double>& model : models) covariances.push_back(exact_covariance(alone, model));
      for (const NodeId node : random.stochastic) {
        // A node that the reward reads directly has no order: that credit does not change with the steps.
        if (reference.reads(random.rewards[r].reward, node)) continue;
        for (int unit = 0; unit < random.graph.shape(node).units; ++unit) {
          const auto parameters = unit_parameters(internal::Access::plan(models[0]), node, unit);
          for (std::size_t m = 1; m < models.size(); ++m) {
            const Gain gain(covariances[m - 1], covariances[m], parameters);
            CAPTURE(seed);
            CAPTURE(m);
            CAPTURE(random.graph.name(node));
            CHECK(gain.least >= -1e-12);
            if (m > 1 && gain.largest > 1e-6) ++strictly_better;
            ++compared;
          }
        }
      }
    }
  }
  CHECK(compared >= share(200));
  CHECK(strictly_better >= share(20));
}

TEST_CASE("beyond the last unread descendant more steps change nothing") {
  int compared = 0;
  for (std::uint64_t seed = 4000; seed < 4060; ++seed) {
    const RandomGraph random = random_graph(seed, options(seed, 128));
    const HindsightReference reference(random.graph);
    for (const Pair& pair : indirect_pairs(random)) {
      int depth = 0;
      for (int unit = 0; unit < random.graph.shape(pair.node).units; ++unit)
        depth = std::max(depth, reference.depth({pair.node, unit}, pair.reward));
      if (depth == 0) continue;
      const auto deep = random_model<double>(with(random, {pair}, steps_of(depth + 1)), seed),
                 all = random_model<double>(with(random, {pair}, HindsightCredit{}), seed);
      std::vector<std::vector<double>> gradients, storage;
      const auto keep = [&](const State<double>& state) {
        gradients.emplace_back(state.run->gradient().begin(), state.run->gradient().end());
      };
      for_each_state<double>(deep, random.bind(storage), random.rewards, keep);
      std::size_t next = 0;
      for_each_state<double>(all, random.bind(storage), random.rewards, [&](const State<double>& state) {
        CHECK(largest_difference(gradients[next++], state.run->gradient()) == 0);
      });
      ++compared;
    }
  }
  CHECK(compared >= 40);
}
