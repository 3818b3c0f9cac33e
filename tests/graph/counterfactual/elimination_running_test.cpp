// Hindsight over several steps as it runs: threads, mixtures with other estimators, zeros, saturation.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/access.hpp>
#include <hindsight/graph/plan.hpp>
#include <hindsight/hindsight.hpp>

#include "support/bits.hpp"
#include "support/custom_nodes.hpp"
#include "support/hindsight_reference.hpp"
#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// The only credit of a node by a reward, in a graph made by hand.
double error_of(Graph graph, NodeId node, RewardId reward, int steps, double spread = 1.5,
                const std::vector<double>& parameters = {}) {
  RandomGraph random;
  for (const NodeId other : graph.nodes()) {
    if (!graph.is_stochastic(other)) continue;
    random.stochastic.push_back(other);
    graph.estimate_with(other, Reinforce{});
  }
  for (const RewardId any : graph.rewards())
    random.rewards.push_back({any, [](const JointOutcome&) { return 0.0; }});
  graph.estimate_with(node, reward, Hnca{.assumption = Assumption::relaxed, .steps = steps});
  random.graph = graph;
  auto model = random_model<double>(graph, 5, spread);
  for (std::size_t i = 0; i < parameters.size(); ++i) model.parameters()[i] = parameters[i];
  return posterior_error(random, model, node, reward, steps);
}

template <class S>
std::vector<S> gradient_of(const Graph& graph, NodeId x, RewardId r, int threads, int samples) {
  const auto model = random_model<S>(graph, 3);
  auto run = model.workspace(samples, {.threads = threads});
  std::vector<S> inputs, rewards;
  Dice dice(9);
  for (int i = 0; i < samples; ++i) {
    inputs.push_back(static_cast<S>(dice.between(-1, 1)));
    rewards.push_back(static_cast<S>(dice.between(-1, 1)));
  }
  model.forward(run, {{x, {inputs.data(), samples, 1}}});
  model.backward(run, {{r, rewards}});
  return {run.gradient().begin(), run.gradient().end()};
}

///  x ─→ a(3) ─→ b(2 of 3) ─→ c(3) ─→ y ─→ r      every kind, a function between, a skip edge
///       │ └─→ t (table, of a0) ─→ v ─↗ ↑
///       └─→ f (tanh) ──────────────────┘
struct Mixed {
  Graph graph;
  NodeId x = graph.input("x", 1);
  std::vector<NodeId> nodes;
  RewardId r;

  explicit Mixed(const EstimatorChoice& choice) {
    const auto add = [&](const char* name, AnyNode node, std::vector<Edge> edges) {
      nodes.push_back(graph.add(name, std::move(node), std::move(edges)));
      return nodes.back();
    };
    const NodeId a = add("a", Bernoulli{.units = 3}, {x});
    const NodeId s = add("s", Bernoulli{.values = zero_one}, {x});
    const NodeId b = add("b", Categorical{.units = 2, .classes = 3}, {Edge{a, Pattern::random(0.7, 1)}});
    const NodeId t = add("t", Table{.rows = {{0.2, 0.5, 0.3}, {0.6, 0.4, 0}}}, {s});
    const NodeId v = add("v", SineVote{}, {t, a});
    const NodeId f = graph.add("f", Tanh{2}, {a});
    const NodeId c = add("c", Bernoulli{.units = 3, .values = {0.3, -2}}, {b, f});
    const NodeId y = add("y", Categorical{.classes = 4}, {c, v, a});
    r = graph.reward("r", {y});
    for (const NodeId node : nodes) graph.estimate_with(node, choice);
    graph.estimate_with(y, Reinforce{});
  }
};

/// No number where what it reads first is 1.
struct Broken : SineVote {
  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    SineVote::log_probs(theta, reading, out);
    if (reading.outcomes[0] == 1) out[0] = std::numeric_limits<S>::quiet_NaN();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("the number of threads changes no bit of several steps", S, float, double) {
  for (const EstimatorChoice& choice : {EstimatorChoice(Hnca{.assumption = Assumption::relaxed, .steps = 2}),
                                        EstimatorChoice(HindsightCredit{})}) {
    const Mixed net(choice);
    const std::vector<S> one = gradient_of<S>(net.graph, net.x, net.r, 1, 200);
    for (const int threads : {2, 3, 5})
      CHECK(same_bits(one, gradient_of<S>(net.graph, net.x, net.r, threads, 200)));
  }
}

TEST_CASE_TEMPLATE("one step is plain HNCA to the last bit", S, float, double) {
  const Mixed plain(Hnca{.assumption = Assumption::relaxed}),
      one(Hnca{.assumption = Assumption::relaxed, .steps = 1});
  CHECK(internal::Access::plan(random_model<S>(one.graph, 3)).credit.eliminations.empty());
  CHECK(same_bits(gradient_of<S>(plain.graph, plain.x, plain.r, 1, 100),
                  gradient_of<S>(one.graph, one.x, one.r, 1, 100)));
}

//  a(5) ─→ b(4) ─→ r: nothing is unread, so that messages say all
TEST_CASE("where nothing is summed out several steps send the messages of one") {
  Graph one, three;
  for (Graph* const graph : {&one, &three}) {
    const NodeId x = graph->input("x", 1), a = graph->add("a", Bernoulli{.units = 5}, {x}),
                 b = graph->add("b", Bernoulli{.units = 4}, {a});
    graph->reward("r", {b});
    graph->estimate_with(a, graph == &one ? Hnca{} : Hnca{.steps = 3});
  }
  CHECK(internal::Access::plan(random_model<float>(three, 3)).credit.eliminations.empty());
  CHECK(same_bits(gradient_of<float>(one, {0}, {0}, 1, 70), gradient_of<float>(three, {0}, {0}, 1, 70)));
}

//  a ─→ b ─→ c ─→ r        b must follow a; c never is 2 after b = 0
//       └──→ d ──↗ (table)
TEST_CASE("probabilities of zero are summed out without harm") {
  Graph graph;
  const NodeId a = graph.add("a", Table{.rows = {{0.3, 0.7}}}, {});
  const NodeId b = graph.add("b", Table{.rows = {{0.5, 0.5, 0}, {0, 0.25, 0.75}}}, {a});
  const NodeId c = graph.add("c", Table{.rows = {{0.6, 0.4, 0}, {0, 0, 1}, {0.2, 0.3, 0.5}}}, {b});
  const NodeId d = graph.add("d", Table{.rows = {{1, 0}, {0.5, 0.5}, {0, 1}}}, {b});
  const NodeId e =
      graph.add("e", Table{.rows = {{1, 0}, {0, 1}, {0.5, 0.5}, {0.1, 0.9}, {1, 0}, {0, 1}}}, {c, d});
  const RewardId r = graph.reward("r", {e});
  for (const int steps : {2, 3, 4})
    for (const NodeId node : {a, b, c}) CHECK(error_of(graph, node, r, steps) <= 1e-12);
  // A user's estimator that does not look at the signal meets no NaN either.
  for (const int steps : {2, 3}) {
    Graph own = graph;
    own.estimate_with(a, Hnca{.steps = steps});
    const auto model = compile<float>(own);
    auto run = model.workspace(500);
    model.forward(run, {}, {.samples = 500});
    model.backward(run, {{r, std::vector<float>(500, 1.0F)}});
    for (const float g : run.gradient()) CHECK(std::isfinite(g));
  }
}

//  a ─→ b ─→ c ─→ d ─→ r     weights up to the given size, logits in the thousands
TEST_CASE("saturated units are summed out to finite credit") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {}), b = graph.add("b", Bernoulli{.units = 3}, {a}),
               c = graph.add("c", Categorical{.classes = 3}, {b}),
               d = graph.add("d", Bernoulli{.units = 2}, {c, b});
  const RewardId r = graph.reward("r", {d});
  for (const double spread : {10.0, 40.0}) CHECK(error_of(graph, a, r, 3, spread) <= 1e-9);
  for (const double spread : {10.0, 100.0, 3000.0, 1e6}) {
    Graph full = graph;
    for (const NodeId node : {a, b, c})
      full.estimate_with(node, r,
                         node == b ? EstimatorChoice(Reinforce{}) : EstimatorChoice(HindsightCredit{}));
    const auto model = random_model<float>(full, 8, spread);
    auto run = model.workspace(256);
    model.forward(run, {}, {.samples = 256});
    model.backward(run, {{r, std::vector<float>(256, 1.0F)}});
    for (const float g : run.gradient()) CHECK(std::isfinite(g));
  }
}

//  a ─→ b ─→ 20 tables and 70 Bernoulli nodes ─→ r: more tables than one sum takes, more units than one
//  product
TEST_CASE("a unit with many children of many kinds is summed out") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a});
  std::vector<NodeId> known;
  for (int i = 0; i < 70; ++i) known.push_back(graph.add(fmt::format("c{}", i), Bernoulli{}, {b}));
  for (int i = 0; i < 20; ++i)
    known.push_back(graph.add(fmt::format("k{}", i), Categorical{.classes = 2 + i}, {b}));
  const RewardId r = graph.reward("r", known);
  graph.estimate_with(a, Hnca{.steps = 2});
  const auto model = random_model<double>(graph, 4, 0.4);
  auto run = model.workspace(40);
  model.forward(run, {}, {.samples = 40});
  model.backward(run, {{r, std::vector<double>(40, 40.0)}});
  // P(a | known) by Bayes' rule, with the likelihood of b from its own one-step evidence.
  graph.estimate_with(b, Hnca{});
  const auto with_evidence = random_model<double>(graph, 4, 0.4);
  auto check = with_evidence.workspace(40);
  std::vector<std::vector<Outcome>> outcomes;
  ForwardOptions clamp{.clamp = {}, .samples = 40};
  for (const NodeId node : graph.nodes()) {
    std::vector<Outcome>& of = outcomes.emplace_back();
    for (int i = 0; i < 40; ++i) of.push_back(run.outcomes(node)(i, 0));
  }
  for (const NodeId node : graph.nodes()) clamp.clamp.push_back({node, outcomes[internal::index(node)]});
  with_evidence.forward(check, {}, clamp);
  with_evidence.backward(check, {{r, std::vector<double>(40, 40.0)}});
  const auto theta = with_evidence.parameters("b/weights/a");
  const double weight = theta(0, 0), bias = with_evidence.parameters("b/bias")(0);
  for (int i = 0; i < 40; ++i) {
    double joint[2];
    for (int k = 0; k < 2; ++k) {
      const double logit = bias + weight * (k == 0 ? -1 : 1);
      joint[k] =
          std::exp(check.log_probs(a)(i, k)) * (std::exp(check.evidence(b)(i, 0)) / (1 + std::exp(logit)) +
                                                std::exp(check.evidence(b)(i, 1)) / (1 + std::exp(-logit)));
    }
    const double posterior = joint[1] / (joint[0] + joint[1]);
    CHECK(std::exp(run.log_probs(a)(i, 1)) + run.credit(a)(i, 1) ==
          doctest::Approx(posterior).epsilon(1e-10));
  }
}

TEST_CASE("an estimator of one's own may ask for several steps") {
  struct Own : Hnca {
    std::string name() const { return "own"; }
    Needs needs() const { return {.hindsight_steps = 2}; }
  };
  const Mixed library(Hnca{.assumption = Assumption::relaxed, .steps = 2});
  const Mixed own(Own{{.assumption = Assumption::relaxed}});
  CHECK(same_bits(gradient_of<double>(library.graph, library.x, library.r, 1, 50),
                  gradient_of<double>(own.graph, own.x, own.r, 1, 50)));
}

TEST_CASE("a wrong node behind an elimination is blamed by name") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a}),
               c = graph.add("c", Broken{}, {b});
  const RewardId r = graph.reward("r", {c});
  graph.estimate_with(a, Hnca{.steps = 2});
  const Model model = compile(graph);
  auto run = model.workspace(1);
  const std::vector<Outcome> zero{0};
  model.forward(run, {}, {.clamp = {{b, zero}}});
  try {
    model.backward(run, {{r, std::vector<float>{1}}});
    FAIL("nothing was refused");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "error[value-not-a-number]: node 'c': its log-probabilities are not numbers once 'b' takes another "
          "outcome\n  help: sums have overflowed, or log_probs or an evaluate is wrong: scale the inputs, or "
          "check them by finite differences");
  }
}
