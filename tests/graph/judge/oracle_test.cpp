#include <cmath>
#include <span>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"
#include "support/run_source.hpp"

using namespace hindsight;
using namespace hindsight::testing;

TEST_CASE_TEMPLATE("the oracle knows one coin by its closed forms", S, float, double) {
  Graph graph;
  const NodeId coin = graph.add("coin", Bernoulli{}, {});
  const RewardId reward = graph.reward("r", {coin});
  auto model = compile<S>(graph);
  model.parameters("coin/bias")(0) = S(0.8);
  const double p = 1 / (1 + std::exp(-0.8)), q = 1 - p;
  const std::vector<RewardFunction> value{
      {reward, [=](const JointOutcome& outcome) { return outcome(coin) == 1 ? 3.0 : -1.0; }}};
  const Enumeration exact = enumerate<S>(model, {}, value);
  CHECK(exact.states == 2);
  CHECK(exact.rewards[0] == doctest::Approx(3 * p - q).epsilon(1e-6));
  CHECK(exact.gradient[0] == doctest::Approx(4 * p * q).epsilon(1e-6));
  CHECK(exact.estimate[0] == doctest::Approx(4 * p * q).epsilon(1e-6));
  // REINFORCE gives q·3 when it falls on 1 and -p·(-1) when on 0.
  const double second = p * 9 * q * q + q * p * p;
  CHECK(exact.variance[0] == doctest::Approx(second - 16 * p * p * q * q).epsilon(1e-5));
}

// Both coins are fair, and the reward is 1 where they agree: each gradient is then ±1/2, the other's with it,
// and otherwise 0.
TEST_CASE_TEMPLATE("the oracle knows the covariance of two coins by its closed form", S, float, double) {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {});
  const RewardId reward = graph.reward("r", {a, b});
  auto model = compile<S>(graph);
  for (S& parameter : model.parameters()) parameter = 0;
  const std::vector<RewardFunction> agree{
      {reward, [=](const JointOutcome& outcome) { return outcome(a) == outcome(b) ? 1.0 : 0.0; }}};
  const Enumeration exact = enumerate<S>(model, {}, agree, {.covariance = true});
  const MatrixView<const double> covariance = exact.covariance_matrix();
  REQUIRE(covariance.rows() == 2);
  REQUIRE(covariance.cols() == 2);
  for (const std::ptrdiff_t row : {0, 1})
    for (const std::ptrdiff_t column : {0, 1})
      CHECK(covariance(row, column) == doctest::Approx(0.125).epsilon(1e-6));
}

TEST_CASE("rows of the inputs are equally likely") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const RewardId reward = graph.reward("r", {x, a});
  auto model = compile<double>(graph);
  model.parameters("a/weights/x")(0) = 1;
  const std::vector<double> rows{-0.5, 2.0, 1.0};
  const std::vector<InputValues<double>> inputs{{x, rows}};
  const std::vector<RewardFunction> value{
      {reward, [&](const JointOutcome& o) { return o(a) * rows[static_cast<std::size_t>(o.input_row())]; }}};
  double expected = 0;
  for (const double row : rows) expected += row / (1 + std::exp(-row)) / 3;
  CHECK(enumerate<double>(model, inputs, value).rewards[0] == doctest::Approx(expected));
}

TEST_CASE("the states the oracle visits are possible and their probabilities sum to one") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const RandomGraph random = random_graph(seed, {.nodes = 4, .rows = seed % 2 == 0, .most_states = 256});
    const auto model = random_model<double>(random.graph, seed);
    std::vector<std::vector<double>> storage;
    double total = 0;
    for_each_state<double>(model, random.bind(storage), random.rewards, [&](const State<double>& state) {
      CHECK(state.probability > 0);
      total += state.probability;
    });
    CHECK(total == doctest::Approx(1).epsilon(1e-12));
  }
}

TEST_CASE("impossible states neither count nor spoil the sums") {
  //  a ─→ b ─→ c, all tables with zeros
  Graph graph;
  const NodeId a = graph.add("a", Table{.rows = {{0.25, 0.75, 0}}}, {});
  const NodeId b = graph.add("b", Table{.rows = {{1, 0}, {0.5, 0.5}, {0, 1}}}, {a});
  const NodeId c = graph.add("c", Table{.rows = {{0, 1}, {0.3, 0.7}}}, {b});
  const RewardId reward = graph.reward("r", {c});
  const auto model = compile<double>(graph);
  const std::vector<RewardFunction> value{
      {reward, [=](const JointOutcome& outcome) { return outcome(c) == 0 ? 1.0 : 0.0; }}};
  int visited = 0;
  for_each_state<double>(model, {}, value, [&](const State<double>&) { ++visited; });
  CHECK(visited == 4);  // of 12: a0b0c1, a1b0c1, a1b1c0, a1b1c1
  const Enumeration exact = enumerate<double>(model, {}, value);
  CHECK(exact.rewards[0] == doctest::Approx(0.75 * 0.5 * 0.3));
  for (std::size_t i = 0; i < exact.gradient.size(); ++i) {
    CHECK(std::isfinite(exact.estimate[i]));
    CHECK(exact.estimate[i] == doctest::Approx(exact.gradient[i]).epsilon(1e-12).scale(1));
  }
  // A zero stays zero with zero gradient.
  CHECK(exact.gradient[2] == 0);
  CHECK(exact.estimate[2] == 0);
}

TEST_CASE("the oracle's variance is the spread of what backward really returns") {
  // 20,000 samples, seed 2: the sample variance of a bounded estimate strays by about its size times
  // sqrt(kurtosis/20,000), well inside the 10 % allowed here.
  RandomGraph random = random_graph(6, {.nodes = 4, .most_states = 256});
  const auto model = random_model<double>(random.graph, 2);
  std::vector<std::vector<double>> storage;
  const auto inputs = random.bind(storage);
  const Enumeration exact = enumerate<double>(model, inputs, random.rewards);
  auto run = model.workspace(1);
  std::vector<double> mean(exact.gradient.size(), 0.0), second(exact.gradient.size(), 0.0);
  constexpr int samples = 20000;
  for (int i = 0; i < samples; ++i) {
    model.forward(run, inputs);
    const RunSource<double> source(run);
    const JointOutcome joint(source, 0);
    std::vector<double> values;
    for (const RewardFunction& reward : random.rewards) values.push_back(reward.value(joint));
    std::vector<RewardValues<double>> rewards;
    for (std::size_t r = 0; r < values.size(); ++r)
      rewards.push_back({random.rewards[r].reward, std::span(&values[r], 1)});
    model.backward(run, rewards);
    for (std::size_t p = 0; p < mean.size(); ++p) {
      mean[p] += run.gradient()[p] / samples;
      second[p] += run.gradient()[p] * run.gradient()[p] / samples;
    }
  }
  for (std::size_t p = 0; p < mean.size(); ++p) {
    CHECK(std::abs(mean[p] - exact.estimate[p]) <= 5 * std::sqrt(exact.variance[p] / samples) + 1e-12);
    CHECK(second[p] - mean[p] * mean[p] == doctest::Approx(exact.variance[p]).epsilon(0.1));
  }
}

// In float, terms of order 1 are rounded by about 1e-7 each.
TEST_CASE_TEMPLATE("the oracle's covariance is the second moment less the square of the mean", S, float,
                   double) {
  const double bound = std::is_same_v<S, float> ? 1e-5 : 1e-12;
  std::size_t off_the_diagonal = 0;
  for (std::uint64_t seed = 500; seed < 530; ++seed) {
    RandomGraph random = random_graph(
        seed, {.nodes = 4, .functions = seed % 3 == 0, .rows = seed % 2 == 0, .most_states = 128});
    choose_estimators(random, seed);
    const auto model = random_model<S>(random.graph, seed);
    std::vector<std::vector<S>> storage;
    const auto inputs = random.bind(storage);
    const Enumeration exact = enumerate<S>(model, inputs, random.rewards, {.covariance = true});
    const std::size_t size = exact.estimate.size();
    std::vector<double> mean(size, 0.0), second(size * size, 0.0);
    for_each_state<S>(model, inputs, random.rewards, [&](const State<S>& state) {
      const std::span<const S> gradient = state.run->gradient();
      for (std::size_t i = 0; i < size; ++i) {
        mean[i] += state.probability * static_cast<double>(gradient[i]);
        for (std::size_t j = 0; j < size; ++j)
          second[i * size + j] +=
              state.probability * static_cast<double>(gradient[i]) * static_cast<double>(gradient[j]);
      }
    });
    REQUIRE(exact.covariance.size() == size * size);
    double largest_error = 0;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        const double moment = second[i * size + j], known = exact.covariance[i * size + j];
        largest_error = larger_error(largest_error,
                                     std::abs(moment - mean[i] * mean[j] - known) / (1 + std::abs(moment)));
        if (i != j && std::abs(known) > 1e-3) ++off_the_diagonal;
      }
    CAPTURE(seed);
    CHECK(largest_error < bound);
  }
  CHECK(off_the_diagonal > 1000);
}

TEST_CASE_TEMPLATE("the diagonal of the oracle's covariance is its variance, bit by bit", S, float, double) {
  for (std::uint64_t seed = 600; seed < 620; ++seed) {
    RandomGraph random = random_graph(seed, {.nodes = 4, .rows = seed % 2 == 0, .most_states = 128});
    choose_baselines(random, seed);
    const auto model = random_model<S>(random.graph, seed);
    std::vector<std::vector<S>> storage;
    const auto inputs = random.bind(storage);
    const Enumeration both = enumerate<S>(model, inputs, random.rewards, {.covariance = true});
    const MatrixView<const double> covariance = both.covariance_matrix();
    std::vector<double> diagonal;
    int asymmetric = 0;
    for (std::ptrdiff_t i = 0; i < covariance.rows(); ++i) {
      diagonal.push_back(covariance(i, i));
      for (std::ptrdiff_t j = 0; j < i; ++j) asymmetric += covariance(i, j) == covariance(j, i) ? 0 : 1;
    }
    CAPTURE(seed);
    CHECK(diagonal == both.variance);
    CHECK(asymmetric == 0);

    const Enumeration variance = enumerate<S>(model, inputs, random.rewards);
    CHECK(variance.variance == both.variance);
    CHECK(variance.covariance.empty());
    CHECK(variance.covariance_matrix().rows() == 0);
    const Enumeration alone =
        enumerate<S>(model, inputs, random.rewards, {.variance = false, .covariance = true});
    CHECK(alone.covariance == both.covariance);
    CHECK(alone.variance.empty());
  }
}
