#include <hindsight/nodes/activations.hpp>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/custom_nodes.hpp"
#include "support/finite_differences.hpp"
#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"
#include "support/shapes.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// Σ slopes·value of a function at some parameters and features.
template <Function F>
double objective(const F& function, const std::vector<double>& theta, const MadeUpReading& reading,
                 const std::vector<double>& slopes) {
  std::vector<double> out(slopes.size());
  function.evaluate(std::span<const double>(theta),
                    Reading<double>{reading.features, reading.outcomes, reading.parents},
                    std::span<double>(out));
  double sum = 0;
  for (std::size_t unit = 0; unit < out.size(); ++unit) sum += slopes[unit] * out[unit];
  return sum;
}

/// The largest difference between a derivative, which was added to 0.5, and central differences of the value.
/// The step of 1e-5 leaves an error of about 1e-10.
template <class Value>
double derivative_error(std::vector<double>& at, const std::vector<double>& derivative, const Value& value) {
  constexpr double step = 1e-5;
  double largest = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double kept = at[i];
    at[i] = kept + step;
    const double above = value();
    at[i] = kept - step;
    const double below = value();
    at[i] = kept;
    largest = larger_error(largest, std::abs(derivative[i] - 0.5 - (above - below) / (2 * step)));
  }
  return largest;
}

/// Of backpropagate, by parameters and by features.
template <Function F>
double backpropagation_error(const F& function, std::span<const ParentShape> parents, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  double largest = 0;
  for (int trial = 0; trial < 20; ++trial) {
    MadeUpReading reading(parents, rng);
    const Shape shape = function.shape(parents);
    std::vector<double> theta(shape.parameter_count()), slopes(static_cast<std::size_t>(shape.units));
    for (double& parameter : theta) parameter = uniform(rng);
    for (double& slope : slopes) slope = uniform(rng);
    std::vector<double> by_parameter(theta.size(), 0.5), by_feature(reading.features.size(), 0.5);
    function.backpropagate(
        std::span<const double>(theta), Reading<double>{reading.features, reading.outcomes, reading.parents},
        std::span<const double>(slopes), std::span<double>(by_parameter), std::span<double>(by_feature));
    const auto value = [&] { return objective(function, theta, reading, slopes); };
    largest = larger_error(largest, derivative_error(theta, by_parameter, value));
    largest = larger_error(largest, derivative_error(reading.features, by_feature, value));
  }
  return largest;
}

/// The same for a stochastic node's slopes by its features.
template <Node N>
double slope_error(const N& node, std::span<const ParentShape> parents, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  double largest = 0;
  for (int trial = 0; trial < 20; ++trial) {
    MadeUpReading reading(parents, rng);
    std::vector<double> theta(node.shape(parents).parameter_count());
    for (double& parameter : theta) parameter = uniform(rng);
    std::vector<double> credit = log_probs_of<double>(node, theta, reading);
    for (double& one : credit) one = uniform(rng);
    std::vector<double> slopes(reading.features.size(), 0.5);
    node.backpropagate(std::span<const double>(theta),
                       Reading<double>{reading.features, reading.outcomes, reading.parents},
                       std::span<const double>(credit), std::span<double>(slopes));
    const auto value = [&] {
      const std::vector<double> log_probs = log_probs_of<double>(node, theta, reading);
      double sum = 0;
      for (std::size_t k = 0; k < credit.size(); ++k) sum += credit[k] * log_probs[k];
      return sum;
    };
    largest = larger_error(largest, derivative_error(reading.features, slopes, value));
  }
  return largest;
}

const Connectivity some = wired(3, {{0, 2}, {1}});
const std::vector<ParentShape> mixed_parents{{.name = "x", .units = 3, .connectivity = &some},
                                             {.name = "k", .units = 2, .encoding = one_hot_encoding(3)},
                                             {.name = "z", .units = 2}};

}  // namespace

TEST_CASE("activations are what their names say") {
  const std::vector<ParentShape> one{{.name = "x", .units = 1}};
  const auto value = [&](const auto& node, double x) {
    const std::vector<double> theta{2, 0.5}, features{x};
    const std::vector<Outcome> outcomes{-1};
    double out = 0;
    node.evaluate(std::span<const double>(theta), Reading<double>{features, outcomes, one},
                  std::span(&out, 1));
    return out;
  };
  for (const double x : {-20.0, -1.0, -0.25, 0.0, 0.3, 4.0}) {
    const double sum = 2 * x + 0.5;
    CHECK(value(Tanh{}, x) == doctest::Approx(std::tanh(sum)));
    CHECK(value(Relu{}, x) == std::max(sum, 0.0));
    CHECK(value(Sigmoid{}, x) == doctest::Approx(1 / (1 + std::exp(-sum))));
    CHECK(value(Identity{}, x) == sum);
  }
  CHECK(AnyNode(Relu{}).kind() == "ReLU");
  CHECK(AnyNode(Tanh{}).is_deterministic());
  CHECK_FALSE(AnyNode(Bernoulli{}).is_deterministic());
  CHECK_FALSE(AnyNode(Table{.rows = {{0.5, 0.5}}}).can_backpropagate());
}

TEST_CASE("backpropagation through a function is the derivative of its value") {
  CHECK(backpropagation_error(Tanh{2}, mixed_parents, 1) < 1e-8);
  CHECK(backpropagation_error(Sigmoid{2}, mixed_parents, 2) < 1e-8);
  CHECK(backpropagation_error(Identity{2}, mixed_parents, 3) < 1e-8);
  // No seed puts a sum within 1e-5 of the kink.
  CHECK(backpropagation_error(Relu{2}, mixed_parents, 4) < 1e-8);
  CHECK(backpropagation_error(SquareSums{}, mixed_parents, 5) < 1e-8);
}

TEST_CASE("the slopes that stochastic nodes pass back are the derivatives of their log-probabilities") {
  CHECK(slope_error(Bernoulli{.units = 2}, mixed_parents, 6) < 1e-8);
  CHECK(slope_error(Categorical{.units = 2, .classes = 3}, mixed_parents, 7) < 1e-8);
  CHECK(slope_error(SineVote{}, mixed_parents, 8) < 1e-8);
}

// Seed 41; 130 samples are chunks of 64, 64 and 2. Sums of some 40 terms of order 1: float strays by 40·6e-8,
// and each layer adds to it.
//  x(40) ─→ t(20) ─→ u(9, ReLU), sparse ─→ y(5 classes) ─→ r
//  └──────→ s(3, sigmoid) ──────↗ ↘ b(4) ──↗
TEST_CASE_TEMPLATE("kernels of deterministic units give what the plain mathematics gives", S, float, double) {
  constexpr int samples = 130;
  constexpr double tolerance = std::is_same_v<S, float> ? 5e-5 : 1e-12;
  struct Net {
    Graph graph;
    NodeId x, t, s, u, b, y;
    RewardId r;
  };
  const auto build = [](const auto& as) {
    Net net;
    Graph& graph = net.graph;
    net.x = graph.input("x", 40);
    net.t = graph.add("t", as(Tanh{20}), {net.x});
    net.s = graph.add("s", as(Sigmoid{3}), {net.x});
    net.u = graph.add("u", as(Relu{9}), {Edge{net.t, Pattern::random(0.4, 2)}, Edge{net.s}});
    net.b = graph.add("b", as(Bernoulli{.units = 4}), {net.u});
    net.y =
        graph.add("y", as(Categorical{.classes = 5}), {net.u, net.b, Edge{net.s, Pattern::random(0.7, 3)}});
    net.r = graph.reward("r", {net.y});
    return net;
  };
  const Net fast = build([](auto node) { return AnyNode(node); }),
            plain = build([](auto node) { return AnyNode(Plain<decltype(node)>{node}); });
  Dice dice(41);
  std::vector<S> x, rewards;
  for (int i = 0; i < samples * 40; ++i) x.push_back(static_cast<S>(dice.between(-1, 1)));
  for (int i = 0; i < samples; ++i) rewards.push_back(static_cast<S>(dice.between(-1, 1)));
  const std::vector<double> wide_x(x.begin(), x.end()), wide_rewards(rewards.begin(), rewards.end());
  const auto reference = compile<double>(plain.graph, {.seed = 41});
  auto expected = reference.workspace(samples);
  for (const InstructionSet set : available_instruction_sets())
    for (const int threads : {1, 3}) {
      const auto model = compile<S>(fast.graph, {.seed = 41, .instructions = set});
      auto run = model.workspace(samples, {.threads = threads});
      model.forward(run, {{fast.x, {x.data(), samples, 40}}});
      model.backward(run, {{fast.r, rewards}});
      reference.forward(expected, {{plain.x, {wide_x.data(), samples, 40}}},
                        {.clamp = {{plain.b, run.outcomes(fast.b)}, {plain.y, run.outcomes(fast.y)}}});
      reference.backward(expected, {{plain.r, wide_rewards}});
      INFO("by ", std::string(name(set)), " on ", threads, " threads");
      const auto difference = [](const auto& a, const auto& b) {
        double largest = 0;
        for (std::ptrdiff_t i = 0; i < a.rows(); ++i)
          for (std::ptrdiff_t j = 0; j < a.cols(); ++j)
            largest = larger_error(largest, std::abs(static_cast<double>(a(i, j)) - b(i, j)));
        return largest;
      };
      for (const NodeId node : {fast.t, fast.s, fast.u})
        CHECK(difference(run.values(node), expected.values(node)) < tolerance);
      for (const std::string& path : model.parameter_names()) {
        INFO("gradient of ", path);
        CHECK(difference(run.gradient(path), expected.gradient(path)) < tolerance);
      }
    }
}
