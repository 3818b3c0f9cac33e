// What straight-through is in the mean: exact where the expected reward is linear in the features, and biased
// elsewhere by what a formula says. Judged by enumeration.
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/graph/access.hpp>

#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// A node whose probability, not its logit, is linear in what it reads: P(1) = 1/2 + bias + Σ weight·feature.
/// For small parameters only.
struct LinearChance {
  static constexpr std::string_view kind = "LinearChance";

  Shape shape(std::span<const ParentShape> parents) const {
    std::size_t features = 0;
    for (const ParentShape& parent : parents) features += parent.features();
    return {.encoding = scalar_encoding({0.7, -0.4}), .parameters = {{"weights", features + 1}}};
  }
  template <class S>
  static S chance(std::span<const S> theta, const Reading<S>& reading) {
    S sum = S(0.5) + theta[0];
    for (std::size_t f = 0; f < reading.features.size(); ++f) sum += theta[f + 1] * reading.features[f];
    return sum;
  }
  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    const S p = chance(theta, reading);
    out[0] = std::log1p(-p);
    out[1] = std::log(p);
  }
  template <class S>
  static S delta(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit) {
    const S p = chance(theta, reading);
    return credit[1] / p - credit[0] / (1 - p);
  }
  template <class S>
  void accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                  std::span<S> out) const {
    out[0] += delta(theta, reading, credit);
    for (std::size_t f = 0; f < reading.features.size(); ++f)
      out[f + 1] += delta(theta, reading, credit) * reading.features[f];
  }
  template <class S>
  void backpropagate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                     std::span<S> out) const {
    for (std::size_t f = 0; f < reading.features.size(); ++f)
      out[f] += delta(theta, reading, credit) * theta[f + 1];
  }
};
static_assert(Node<LinearChance> && BackpropagatingNode<LinearChance>);

}  // namespace

// With E of the reward linear in the features of each node, its derivative is the same wherever it is taken,
// and a slope times a gap is the difference that an outcome makes.
//  x ─→ a(2) ─→ b ─→ c ─→ r      a, k and b go straight through; slopes reach a and k by the credit of b
//  └──→ k(3) ──↗
TEST_CASE_TEMPLATE("through probabilities it is exact where chances are linear, also in a chain", S, float,
                   double) {
  for (const Surrogate through : {Surrogate::probabilities, Surrogate::identity}) {
    Graph graph;
    const NodeId x = graph.input("x", 1);
    const NodeId a = graph.add("a", Bernoulli{.units = 2}, {x});
    const NodeId k = graph.add("k", Categorical{.classes = 3}, {x});
    const NodeId b = graph.add("b", LinearChance{}, {a, k});
    const NodeId c = graph.add("c", LinearChance{}, {b});
    const RewardId r = graph.reward("r", {c});
    for (const NodeId node : {a, k, b}) graph.estimate_with(node, StraightThrough{through});
    auto model = random_model<S>(graph, 5, 1);
    Dice dice(6);
    for (const char* path : {"b/weights", "c/weights"})
      for (int i = 0; i < static_cast<int>(model.range(path).count); ++i)
        model.parameters(path)(i) = static_cast<S>(dice.between(-0.12, 0.12));
    const std::vector<S> value{S(0.6)};
    const std::vector<InputValues<S>> inputs{{x, {value.data(), 1, 1}}};
    const std::vector<RewardFunction> rewards{
        {r, [=](const JointOutcome& outcome) { return outcome(c) == 1 ? 1.7 : -0.4; }}};
    const Enumeration exact = enumerate<S>(model, inputs, rewards, {.variance = false});
    const double error = largest_difference(exact.gradient, exact.estimate);
    if (through == Surrogate::probabilities)
      CHECK(error < (std::is_same_v<S, float> ? 1e-6 : 1e-14));
    else
      CHECK(error > 1e-4);
    double most = 0;
    for (const double derivative : exact.gradient) most = std::max(most, std::abs(derivative));
    CHECK(most > 1e-2);
  }
}

//  a ─→ b ─→ r      two children with linear chances: F is linear in what they read if the reward adds over
//  them, and └──→ c ──↗       not if it multiplies
TEST_CASE("with two children it is exact if the reward adds over them, and biased if it multiplies") {
  for (const bool multiplies : {false, true}) {
    Graph graph;
    const NodeId a = graph.add("a", Bernoulli{}, {});
    const NodeId b = graph.add("b", LinearChance{}, {a}), c = graph.add("c", LinearChance{}, {a});
    const RewardId r = graph.reward("r", {b, c});
    graph.estimate_with(a, StraightThrough{});
    auto model = compile<double>(graph);
    model.parameters("a/bias")(0) = 0.8;
    for (const auto& [path, slope] : {std::pair{"b/weights", 0.3}, std::pair{"c/weights", 0.2}}) {
      model.parameters(path)(0) = 0.1;
      model.parameters(path)(1) = slope;
    }
    const std::vector<RewardFunction> rewards{
        {r, [=](const JointOutcome& at) { return multiplies ? at(b) * at(c) : at(b) + 2.0 * at(c); }}};
    const Enumeration exact = enumerate<double>(model, {}, rewards, {.variance = false});
    // P(1) of the children is 0.6 + 0.3·x and 0.6 + 0.2·x, x = ±1.
    const double p = 1 / (1 + std::exp(-0.8));
    const auto slope_of_product = [](double x) { return 0.3 * (0.6 + 0.2 * x) + 0.2 * (0.6 + 0.3 * x); };
    const double gradient = multiplies ? 0.9 * 0.8 - 0.3 * 0.4 : 2 * 0.3 + 2 * 2 * 0.2;
    const double slopes =
        multiplies ? p * slope_of_product(1) + (1 - p) * slope_of_product(-1) : 0.3 + 2 * 0.2;
    const std::size_t bias = model.range("a/bias").first;
    CHECK(exact.gradient[bias] == doctest::Approx(p * (1 - p) * gradient).epsilon(1e-12));
    CHECK(exact.estimate[bias] == doctest::Approx(p * (1 - p) * 2 * slopes).epsilon(1e-12));
    CHECK((std::abs(exact.estimate[bias] - exact.gradient[bias]) > 1e-2) == multiplies);
  }
}

//  a ─→ c ─→ r      linear logits: F(x) = E of r given the feature x of a is a sigmoid, and not linear
TEST_CASE("between units with linear logits its bias is what calculus says") {
  for (const TwoValues values : {minus_plus_one, zero_one, TwoValues{0.7, -0.4}})
    for (const Surrogate through : {Surrogate::probabilities, Surrogate::identity, Surrogate::clipped}) {
      Graph graph;
      const NodeId a = graph.add("a", Bernoulli{.values = values}, {}), c = graph.add("c", Bernoulli{}, {a});
      const RewardId r = graph.reward("r", {c});
      graph.estimate_with(a, StraightThrough{through});
      auto model = compile<double>(graph);
      model.parameters("a/bias")(0) = 0.8;
      model.parameters("c/weights/a")(0, 0) = 1.9;
      model.parameters("c/bias")(0) = -0.6;
      const std::vector<RewardFunction> rewards{
          {r, [=](const JointOutcome& outcome) { return outcome(c) == 1 ? 2.5 : -0.5; }}};
      const Enumeration exact = enumerate<double>(model, {}, rewards, {.variance = false});

      const auto sigmoid = [](double logit) { return 1 / (1 + std::exp(-logit)); };
      const double low = values.zero, high = values.one, p = sigmoid(0.8), gap = high - low;
      const auto expected_reward = [&](double x) { return -0.5 + 3 * sigmoid(1.9 * x - 0.6); };
      const auto slope = [&](double x) {
        const double q = sigmoid(1.9 * x - 0.6);
        return 3 * q * (1 - q) * 1.9;
      };
      const double gradient = p * (1 - p) * (expected_reward(high) - expected_reward(low));
      const double factor = through == Surrogate::probabilities ? p * (1 - p) * gap : gap / 2;
      const double estimate = factor * (p * slope(high) + (1 - p) * slope(low));
      const std::size_t bias = model.range("a/bias").first;
      CHECK(exact.gradient[bias] == doctest::Approx(gradient).epsilon(1e-12));
      CHECK(exact.estimate[bias] == doctest::Approx(estimate).epsilon(1e-12));
      CHECK(std::abs(estimate - gradient) > 1e-3);
      // What does not go straight through is as right as ever.
      for (const char* path : {"c/weights/a", "c/bias"})
        CHECK(exact.estimate[model.range(path).first] ==
              doctest::Approx(exact.gradient[model.range(path).first]).epsilon(1e-12));
    }
}

TEST_CASE("straight-through leaves the other nodes unbiased and the oracle's gradient alone") {
  int straight = 0;
  double largest_bias = 0;
  for (std::uint64_t seed = 8000; seed < 8100; ++seed) {
    RandomGraph random =
        random_graph(seed, {.functions = seed % 2 == 0, .known = seed % 3 == 0, .most_states = 512});
    choose_estimators(random, seed);
    const auto judge = [&](const Graph& graph) {
      std::vector<std::vector<double>> storage;
      return enumerate<double>(random_model<double>(graph, seed), random.bind(storage), random.rewards,
                               {.variance = false});
    };
    Graph mixed = random.graph;
    const Report report = validate(mixed);
    std::vector<NodeId> others;
    for (const NodeId node : random.stochastic) {
      const bool every_other = node.index % 2 == 0;
      const bool admits =
          std::all_of(report.credits.begin(), report.credits.end(), [&](const CreditVerdict& credit) {
            return credit.node != mixed.name(node) ||
                   std::any_of(credit.opinions.begin(), credit.opinions.end(), [](const Opinion& opinion) {
                     return opinion.estimator == "straight-through" && opinion.verdict.admissible;
                   });
          });
      if (!every_other || !admits) {
        others.push_back(node);
        continue;
      }
      for (const RewardId reward : mixed.rewards()) mixed.estimate_with(node, reward, StraightThrough{});
      ++straight;
    }
    const Enumeration before = judge(random.graph), after = judge(mixed);
    const auto model = compile<double>(mixed);
    CAPTURE(seed);
    CHECK(largest_difference(before.gradient, after.gradient) < 1e-13);
    for (const NodeId node : others) {
      const Placement& at =
          internal::Access::plan(model).layout.placements[static_cast<std::size_t>(node.index)];
      const std::size_t count = at.shape.parameter_count;
      CHECK(largest_difference(std::span(after.gradient).subspan(at.first_parameter, count),
                               std::span(after.estimate).subspan(at.first_parameter, count)) < 1e-10);
    }
    largest_bias = std::max(largest_bias, largest_difference(after.gradient, after.estimate));
  }
  CHECK(straight > 50);
  CHECK(largest_bias > 0.01);
}
