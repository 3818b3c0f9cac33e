// Deterministic nodes in a graph: what the validator makes of them, HNCA through them, what is refused.
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/graph/access.hpp>
#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/plan.hpp>
#include <hindsight/hindsight.hpp>

#include "support/custom_nodes.hpp"
#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"
#include "support/violations.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

using Names = std::vector<std::string>;

/// The diagnostics of a report with that code.
std::vector<Diagnostic> said(const Report& report, const std::string& code) {
  std::vector<Diagnostic> found;
  for (const Diagnostic& diagnostic : report.diagnostics)
    if (diagnostic.code == code) found.push_back(diagnostic);
  return found;
}

/// A deterministic node without parameters: the product of all it reads.
struct Product {
  static constexpr std::string_view kind = "Product";
  Shape shape(std::span<const ParentShape>) const { return {.units = 1}; }
  template <class S>
  void evaluate(std::span<const S>, const Reading<S>& reading, std::span<S> out) const {
    out[0] = 1;
    for (const S feature : reading.features) out[0] *= feature;
  }
  template <class S>
  void backpropagate(std::span<const S>, const Reading<S>& reading, std::span<const S> slopes, std::span<S>,
                     std::span<S> features) const {
    for (std::size_t i = 0; i < features.size(); ++i) {
      S others = slopes[0];
      for (std::size_t j = 0; j < features.size(); ++j) others *= j == i ? S(1) : reading.features[j];
      features[i] += others;
    }
  }
};
static_assert(Function<Product>);

}  // namespace

TEST_CASE("parallel deterministic routes are one edge and violate nothing") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), f = graph.add("f", Tanh{}, {a}),
               c = graph.add("c", Bernoulli{}, {a, f});
  graph.reward("r", {c});
  const Report report = validate(graph);
  CHECK(report.assumption_1_holds());
  CHECK(report.admissible());
  CHECK(to_string(report).find("computed") != std::string::npos);
}

//  a ─→ f ─→ c ─→ r      a and its descendant b both reach c
//  └──→ b ─→ g ──↗
TEST_CASE("a violation through deterministic nodes shows the real routes") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), f = graph.add("f", Tanh{}, {a}),
               b = graph.add("b", Bernoulli{}, {a}), g = graph.add("g", Relu{}, {b}),
               c = graph.add("c", Bernoulli{}, {f, g});
  graph.reward("r", {c});
  graph.estimate_with(a, Hnca{});
  const Report report = validate(graph);
  const auto violations = said(report, "assumption-1");
  REQUIRE(violations.size() == 1);
  CHECK(violations[0].witness == std::vector<Route>{{"a", "f", "c"}, {"a", "b", "g", "c"}});
  CHECK(violations[0].help.back() == "or drop the route a → f → c");
  CHECK_FALSE(report.admissible());
}

//  a(2) ─→ f(2) ─→ c(2) ─→ r      unit by unit: c[1] reads a[1] through f[1], and b, which reads a[0] only
//  a[0] ─→ b ──────↗ c[1]
TEST_CASE("sparse edges decide unit by unit what deterministic nodes join") {
  for (const bool crossed : {false, true}) {
    Graph graph;
    const NodeId a = graph.add("a", Bernoulli{.units = 2}, {});
    const NodeId f = graph.add("f", Tanh{2}, {Edge{a, Pattern::pairs({{0, 0}, {1, 1}})}});
    const NodeId b = graph.add("b", Bernoulli{}, {Edge{a, Pattern::pairs({{0, 0}})}});
    const NodeId c = graph.add(
        "c", Bernoulli{.units = 2},
        {Edge{f, Pattern::pairs({{0, 0}, {1, 1}})}, Edge{b, Pattern::pairs({{0, crossed ? 0 : 1}})}});
    graph.reward("r", {c});
    const std::vector<Violation> violations = witnesses(graph);
    CHECK(violations.size() == (crossed ? 1 : 0));
    if (!crossed) continue;
    Names edge, route;
    for (const UnitRef& at : violations[0].edge) edge.push_back(to_string(graph, at));
    for (const UnitRef& at : violations[0].route) route.push_back(to_string(graph, at));
    CHECK(edge == Names{"a[0]", "f[0]", "c[0]"});
    CHECK(route == Names{"a[0]", "b", "c[0]"});
  }
}

// One route counted after another would multiply two ratios where there is one child: biased.
//  a ─→ f ─→ c ─→ r      and a ─→ c
TEST_CASE("all routes to a child are rerun together, and each child counts once") {
  Graph graph;
  const NodeId x = graph.input("x", 1), a = graph.add("a", Categorical{.classes = 3}, {x}),
               f = graph.add("f", Tanh{2}, {a, x}), g = graph.add("g", Sigmoid{}, {f, a}),
               c = graph.add("c", Categorical{.classes = 3}, {a, f, g}), e = graph.add("e", Bernoulli{}, {a});
  const RewardId r = graph.reward("r", {c, e});
  const auto model = random_model<double>(graph, 17);
  CHECK(model.report().credits[0].estimator == "hnca");
  const std::vector<double> values{0.7};
  const std::vector<InputValues<double>> inputs{{x, {values.data(), 1, 1}}};
  const std::vector<RewardFunction> rewards{{r, [=](const JointOutcome& outcome) {
                                               return std::sin(1.3 * outcome(c) + outcome(e)) +
                                                      0.2 * outcome(c);
                                             }}};
  // The posterior by Bayes' rule, from the joint probabilities of all outcomes.
  double joint[3][3][2];
  for_each_state<double>(model, inputs, rewards, [&](const State<double>& state) {
    joint[(*state.outcome)(a)][(*state.outcome)(c)][(*state.outcome)(e)] = state.probability;
  });
  double largest = 0;
  for_each_state<double>(model, inputs, rewards, [&](const State<double>& state) {
    const int at_c = (*state.outcome)(c), at_e = (*state.outcome)(e);
    double total = 0, by_evidence = 0;
    for (int k = 0; k < 3; ++k) {
      total += joint[k][at_c][at_e];
      by_evidence += std::exp(state.run->log_probs(a)(0, k) + state.run->evidence(a)(0, k));
    }
    for (int k = 0; k < 3; ++k) {
      const double posterior =
          std::exp(state.run->log_probs(a)(0, k) + state.run->evidence(a)(0, k)) / by_evidence;
      largest = larger_error(largest, std::abs(posterior - joint[k][at_c][at_e] / total));
    }
  });
  CHECK(largest < 1e-13);
  const Enumeration exact = enumerate(model, inputs, rewards, {.variance = false});
  for (std::size_t i = 0; i < exact.gradient.size(); ++i)
    CHECK(exact.estimate[i] == doctest::Approx(exact.gradient[i]).epsilon(1e-12).scale(1));
}

// In the plan c and d are dense together; rerun for a, c is alone and reads its parents as bits. Seed
// 12; 130 samples are chunks of 64, 64 and 2.
//  x(8) ─→ a(8) ─→ f(4) ─→ c ─────→ r
//     └──→ b(8) ─────────↗ ↘
//             └──→ g(4) ──→ d(3) ─→ r
TEST_CASE_TEMPLATE("what is rerun alone gives what the plain mathematics gives", S, float, double) {
  constexpr int samples = 130;
  struct Net {
    Graph graph;
    NodeId x, a, b, c, d;
    RewardId r;
  };
  const auto build = [](const auto& as) {
    Net net;
    Graph& graph = net.graph;
    net.x = graph.input("x", 8);
    net.a = graph.add("a", as(Bernoulli{.units = 8}), {net.x});
    net.b = graph.add("b", as(Bernoulli{.units = 8, .values = zero_one}), {net.x});
    const NodeId f = graph.add("f", as(Tanh{4}), {net.a}), g = graph.add("g", as(Tanh{4}), {net.b});
    net.c = graph.add("c", as(Bernoulli{}), {net.b, f});
    net.d = graph.add("d", as(Bernoulli{.units = 3}), {net.b, g});
    net.r = graph.reward("r", {net.c, net.d});
    return net;
  };
  const Net fast = build([](auto node) { return AnyNode(node); }),
            plain = build([](auto node) { return AnyNode(Plain<decltype(node)>{node}); });
  Dice dice(12);
  std::vector<S> x, rewards;
  for (int i = 0; i < samples * 8; ++i) x.push_back(static_cast<S>(dice.between(-1, 1)));
  for (int i = 0; i < samples; ++i) rewards.push_back(static_cast<S>(dice.between(-1, 1)));
  const std::vector<double> wide(x.begin(), x.end()), wide_rewards(rewards.begin(), rewards.end());
  const auto reference = compile<double>(plain.graph, {.seed = 12});
  auto expected = reference.workspace(samples);
  for (const InstructionSet set : available_instruction_sets())
    for (const int threads : {1, 3}) {
      const auto model = compile<S>(fast.graph, {.seed = 12, .instructions = set});
      CHECK(internal::Access::plan(model).schedule.reruns.size() == 2);
      auto run = model.workspace(samples, {.threads = threads});
      model.forward(run, {{fast.x, {x.data(), samples, 8}}});
      model.backward(run, {{fast.r, rewards}});
      reference.forward(expected, {{plain.x, {wide.data(), samples, 8}}},
                        {.clamp = {{plain.a, run.outcomes(fast.a)},
                                   {plain.b, run.outcomes(fast.b)},
                                   {plain.c, run.outcomes(fast.c)},
                                   {plain.d, run.outcomes(fast.d)}}});
      reference.backward(expected, {{plain.r, wide_rewards}});
      double largest = 0;
      for (const auto& [node, other] : {std::pair{fast.a, plain.a}, std::pair{fast.b, plain.b}})
        for (std::ptrdiff_t i = 0; i < samples; ++i)
          for (std::ptrdiff_t k = 0; k < 16; ++k)
            largest = larger_error(largest, std::abs(static_cast<double>(run.evidence(node)(i, k)) -
                                                     expected.evidence(other)(i, k)));
      INFO("by ", std::string(name(set)), " on ", threads, " threads");
      CHECK(largest < (std::is_same_v<S, float> ? 1e-5 : 1e-13));
      for (std::size_t i = 0; i < run.gradient().size(); ++i)
        CHECK(static_cast<double>(run.gradient()[i]) == doctest::Approx(expected.gradient()[i])
                                                            .epsilon(std::is_same_v<S, float> ? 1e-4 : 1e-11)
                                                            .scale(0.1));
    }
}

TEST_CASE("long chains of deterministic nodes are no trouble") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  NodeId last = a;
  for (int i = 0; i < 20000; ++i) last = graph.add("f" + std::to_string(i), Identity{}, {last});
  const NodeId c = graph.add("c", Bernoulli{}, {last});
  graph.reward("r", {c});
  CHECK(validate(graph).credits[0].estimator == "hnca");
  CHECK(internal::Contraction(graph).route(a, c).size() == 20002);
}

//  a ─→ p ─→ r      p has no parameters: that the reward is a function of it harms nothing but HNCA at a
//  └──→ c ──↗
TEST_CASE("a reward that follows deterministically from a node reads it directly") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), p = graph.add("p", Product{}, {a}),
               c = graph.add("c", Bernoulli{}, {a});
  graph.reward("r", {p, c});
  const Report report = validate(graph);
  CHECK(report.admissible());
  CHECK(report.credits[0].estimator == "reinforce");
  graph.estimate_with(a, Hnca{});
  const auto refused = said(validate(graph), "reward-reads-node");
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].witness == std::vector<Route>{{"a", "p", "r"}});
}

TEST_CASE("a deterministic node that determines a black-box reward is refused") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), f = graph.add("f", Tanh{}, {a}),
               g = graph.add("g", Tanh{}, {f});
  graph.reward("r", {g});
  const auto refused = said(validate(graph), "no-gradient");
  REQUIRE(refused.size() == 2);
  CHECK(to_string(refused[0]) ==
        "error[no-gradient]: node 'f': reward 'r' follows from it with no stochastic node between; of a "
        "black box only "
        "the value is observed, so its parameters have no gradient\n"
        "    f → g → r\n"
        "  help: let the reward read a stochastic node instead, e.g. graph.add(\"action\", "
        "Categorical{.classes = 2}, "
        "{g});");
  CHECK(refused[1].witness == std::vector<Route>{{"g", "r"}});
}

TEST_CASE("a deterministic node that leads to no reward is warned of") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  graph.add("f", Tanh{}, {a});
  graph.reward("r", {a});
  const auto warned = said(validate(graph), "no-path-to-reward");
  REQUIRE(warned.size() == 1);
  CHECK(warned[0].node == "f");
}

//  a(30) ─→ f(20) ─→ c ─→ r: 30 units · (30·20 + 20 + 20 + 1) parameters
TEST_CASE("a rerun beyond its limit is refused with its cost") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 30}, {}), f = graph.add("f", Tanh{20}, {a}),
               c = graph.add("c", Bernoulli{}, {f});
  graph.reward("r", {c});
  CHECK(validate(graph).credits[0].estimator == "hnca");
  CHECK(validate(graph, {.rerun_limit = 30.0 * 641}).credits[0].estimator == "hnca");
  CHECK(validate(graph, {.rerun_limit = 30.0 * 641 - 1}).credits[0].estimator == "reinforce");
  graph.estimate_with(a, Hnca{});
  const std::string text = refusal([&] { compile(graph, {.rerun_limit = 1000}); });
  CHECK(
      text.find(
          "error[inadmissible-estimator]: node 'a': hnca for reward 'r': evaluating 'f' anew for each of its "
          "outcomes takes 1.92e+04 multiplications per sample, more than the limit of 1e+03 (cost)\n"
          "  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance\n"
          "  help: or compile(graph, {.rerun_limit = 3.85e+04});") != std::string::npos);
  CHECK_NOTHROW(compile(graph, {.rerun_limit = 3.85e+04}));
}

TEST_CASE("what has no outcomes, no values or no slopes says so") {
  Graph graph;
  const NodeId x = graph.input("x", 2), f = graph.add("f", Tanh{3}, {x}),
               c = graph.add("c", Bernoulli{}, {f});
  graph.reward("r", {c});
  CHECK(refusal([&] { graph.estimate_with(f, Reinforce{}); }) ==
        "error[no-estimator-here]: node 'f': it is deterministic: it learns from the slopes of its children "
        "and takes "
        "no estimator\n  help: choose estimators for the stochastic nodes that read it");
  CHECK(refusal([&] { graph.add("t", Table{.rows = {{0.5, 0.5}}}, {f}); }).find("error[table-parent]") == 0);
  struct Deaf {
    Shape shape(std::span<const ParentShape>) const { return {.encoding = scalar_encoding({0, 1})}; }
    void log_probs(std::span<const float>, const Reading<float>&, std::span<float> out) const {
      out[0] = out[1] = std::log(0.5F);
    }
    void log_probs(std::span<const double>, const Reading<double>&, std::span<double> out) const {
      out[0] = out[1] = std::log(0.5);
    }
    void accumulate(std::span<const float>, const Reading<float>&, std::span<const float>,
                    std::span<float>) const {}
    void accumulate(std::span<const double>, const Reading<double>&, std::span<const double>,
                    std::span<double>) const {}
  };
  CHECK(refusal([&] { graph.add("deaf", Deaf{}, {f}); }) ==
        "error[no-backpropagate]: node 'deaf': its parent 'f' is deterministic and learns from the slopes "
        "that its "
        "children pass back; a custom node passes none\n  help: give its type a const backpropagate(theta, "
        "reading, "
        "credit, out); docs/write_a_node.md");
  const Model model = compile(graph);
  Workspace run = model.workspace(2);
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  CHECK(refusal([&] {
          model.forward(run, {{x, {values.data(), 2, 2}}, {f, {values.data(), 2, 3}}});
        }) == "error[not-an-input]: node 'f': it is computed, not given\n  help: give values to inputs only");
  const std::vector<Outcome> outcomes(6, 0);
  CHECK(refusal([&] {
          model.forward(run, {{x, {values.data(), 2, 2}}},
                        {.clamp = {{f, MatrixView<const Outcome>(outcomes.data(), 2, 3)}}});
        }) ==
        "error[clamped-function]: node 'f': it is deterministic: it follows from its parents and has no "
        "outcome to "
        "clamp\n  help: clamp the stochastic nodes that it reads");
  model.forward(run, {{x, {values.data(), 2, 2}}});
  CHECK(refusal([&] { run.outcomes(f); }) ==
        "error[function-has-no-outcomes]: node 'f': it is deterministic: it samples nothing, so there are no "
        "outcomes "
        "or tables to read\n  help: run.values(f)");
  CHECK(refusal([&] { run.values(c); }) ==
        "error[outcomes-not-values]: node 'c': it is stochastic: it has outcomes; only inputs and "
        "deterministic nodes "
        "have values\n  help: run.outcomes(c)");
  CHECK(run.values(x)(1, 0) == 3);
}

//  x ─→ f(2) ─→ g ─→ c ─→ r: f overflows both ways, and g is the first that has no value
TEST_CASE("a value that is not a number is blamed on the node or its parameters") {
  Graph graph;
  const NodeId x = graph.input("x", 1), f = graph.add("f", Identity{2}, {x}), g = graph.add("g", Tanh{}, {f}),
               c = graph.add("c", Bernoulli{}, {g});
  graph.reward("r", {c});
  Model model = compile(graph);
  Workspace run = model.workspace(1);
  const std::vector<float> values{3e38F};
  model.parameters("f/weights/x")(0, 0) = 10;
  model.parameters("f/weights/x")(1, 0) = -10;
  model.parameters("g/weights/f")(0, 0) = model.parameters("g/weights/f")(0, 1) = 1;
  CHECK(refusal([&] {
          model.forward(run, {{x, {values.data(), 1, 1}}});
        }) ==
        "error[value-not-a-number]: node 'g': the value of its unit 0 is not a number, though its parameters "
        "are "
        "finite\n  help: sums have overflowed or evaluate is wrong: scale the inputs, or check it by finite "
        "differences");
  model.parameters("g/bias")(0) = std::numeric_limits<float>::quiet_NaN();
  CHECK(refusal([&] {
          model.forward(run, {{x, {values.data(), 1, 1}}});
        }).find("error[parameter-not-finite]: node 'g': parameter 0 of 'g/bias' is nan") == 0);
}

TEST_CASE("a shape of a deterministic node that has outcomes is refused") {
  struct Both : Product {
    Shape shape(std::span<const ParentShape>) const { return {.encoding = scalar_encoding({0, 1})}; }
  };
  Graph graph;
  CHECK(refusal([&] { graph.add("f", Both{}, {}); }) ==
        "error[bad-shape]: node 'f': it is deterministic, so its shape must not have an encoding: it has no "
        "outcomes\n"
        "  help: return Shape{.units = 1, .parameters = …} from shape()");
}
