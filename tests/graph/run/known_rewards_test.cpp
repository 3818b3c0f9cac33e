#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

#include <hindsight/graph/access.hpp>

#include "support/custom_nodes.hpp"
#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

template <class S>
double largest_bias(const RandomGraph& random, const BasicModel<S>& model) {
  std::vector<std::vector<S>> storage;
  const Enumeration exact = enumerate<S>(model, random.bind(storage), random.rewards, {.variance = false});
  return largest_difference(exact.gradient, exact.estimate);
}

int count_direct_hnca(const internal::Plan<double>& plan) {
  int count = 0;
  for (const internal::CreditRun& credit : plan.credit.runs) count += credit.reward_rerun ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("every mix of estimators is unbiased with known and black-box rewards side by side") {
  int direct = 0, through_functions = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomGraph random = random_graph(seed, {.nodes = 3 + static_cast<int>(seed % 3),
                                             .functions = seed % 3 == 0,
                                             .rows = seed % 5 == 0,
                                             .known = true,
                                             .most_states = 512});
    choose_estimators(random, seed);
    const BasicModel<double> model = random_model<double>(random.graph, seed);
    CAPTURE(seed);
    CAPTURE(to_string(model.report()));
    CHECK(largest_bias(random, model) <= 1e-10);
    direct += count_direct_hnca(internal::Access::plan(model));
    for (const NodeId node : random.graph.nodes())
      through_functions += random.graph.kind(node) == "FeatureProduct" ? 1 : 0;
  }
  CHECK(direct >= 100);
  CHECK(through_functions >= 50);
}

TEST_CASE_TEMPLATE("the same by every instruction set", S, float, double) {
  for (const InstructionSet set : available_instruction_sets())
    for (std::uint64_t seed = 500; seed < 520; ++seed) {
      RandomGraph random =
          random_graph(seed, {.functions = seed % 2 == 0, .known = true, .most_states = 256});
      choose_estimators(random, seed);
      CAPTURE(seed);
      CHECK(largest_bias(random, random_model<S>(random.graph, seed, 1.5, set)) <=
            (std::is_same_v<S, float> ? 2e-5 : 1e-10));
    }
}

//  x ─→ y ─→ loss(y, label)      label is an input that only the reward reads
TEST_CASE_TEMPLATE("an output that only a known reward reads gets the exact expectation", S, float, double) {
  Graph graph;
  const NodeId x = graph.input("x", 2), label = graph.input("label", 1);
  const NodeId y = graph.add("y", Categorical{.classes = 3}, {x});
  graph.reward("right", {y, label}, [=](const JointOutcome& at) { return at(y) == at.value(label) ? 1 : 0; });
  BasicModel<S> model = random_model<S>(graph, 3);
  const std::vector<S> pixels{1, -0.5, 0.25, 2}, labels{2, 0};
  const std::vector<InputValues<S>> inputs{{x, MatrixView<const S>(pixels.data(), 2, 2)},
                                           {label, MatrixView<const S>(labels.data(), 2, 1)}};
  const Enumeration exact = enumerate<S>(model, inputs, {});
  // One backward pass of one sample per row is the gradient itself, whatever was sampled.
  for (int repeat = 0; repeat < 5; ++repeat) {
    auto run = model.workspace(2);
    run.seek({.step = static_cast<std::uint32_t>(repeat)});
    model.forward(run, inputs);
    model.backward(run, {});
    for (std::size_t i = 0; i < exact.gradient.size(); ++i)
      CHECK(static_cast<double>(run.gradient()[i]) ==
            doctest::Approx(exact.gradient[i]).epsilon(1e-5).scale(1));
  }
  CHECK(model.report().credits.front().estimator == "hnca");
  CHECK(model.report().credits.front().why ==
        "the reward is known: the expectation over its outcomes is exact");
}

//  a ─→ b ─→ r(a, b)      r reads a directly and through b
TEST_CASE("a known reward that reads a node and its child lowers the variance below REINFORCE's") {
  Graph graph;
  const NodeId a = graph.add("a", Categorical{.classes = 3}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  graph.reward("r", {a, b}, [=](const JointOutcome& at) { return at(a) * 1.5 - 2.0 * at(b) * (at(a) == 1); });
  const auto variance = [&](const EstimatorChoice& choice) {
    Graph chosen = graph;
    chosen.estimate_with(a, choice);
    const Enumeration exact = enumerate<double>(random_model<double>(chosen, 5), {}, {});
    double sum = 0;
    for (const double v : exact.variance) sum += v;
    return sum;
  };
  CHECK(variance(Hnca{}) < 0.5 * variance(Reinforce{}));
}

TEST_CASE("what a known reward was can be read after the backward pass") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const RewardId r = graph.reward("r", {a}, [=](const JointOutcome& at) { return 10 + at(a); });
  const Model model = compile(graph);
  Workspace run = model.workspace(8);
  model.forward(run, {});
  model.backward(run, {});
  for (int i = 0; i < 8; ++i)
    CHECK(run.rewards(r)[static_cast<std::size_t>(i)] == static_cast<float>(10 + run.outcomes(a)(i)));
}

TEST_CASE("mistakes with known rewards are told with the candidate, and change nothing") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const auto with = [&](std::vector<NodeId> reads, const KnownReward& value) {
    Graph made = graph;
    made.reward("r", std::move(reads), value);
    return compile(made);
  };
  const std::string help =
      "\n  help: let it answer whatever it is asked; to refuse with a reason of its own, let it throw Error";
  const std::vector<float> one{1};
  const auto backward = [&](const Model& model) {
    Workspace run = model.workspace(1);
    const std::vector<Outcome> zeros{0, 0};
    model.forward(run, {{x, one}}, {.clamp = {{a, MatrixView<const Outcome>(zeros.data(), 1, 2)}}});
    const std::vector<float> before(run.gradient().begin(), run.gradient().end());
    const std::string said = refusal([&] { model.backward(run, {}); });
    CHECK(std::equal(before.begin(), before.end(), run.gradient().begin()));
    return said;
  };
  CHECK(backward(with({a},
                      [=](const JointOutcome& at) -> double {
                        if (at(a, 1) == 1) throw std::runtime_error("no such thing");
                        return 0;
                      })) ==
        "error[reward-threw]: node 'a': the function of reward 'r' in sample 0, had unit 1 of 'a' had "
        "outcome 1 "
        "threw: no such thing" +
            help);
  CHECK(backward(with({a}, [=](const JointOutcome& at) { return at(a, 0) == 1 ? std::nan("") : 0.0; })) ==
        "error[reward-not-finite]: node 'a': reward 'r' is nan in sample 0, had unit 0 of 'a' had outcome 1\n"
        "  help: give finite rewards; use 0 where there is none");
  CHECK(backward(with({a}, [=](const JointOutcome&) { return std::nan(""); })) ==
        "error[reward-not-finite]: reward 'r' is nan in sample 0\n"
        "  help: give finite rewards; use 0 where there is none");
  CHECK(backward(with({a}, [=](const JointOutcome& at) { return at(b); })) ==
        "error[reward-reads-unlisted]: node 'b': the function of reward 'r' reads it, but the reward does "
        "not list "
        "it: it would be credited wrongly\n"
        "  help: graph.reward(\"r\", {…, b}, …)");
  CHECK(backward(with({a}, [=](const JointOutcome& at) { return at(a, 2); })) ==
        "error[reward-threw]: the function of reward 'r' in sample 0 threw: 'a' has no unit 2; it has 2" +
            help);
  CHECK(backward(with({a, x}, [=](const JointOutcome& at) { return at(x); })) ==
        "error[reward-threw]: the function of reward 'r' in sample 0 threw: 'x' has values, not outcomes; "
        "ask for "
        "value(…)" +
            help);
  CHECK(backward(with({a}, [=](const JointOutcome& at) { return at.value(a); })) ==
        "error[reward-threw]: the function of reward 'r' in sample 0 threw: 'a' has outcomes, not values" +
            help);
}

TEST_CASE("a known reward is neither given nor left out, and has a function") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  CHECK(refusal([&] { graph.reward("r", {a}, KnownReward()); }) ==
        "error[empty-reward-function]: the function of reward 'r' is empty; it cannot be asked\n"
        "  help: graph.reward(\"r\", {output});   // a black box");
  const RewardId r = graph.reward("r", {a}, [=](const JointOutcome& at) { return at(a); });
  const Model model = compile(graph);
  Workspace run = model.workspace(1);
  model.forward(run, {});
  const std::vector<float> one{1};
  CHECK(refusal([&] {
          model.backward(run, {{r, one}});
        }) ==
        "error[known-reward-given]: reward 'r' is known: it is worked out, not given\n"
        "  help: run.rewards(r)   // what it was, after model.backward(run, …)");
  CHECK(refusal([&] { to_dot(graph); }) ==
        "error[cannot-write]: reward 'r' is known, and no file could bring its function back\n"
        "  help: graph.reward(\"r\", {…});   // a black box, in a graph to be written");
  CHECK(refusal([&] { run.rewards({3}); }) ==
        "error[unknown-reward]: reward number 3 does not exist; the model has 1\n"
        "  help: use the RewardId that graph.reward(…) returned");
}

//  a(100) ─→ t(100) ─→ r, known      each of 100 units would compute all of t anew
TEST_CASE("asking a known reward through deterministic nodes counts against the limit") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 100}, {});
  const NodeId t = graph.add("t", Tanh{100}, {a});
  const NodeId y = graph.add("y", Bernoulli{}, {t});
  const NodeId p = graph.add("p", FeatureProduct{}, {a});
  graph.reward("r", {p, y}, [=](const JointOutcome& at) { return at.value(p) + at(y); });
  const auto estimator = [&](double limit) {
    return validate(graph, {.rerun_limit = limit}).credits.front().estimator;
  };
  CHECK(estimator(1e7) == "hnca");
  CHECK(estimator(1e5) == "reinforce");
}

TEST_CASE("a known reward that float cannot hold is refused as such") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  graph.reward("r", {a}, [=](const JointOutcome& at) { return at(a) == 1 ? 1e300 : 1e300; });
  const Model model = compile(graph);
  Workspace run = model.workspace(1);
  model.forward(run, {});
  CHECK(refusal([&] {
          model.backward(run, {});
        }).starts_with("error[reward-not-finite]: reward 'r' is 1e+300"));
}
