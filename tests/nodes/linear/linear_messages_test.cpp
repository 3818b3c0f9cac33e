// Messages of linear units against plain mathematics in long double, by every kernel that the machine can
// run. The bound is stated in support/message_reference.hpp. Weights and biases are multiples of 2^-6 or
// 2^-10 so small that sums of them are exact in float, unless a test says otherwise: what is left is the
// messages' own rounding.
#include <hindsight/nodes/linear_messages.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/message_reference.hpp"
#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

struct CheckOptions {
  bool inexact_logits = false;  ///< values or weights are not exact in float
  std::vector<int> batches = {1, 15, 16, 17, 64, 65, 130};
};

/// What |h| edges may have, half of how far apart a parent's candidates put a logit. One of them is picked
/// for each weight, with either sign.
struct Regime {
  const char* name;
  std::vector<double> half_changes;
  bool saturated = false;  ///< some children have logits of ±40 and ±10000 besides
};

const Regime small{"small", {0x1p-10, 0.0625, 0.25}};
const Regime around_one{"around one", {0.5, 1, 1.25}, true};
const std::vector<double> both_sides_of_the_limit{2.5 - 0x1p-6, 2.5, 2.5 + 0x1p-6};
const Regime at_limit{"at the limit of the closed form", both_sides_of_the_limit};
const Regime at_limit_saturated{"at the limit of the closed form, saturated", both_sides_of_the_limit, true};
const Regime beyond_limit{"beyond that limit, saturated", {3, 3.5, 4}, true};
const Regime five{"five", {5, 4.5}, true};
const Regime everything{
    "everything", {0, 0.0625, 0.0625, 0.25, 0.25, 0.5, 0.5, 1, 2, 2.4375, 2.5, 2.5625, 5, 40, 100, 1000}};
const Regime mostly_small{
    "mostly small, saturated", {0.0625, 0.125, 0.125, 0.25, 0.25, 0.25, 0.5, 0.5, 40}, true};
const std::vector<Regime> all_regimes{small,
                                      around_one,
                                      at_limit,
                                      at_limit_saturated,
                                      beyond_limit,
                                      five,
                                      {"forty", {40, 39.5}, true},
                                      {"a hundred", {100, 99}},
                                      {"a thousand", {1000, 999.5}},
                                      everything,
                                      mostly_small};

/// Parents without parents of their own, and children that a reward reads.
struct TwoLayers {
  Graph graph;
  std::vector<NodeId> parents, children;

  NodeId parent(const std::string& name, AnyNode node) {
    parents.push_back(graph.add(name, std::move(node), {}));
    return parents.back();
  }
  void child(const std::string& name, AnyNode node, std::vector<Edge> edges) {
    children.push_back(graph.add(name, std::move(node), std::move(edges)));
  }
  /// `count` nodes of one unit each.
  std::vector<Edge> neurons(const std::string& name, int count, TwoValues values = minus_plus_one) {
    std::vector<Edge> edges;
    for (int i = 0; i < count; ++i)
      edges.emplace_back(parent(name + std::to_string(i), Bernoulli{.values = values}));
    return edges;
  }
};

template <class S>
void set_parameters(BasicModel<S>& model, const TwoLayers& net, const Regime& regime, std::uint64_t seed) {
  Dice dice(seed);
  for (const NodeId child : net.children) {
    const std::string& name = net.graph.name(child);
    for (const Graph::Parent& parent : net.graph.parents(child)) {
      const Encoding& encoding = net.graph.shape(parent.node).encoding;
      // From one candidate to another a one-hot feature changes by 1 and some other by -1.
      const double gap = encoding.is_one_hot() ? 2 : encoding.value(1, 0) - encoding.value(0, 0);
      const ParameterRange range = model.range(name + "/weights/" + net.graph.name(parent.node));
      for (std::size_t i = range.first; i < range.first + range.count; ++i) {
        const double h = regime.half_changes[static_cast<std::size_t>(
            dice.below(static_cast<int>(regime.half_changes.size())))];
        model.parameters()[i] = static_cast<S>((dice.chance(0.5) ? h : -h) * 2 / gap);
      }
    }
    const ParameterRange range = model.range(name + "/bias");
    const std::vector<double> modest{0.5, -1.25, 2, 0, -3}, extreme{40, -40, 10000, -10000};
    for (std::size_t i = range.first; i < range.first + range.count; ++i)
      model.parameters()[i] = static_cast<S>(regime.saturated && dice.chance(0.4)
                                                 ? extreme[static_cast<std::size_t>(dice.below(4))]
                                                 : modest[static_cast<std::size_t>(dice.below(5))]);
  }
}

struct Worst {
  double ratio = 0;  ///< of error and bound
  std::string where = "nowhere";

  template <class Place>
  void see(double at, const Place& place) {
    if (at <= ratio) return;
    ratio = std::isnan(at) ? std::numeric_limits<double>::infinity() : at;
    where = place();
  }
};

template <class S>
Worst compare(const TwoLayers& net, const BasicWorkspace<S>& run, const JointSamples& joint,
              const std::vector<std::vector<ExpectedEvidence>>& expected) {
  constexpr auto epsilon = static_cast<long double>(std::numeric_limits<S>::epsilon());
  Worst worst;
  for (std::size_t n = 0; n < net.parents.size(); ++n) {
    const auto evidence = run.evidence(net.parents[n]);
    const int outcome_count = net.graph.shape(net.parents[n]).outcome_count();
    for (std::ptrdiff_t i = 0; i < run.samples(); ++i)
      for (std::ptrdiff_t j = 0; j < evidence.cols(); ++j) {
        const ExpectedEvidence& right = expected[n][static_cast<std::size_t>(i * evidence.cols() + j)];
        const auto told = static_cast<long double>(evidence(i, j));
        const int unit = static_cast<int>(j) / outcome_count;
        const bool happened =
            joint.outcome(net.graph, net.parents[n], static_cast<int>(i), unit) == j % outcome_count;
        const long double bound = happened ? 0 : epsilon * (right.epsilons + 1);
        const long double error = std::abs(told - right.value);
        worst.see(error == 0 ? 0 : static_cast<double>(error / bound), [&] {
          return fmt::format("{}, unit {}, candidate {}, sample {}: {} instead of {}",
                             net.graph.name(net.parents[n]), unit, j % outcome_count, i, told, right.value);
        });
      }
  }
  return worst;
}

/// Runs the network at these weights by every instruction set and batch size.
template <class S>
void check_messages(TwoLayers& net, const std::vector<Regime>& at, const CheckOptions& options = {}) {
  const int most = options.batches.back();
  const RewardId reward = net.graph.reward("r", net.children);
  for (std::size_t r = 0; r < at.size(); ++r) {
    const JointSamples joint = random_samples(net.graph, most, 100 + r);
    std::vector<std::vector<ExpectedEvidence>> expected;
    for (const InstructionSet set : available_instruction_sets()) {
      auto model = compile<S>(net.graph, {.seed = 1, .instructions = set});
      set_parameters(model, net, at[r], r);
      if (expected.empty())
        for (const NodeId parent : net.parents)
          expected.push_back(expected_evidence(net.graph, model, joint, parent, options.inexact_logits));
      auto run = model.workspace(most);
      for (const int samples : options.batches) {
        const std::vector<S> rewards(static_cast<std::size_t>(samples), S(1));
        model.forward(run, {}, joint.clamp(net.graph, samples));
        model.backward(run, {{reward, rewards}});
        const Worst worst = compare(net, run, joint, expected);
        INFO(std::string(at[r].name), " by ", name(set), ", ", samples, " samples: ", worst.where);
        CHECK(worst.ratio <= 1);
      }
    }
  }
}

}  // namespace

//  a(19) ─→ c(11) ─→ r
TEST_CASE_TEMPLATE("messages from a dense population to a population of binary units are right", S, float,
                   double) {
  TwoLayers net;
  const NodeId a = net.parent("a", Bernoulli{.units = 19});
  net.child("c", Bernoulli{.units = 11}, {a});
  check_messages<S>(net, all_regimes);
}

//  a(20), 0/1 ─→ c(6), 0/1 ─→ r
TEST_CASE_TEMPLATE("messages to parents that show zero and one are right", S, float, double) {
  TwoLayers net;
  const NodeId a = net.parent("a", Bernoulli{.units = 20, .values = zero_one});
  net.child("c", Bernoulli{.units = 6, .values = zero_one}, {a});
  check_messages<S>(net, all_regimes);
}

// 0.3 and its products with weights are not exact: logits of 12 terms are rounded.
//  a(12), 0.3/-2 ─→ c(5) and d(2, sparse) ─→ r
TEST_CASE_TEMPLATE("messages to parents that show any two values are right", S, float, double) {
  TwoLayers net;
  const NodeId a = net.parent("a", Bernoulli{.units = 12, .values = {0.3, -2}});
  net.child("c", Bernoulli{.units = 5}, {a});
  net.child("d", Bernoulli{.units = 2}, {Edge{a, Pattern::random(0.5, 3)}});
  check_messages<S>(net, {small, around_one, at_limit, five}, {.inexact_logits = true});
}

//  a(16) ─ half of the pairs ─→ c(20) ─→ r
TEST_CASE_TEMPLATE("messages along random pairs of binary units are right", S, float, double) {
  TwoLayers net;
  const NodeId a = net.parent("a", Bernoulli{.units = 16});
  net.child("c", Bernoulli{.units = 20}, {Edge{a, Pattern::random(0.5, 7)}});
  check_messages<S>(net, all_regimes);
}

//  a0 … a4 ─→ c0, c1, c2 ─→ r      too few to be worked densely
TEST_CASE_TEMPLATE("messages among single neurons are right", S, float, double) {
  TwoLayers net;
  const std::vector<Edge> a = net.neurons("a", 5);
  for (int i = 0; i < 3; ++i) net.child("c" + std::to_string(i), Bernoulli{}, a);
  check_messages<S>(net, all_regimes);
}

//  a0 … a17 ─→ c(7) ─→ r           dense, but each parent has a weight matrix of its own
TEST_CASE_TEMPLATE("messages from a population to single neurons are right", S, float, double) {
  TwoLayers net;
  const std::vector<Edge> a = net.neurons("a", 18);
  net.child("c", Bernoulli{.units = 7}, a);
  check_messages<S>(net, all_regimes);
}

//  a(16) ─────────→ c(6) ─→ r
//  b(9) ─ sparse ──↗ ↑
//  o0 … o2 ──────────┘
TEST_CASE_TEMPLATE("messages along dense and sparse edges into one population are right", S, float, double) {
  TwoLayers net;
  const NodeId a = net.parent("a", Bernoulli{.units = 16});
  const NodeId b = net.parent("b", Bernoulli{.units = 9, .values = zero_one});
  std::vector<Edge> edges = net.neurons("o", 3);
  edges.insert(edges.begin(), {Edge{a}, Edge{b, Pattern::random(0.4, 5)}});
  net.child("c", Bernoulli{.units = 6}, edges);
  check_messages<S>(net, {around_one, at_limit_saturated, everything, mostly_small});
}

// A product of 300 likelihood ratios would leave the range of float many times over.
//  a(9) ─→ c(300) and d(150, sparse) and e0 … e99 ─→ r
TEST_CASE_TEMPLATE("messages from hundreds of children are right", S, float, double) {
  TwoLayers net;
  const NodeId a = net.parent("a", Bernoulli{.units = 9});
  net.child("c", Bernoulli{.units = 300}, {a});
  net.child("d", Bernoulli{.units = 150}, {Edge{a, Pattern::random(0.6, 5)}});
  for (int i = 0; i < 100; ++i) net.child("e" + std::to_string(i), Bernoulli{}, {a});
  check_messages<S>(net, {small, around_one, at_limit_saturated, everything}, {.batches = {1, 17, 65}});
}

//  a(9) ─→ c(3 units of 4 classes) ─→ r
//  b(3) ─ sparse ─↗
TEST_CASE_TEMPLATE("messages from categorical children to binary parents are right", S, float, double) {
  TwoLayers net;
  const NodeId a = net.parent("a", Bernoulli{.units = 9});
  const NodeId b = net.parent("b", Bernoulli{.units = 3, .values = zero_one});
  net.child("c", Categorical{.units = 3, .classes = 4}, {Edge{a}, Edge{b, Pattern::random(0.6, 2)}});
  check_messages<S>(net, all_regimes);
}

//  a(4 units of 3 classes) ─→ c(10) and d(3, sparse) ─→ r
TEST_CASE_TEMPLATE("messages from binary children to categorical parents are right", S, float, double) {
  TwoLayers net;
  const NodeId a = net.parent("a", Categorical{.units = 4, .classes = 3});
  net.child("c", Bernoulli{.units = 10}, {a});
  net.child("d", Bernoulli{.units = 3}, {Edge{a, Pattern::random(0.5, 9)}});
  check_messages<S>(net, all_regimes);
}

//  a(3 units of 5 classes) ─→ c(4 units of 3 classes) ─→ r
//  b(2 classes) ─────────────↗
TEST_CASE_TEMPLATE("messages among categorical units are right", S, float, double) {
  TwoLayers net;
  const NodeId a = net.parent("a", Categorical{.units = 3, .classes = 5});
  const NodeId b = net.parent("b", Categorical{.classes = 2});
  net.child("c", Categorical{.units = 4, .classes = 3}, {a, b});
  check_messages<S>(net, all_regimes);
}

//  a0 … a39 ─→ y(10 classes) ─→ r
TEST_CASE_TEMPLATE("messages from one categorical unit to many single neurons are right", S, float, double) {
  TwoLayers net;
  const std::vector<Edge> a = net.neurons("a", 40);
  net.child("y", Categorical{.classes = 10}, a);
  check_messages<S>(net, {small, around_one, at_limit, five, mostly_small});
}

// Shares are worked as exponentials while they are at most 80 apart.
//  a(2 units of 4 classes), b(3) ─→ c(3 units of 3 classes), d(4) ─→ r
TEST_CASE_TEMPLATE("messages are right on both sides of the range of exponentials", S, float, double) {
  TwoLayers net;
  const NodeId a = net.parent("a", Categorical{.units = 2, .classes = 4});
  const NodeId b = net.parent("b", Bernoulli{.units = 3});
  net.child("c", Categorical{.units = 3, .classes = 3}, {a, b});
  net.child("d", Bernoulli{.units = 4}, {a});
  check_messages<S>(net, {{"below", {20, 39.5, 39.75}},
                          {"at the range", {39.75, 40, 40.25}},
                          {"below, saturated", {20, 39.5, 39.75}, true},
                          {"above, saturated", {40.5, 60}, true},
                          {"on both sides, saturated", {0.5, 0.5, 1, 30, 39.5, 40.5, 60}, true}});
}
