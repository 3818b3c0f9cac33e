// Products with features that are often zero, and are then left out, or that are read as bits, against the
// plain mathematics in double.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/custom_nodes.hpp"
#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// Two inputs, x(300) and z(9), and the nodes that a test adds.
struct Net {
  static constexpr int features = 300;  // more than one stretch
  static constexpr int samples = 130;   // chunks of 64, 64 and 2

  Graph graph;
  NodeId x = graph.input("x", features), z = graph.input("z", 9);
  std::vector<NodeId> nodes = {};
  RewardId reward = {};

  void finish() { reward = graph.reward("r", {nodes.back()}); }
};

/// The same net with kernels of our own, and by the plain mathematics.
struct Pair {
  Net fast, plain;
};

template <class Build>
Pair pair_of(const Build& build) {
  Pair pair;
  build(pair.fast, [](auto node) { return AnyNode(node); });
  build(pair.plain, [](auto node) { return AnyNode(Plain<decltype(node)>{node}); });
  pair.fast.finish();
  pair.plain.finish();
  return pair;
}

using Fill = std::function<double(Dice&, int sample, int feature)>;

double any(Dice& dice) { return dice.between(0.1, 1) * (dice.chance(0.5) ? 1 : -1); }

/// What x is; features from 280 on are always zero.
struct InputPattern {
  const char* name;
  Fill value;
};

const std::vector<InputPattern> patterns{
    {"nothing is zero", [](Dice& dice, int, int) { return any(dice); }},
    {"one in five is not zero", [](Dice& dice, int, int) { return dice.chance(0.2) ? any(dice) : 0; }},
    {"everything is zero", [](Dice&, int, int) { return 0.0; }},
    {"everything is minus zero", [](Dice&, int, int) { return -0.0; }},
    {"every third sample is zero", [](Dice& dice, int i, int) { return i % 3 == 0 ? 0 : any(dice); }},
    {"only one sample is not zero", [](Dice& dice, int i, int) { return i == 70 ? any(dice) : 0; }},
    {"only the last sample is not zero", [](Dice& dice, int i, int) { return i == 129 ? any(dice) : 0; }},
    {"only one feature of one sample is not zero",
     [](Dice& dice, int i, int f) { return i == 17 && f == 257 ? any(dice) : 0; }},
    {"the second chunk is zero", [](Dice& dice, int i, int) { return i / 64 == 1 ? 0 : any(dice); }},
    {"the first chunk is zero", [](Dice& dice, int i, int) { return i < 64 ? 0 : any(dice); }},
    {"a feature is zero in some chunks and not in others",
     [](Dice& dice, int i, int f) { return (i / 64 + f) % 3 == 0 ? any(dice) : 0; }},
    {"a feature is zero in some groups of sixteen samples and not in others",
     [](Dice& dice, int i, int f) { return (i / 16 + f) % 2 == 0 ? any(dice) : 0; }},
    {"numbers are as small as there are", [](Dice&, int i, int f) { return (i + f) % 2 == 0 ? 1.5e-45 : 0; }},
};

template <class S, class View, class Other>
double difference(const View& a, const Other& b) {
  double largest = 0;
  for (std::ptrdiff_t i = 0; i < a.rows(); ++i)
    for (std::ptrdiff_t j = 0; j < a.cols(); ++j) {
      const auto left = static_cast<double>(a(i, j)), right = static_cast<double>(b(i, j));
      largest = larger_error(largest, std::abs(left - right) / std::max(1.0, std::abs(right)));
    }
  return largest;
}

template <class S>
struct Batch {
  std::vector<S> x, z, rewards;

  Batch(Dice& dice, const Fill& fill) {
    for (int i = 0; i < Net::samples; ++i)
      for (int f = 0; f < Net::features; ++f) x.push_back(static_cast<S>(f < 280 ? fill(dice, i, f) : 0.0));
    for (int i = 0; i < Net::samples * 9; ++i) z.push_back(static_cast<S>(i % 9 == 4 ? 0 : any(dice)));
    for (int i = 0; i < Net::samples; ++i) rewards.push_back(static_cast<S>(dice.between(-1, 1)));
  }

  template <class T, class Model, class Run>
  void run(const Model& model, const Net& net, Run& run, const ForwardOptions& options) const {
    const std::vector<T> xs(x.begin(), x.end()), zs(z.begin(), z.end()), all(rewards.begin(), rewards.end());
    model.forward(run,
                  {{net.x, {xs.data(), Net::samples, Net::features}}, {net.z, {zs.data(), Net::samples, 9}}},
                  options);
    model.backward(run, {{net.reward, all}});
  }
};

/// Every instruction set against the plain mathematics, on the outcomes that the first set drew; then
/// also(run).
template <class S, class Also>
void compare(const Pair& pair, const Batch<S>& batch, double tolerance, const Also& also) {
  const auto reference = compile<double>(pair.plain.graph, {.seed = 31});
  auto expected = reference.workspace(Net::samples);
  bool judged = false;
  for (const InstructionSet set : available_instruction_sets()) {
    const auto model = compile<S>(pair.fast.graph, {.seed = 31, .instructions = set});
    auto run = model.workspace(Net::samples);
    ForwardOptions same;
    if (judged)
      for (const NodeId node : pair.fast.nodes) same.clamp.push_back({node, expected.outcomes(node)});
    batch.template run<S>(model, pair.fast, run, same);
    if (!judged) {
      for (const NodeId node : pair.fast.nodes) same.clamp.push_back({node, run.outcomes(node)});
      batch.template run<double>(reference, pair.plain, expected, same);
      judged = true;
    }
    INFO("by ", std::string(name(set)));
    for (const NodeId node : pair.fast.nodes) {
      INFO("node ", pair.fast.graph.name(node));
      CHECK(difference<S>(run.log_probs(node), expected.log_probs(node)) < tolerance);
      CHECK(difference<S>(run.evidence(node), expected.evidence(node)) < tolerance);
    }
    for (const std::string& path : model.parameter_names()) {
      INFO("gradient of ", path);
      CHECK(difference<S>(run.gradient(path), expected.gradient(path)) < tolerance);
    }
    also(run);
  }
}

/// Sums of 300 terms of order 1: float strays by about 300·6e-8, at most.
template <class S>
constexpr double tolerance = std::is_same_v<S, float> ? 2e-5 : 1e-12;

}  // namespace

// Seeds 31 and 32.
//  x ─┬→ a(13) ───────→ c(5) ─→ y(3 classes) ─→ r
//  z ─┴→ b(3), sparse ─↗
TEST_CASE_TEMPLATE("inputs of which many are zero give what the plain mathematics gives", S, float, double) {
  const Pair pair = pair_of([](Net& net, const auto& as) {
    auto& [graph, x, z, nodes, reward] = net;
    nodes.push_back(graph.add("a", as(Bernoulli{.units = 13}), {x, z}));
    nodes.push_back(graph.add("b", as(Bernoulli{.units = 3, .values = zero_one}),
                              {Edge{x, Pattern::random(0.3, 4)}, Edge{z}}));
    nodes.push_back(graph.add("c", as(Bernoulli{.units = 5}), {nodes[0], nodes[1]}));
    nodes.push_back(graph.add("y", as(Categorical{.classes = 3}), {nodes[2], z}));
  });
  for (const InputPattern& pattern : patterns) {
    INFO(std::string(pattern.name));
    Dice dice(32);
    compare(pair, Batch<S>(dice, pattern.value), tolerance<S>, [](const auto& run) {
      const auto gradient = run.gradient("a/weights/x");
      int not_zero = 0;
      for (std::ptrdiff_t unit = 0; unit < 13; ++unit) {
        for (std::ptrdiff_t f = 280; f < Net::features; ++f) not_zero += gradient(unit, f) == S(0) ? 0 : 1;
        not_zero += run.gradient("a/weights/z")(unit, 4) == S(0) ? 0 : 1;
      }
      CHECK(not_zero == 0);
    });
  }
}

// Seeds 31 and 33. A unit of c reads more than 256 others, in stretches of one encoding each; k has three
// outcomes and cannot be read as bits.
//  x ─→ a(300) and b(40, zero-one) and k(5 units of 3 classes) ─ sparse ─→ c(7) and d(4, reads a densely) ─→
//  y
TEST_CASE_TEMPLATE("outcomes that are read as bits give what the plain mathematics gives", S, float, double) {
  const Pair pair = pair_of([](Net& net, const auto& as) {
    auto& [graph, x, z, nodes, reward] = net;
    nodes.push_back(graph.add("a", as(Bernoulli{.units = 300}), {x}));
    nodes.push_back(graph.add("b", as(Bernoulli{.units = 40, .values = zero_one}), {z}));
    nodes.push_back(graph.add("k", as(Categorical{.units = 5, .classes = 3}), {z}));
    const auto sparse = [&added = net.nodes](int i, double density) {
      return Edge{added[static_cast<std::size_t>(i)], Pattern::random(density, 5)};
    };
    nodes.push_back(
        graph.add("c", as(Bernoulli{.units = 7}), {sparse(0, 0.95), sparse(1, 0.5), sparse(2, 0.5)}));
    nodes.push_back(graph.add("d", as(Bernoulli{.units = 4}), {nodes[0], sparse(1, 0.5)}));
    nodes.push_back(graph.add("y", as(Categorical{.classes = 3}),
                              {sparse(3, 0.7), nodes[4], sparse(1, 0.2), sparse(0, 0.02)}));
  });
  Dice dice(33);
  compare(pair, Batch<S>(dice, [](Dice& d, int, int) { return d.between(-0.1, 0.1); }), tolerance<S>,
          [](const auto&) {});
}

// What one pass has left behind must not show in the next: the arena and the scratch are used again.
//  x(300) ─→ a(6) ─→ r
TEST_CASE_TEMPLATE("zeros after other numbers give the bits of zeros alone", S, float, double) {
  Graph graph;
  const NodeId x = graph.input("x", Net::features), a = graph.add("a", Bernoulli{.units = 6}, {x});
  const RewardId r = graph.reward("r", {a});
  const std::vector<S> full(static_cast<std::size_t>(Net::features * Net::samples), S(3)),
      zeros(static_cast<std::size_t>(Net::features * 65), S(0)), rewards(Net::samples, S(1)), fewer(65, S(1));
  for (const InstructionSet set : available_instruction_sets()) {
    const auto model = compile<S>(graph, {.seed = 2, .instructions = set});
    auto used = model.workspace(Net::samples), fresh = model.workspace(Net::samples);
    model.forward(used, {{x, {full.data(), Net::samples, Net::features}}});
    model.backward(used, {{r, rewards}});
    used.seek({});
    for (auto* run : {&used, &fresh}) {
      model.forward(*run, {{x, {zeros.data(), 65, Net::features}}});
      model.backward(*run, {{r, fewer}});
    }
    INFO("by ", std::string(name(set)));
    CHECK(std::equal(used.gradient().begin(), used.gradient().end(), fresh.gradient().begin()));
    CHECK(difference<S>(used.log_probs(a), fresh.log_probs(a)) == 0);
    CHECK(used.log_probs(a)(64, 11) == doctest::Approx(std::log(0.5)).epsilon(1e-6));
  }
}
