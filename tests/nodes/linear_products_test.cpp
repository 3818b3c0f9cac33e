// Products with features that are often zero, and are then left out, against the plain mathematics in double.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/custom_nodes.hpp"
#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

constexpr int features = 300, samples = 130;  // more than one stretch of features; chunks of 64, 64 and 2

/// x ─┬→ a(13) ───────→ c(5) ─→ y(3 classes) ─→ r
/// z ─┴→ b(3), sparse ─↗
struct Net {
  template <class Wrap>
  explicit Net(const Wrap& wrap) {
    x = graph.input("x", features);
    z = graph.input("z", 9);
    nodes.push_back(graph.add("a", wrap(Bernoulli{.units = 13}), {x, z}));
    nodes.push_back(graph.add("b", wrap(Bernoulli{.units = 3, .values = zero_one}),
                              {Edge{x, Pattern::random(0.3, 4)}, Edge{z}}));
    nodes.push_back(graph.add("c", wrap(Bernoulli{.units = 5}), {nodes[0], nodes[1]}));
    nodes.push_back(graph.add("y", wrap(Categorical{.classes = 3}), {nodes[2], z}));
    reward = graph.reward("r", {nodes.back()});
  }
  Graph graph;
  NodeId x, z;
  std::vector<NodeId> nodes;
  RewardId reward;
};

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
      largest = std::max(largest, std::abs(left - right) / std::max(1.0, std::abs(right)));
    }
  return largest;
}

}  // namespace

// Seed 31; sums of 300 terms of order 1: float strays by about 300·6e-8, at most.
TEST_CASE_TEMPLATE("inputs of which many are zero give what the plain mathematics gives", S, float, double) {
  constexpr double tolerance = std::is_same_v<S, float> ? 2e-5 : 1e-12;
  const Net net([](auto node) { return AnyNode(node); });
  const Net plain([](auto node) { return AnyNode(Plain<decltype(node)>{node}); });
  const auto reference = compile<double>(plain.graph, {.seed = 31});
  auto expected = reference.workspace(samples);
  for (const InputPattern& pattern : patterns) {
    Dice dice(32);
    std::vector<S> x, z, rewards;
    for (int i = 0; i < samples; ++i)
      for (int f = 0; f < features; ++f)
        x.push_back(static_cast<S>(f < 280 ? pattern.value(dice, i, f) : 0.0));
    for (int i = 0; i < samples * 9; ++i) z.push_back(static_cast<S>(i % 9 == 4 ? 0 : any(dice)));
    for (int i = 0; i < samples; ++i) rewards.push_back(static_cast<S>(dice.between(-1, 1)));
    const std::vector<double> wide_x(x.begin(), x.end()), wide_z(z.begin(), z.end()),
        wide_rewards(rewards.begin(), rewards.end());
    bool judged = false;
    for (const InstructionSet set : available_instruction_sets()) {
      const auto model = compile<S>(net.graph, {.seed = 31, .instructions = set});
      auto run = model.workspace(samples);
      ForwardOptions same;
      if (judged)
        for (const NodeId node : net.nodes) same.clamp.push_back({node, expected.outcomes(node)});
      model.forward(run, {{net.x, {x.data(), samples, features}}, {net.z, {z.data(), samples, 9}}}, same);
      model.backward(run, {{net.reward, rewards}});
      if (!judged) {
        for (const NodeId node : net.nodes) same.clamp.push_back({node, run.outcomes(node)});
        reference.forward(
            expected, {{plain.x, {wide_x.data(), samples, features}}, {plain.z, {wide_z.data(), samples, 9}}},
            same);
        reference.backward(expected, {{plain.reward, wide_rewards}});
        judged = true;
      }
      INFO(std::string(pattern.name), ", by ", std::string(name(set)));
      for (const NodeId node : net.nodes) {
        INFO("node ", net.graph.name(node));
        CHECK(difference<S>(run.log_probs(node), expected.log_probs(node)) < tolerance);
        CHECK(difference<S>(run.evidence(node), expected.evidence(node)) < tolerance);
      }
      for (const std::string& path : model.parameter_names()) {
        INFO("gradient of ", path);
        CHECK(difference<S>(run.gradient(path), expected.gradient(path)) < tolerance);
      }
      const auto gradient = run.gradient("a/weights/x");
      int not_zero = 0;
      for (std::ptrdiff_t unit = 0; unit < 13; ++unit) {
        for (std::ptrdiff_t f = 280; f < features; ++f) not_zero += gradient(unit, f) == S(0) ? 0 : 1;
        not_zero += run.gradient("a/weights/z")(unit, 4) == S(0) ? 0 : 1;
      }
      CHECK(not_zero == 0);
    }
  }
}

// What one pass has left behind must not show in the next: the arena and the scratch are used again.
//  x(300) ─→ a(6) ─→ r
TEST_CASE_TEMPLATE("zeros after other numbers give the bits of zeros alone", S, float, double) {
  Graph graph;
  const NodeId x = graph.input("x", features), a = graph.add("a", Bernoulli{.units = 6}, {x});
  const RewardId r = graph.reward("r", {a});
  const std::vector<S> full(static_cast<std::size_t>(features * samples), S(3)),
      zeros(static_cast<std::size_t>(features * 65), S(0)), rewards(samples, S(1)), fewer(65, S(1));
  for (const InstructionSet set : available_instruction_sets()) {
    const auto model = compile<S>(graph, {.seed = 2, .instructions = set});
    auto used = model.workspace(samples), fresh = model.workspace(samples);
    model.forward(used, {{x, {full.data(), samples, features}}});
    model.backward(used, {{r, rewards}});
    used.seek({});
    for (auto* run : {&used, &fresh}) {
      model.forward(*run, {{x, {zeros.data(), 65, features}}});
      model.backward(*run, {{r, fewer}});
    }
    INFO("by ", std::string(name(set)));
    CHECK(std::equal(used.gradient().begin(), used.gradient().end(), fresh.gradient().begin()));
    CHECK(difference<S>(used.log_probs(a), fresh.log_probs(a)) == 0);
    CHECK(used.log_probs(a)(64, 11) == doctest::Approx(std::log(0.5)).epsilon(1e-6));
  }
}
