// Where the claims of docs/theory.md end: the counterexamples it names, number by number.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

using namespace hindsight;

namespace {

constexpr Hnca relaxed{.assumption = Assumption::relaxed};

/// The weights of an edge are all the same; what is not named is 0.
BasicModel<double> model_of(const Graph& graph,
                            const std::vector<std::pair<const char*, double>>& parameters) {
  BasicModel<double> model = compile<double>(graph, {.seed = 1});
  for (double& parameter : model.parameters()) parameter = 0;
  for (const auto& [piece, value] : parameters)
    for (double& parameter : model.parameters().subspan(model.range(piece).first, model.range(piece).count))
      parameter = value;
  return model;
}

/// The exact variance of one parameter's gradient, from the covariance.
double variance_at(const BasicModel<double>& model, std::span<const RewardFunction> rewards,
                   const char* piece) {
  const Enumeration exact = enumerate<double>(model, {}, rewards, {.variance = false, .covariance = true});
  for (std::size_t i = 0; i < exact.gradient.size(); ++i)
    CHECK(exact.estimate[i] == doctest::Approx(exact.gradient[i]).epsilon(1e-12));
  const auto at = static_cast<std::ptrdiff_t>(model.range(piece).first);
  return exact.covariance_matrix()(at, at);
}

}  // namespace

//  a ─→ b ─→ r1, r2      r1 = [b], r2 = -[b] + [c]/10: one step sees both with the same posterior, and [b]
//  └──→ c ─→ r2          cancels; two steps sum c out for r1 alone
TEST_CASE("with two rewards that cancel a second step may raise the variance a hundredfold") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a}), c = graph.add("c", Bernoulli{}, {a});
  const RewardId r1 = graph.reward("r1", {b}), r2 = graph.reward("r2", {b, c});
  const std::vector<RewardFunction> both{
      {r1, [=](const JointOutcome& at) { return static_cast<double>(at(b)); }},
      {r2, [=](const JointOutcome& at) { return -at(b) + 0.1 * at(c); }}};
  const auto variance = [&](const EstimatorChoice& choice, std::span<const RewardFunction> rewards) {
    Graph chosen = graph;
    chosen.estimate_with(a, choice);
    return variance_at(model_of(chosen, {{"b/weights/a", 1}, {"c/weights/a", 2}}), rewards, "a/bias");
  };
  CHECK(variance(Hnca{}, both) == doctest::Approx(0.00041625497).epsilon(1e-7));
  CHECK(variance(Hnca{.steps = 2}, both) == doctest::Approx(0.04482254562).epsilon(1e-7));
  CHECK(variance(HindsightCredit{}, both) == doctest::Approx(0.04482254562).epsilon(1e-7));
  // Of each reward alone the claim is true.
  for (const std::size_t silent : {0U, 1U}) {
    std::vector<RewardFunction> one = both;
    one[silent].value = [](const JointOutcome&) { return 0.0; };
    CHECK(variance(Hnca{.steps = 2}, one) <= variance(Hnca{}, one) + 1e-15);
    CHECK(variance(Hnca{}, one) <= variance(Reinforce{}, one) + 1e-15);
  }
}

//  a ─→ b ─→ c ─→ r1, r2      r1 = [c], r2 = -[c] + [a]/10 reads a, whose credit for it stays REINFORCE's:
//  └─────────↑                [c] no longer cancels
TEST_CASE("beside a black box that reads the node HNCA may have more variance than REINFORCE") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a});
  const NodeId c = graph.add("c", Bernoulli{}, {a, b});
  const RewardId r1 = graph.reward("r1", {c}), r2 = graph.reward("r2", {a, c});
  const std::vector<RewardFunction> both{
      {r1, [=](const JointOutcome& at) { return static_cast<double>(at(c)); }},
      {r2, [=](const JointOutcome& at) { return -at(c) + 0.1 * at(a); }}};
  const auto variance = [&](const EstimatorChoice& choice, std::span<const RewardFunction> rewards) {
    Graph chosen = graph;
    chosen.estimate_with(a, Reinforce{});
    chosen.estimate_with(a, r1, choice);
    return variance_at(model_of(chosen, {{"b/weights/a", 1}, {"c/weights/a", 1}, {"c/weights/b", 1}}),
                       rewards, "a/bias");
  };
  CHECK(variance(Reinforce{}, both) == doctest::Approx(0.000625).epsilon(1e-10));
  CHECK(variance(relaxed, both) == doctest::Approx(0.07447772876).epsilon(1e-7));
  std::vector<RewardFunction> one = both;
  one[1].value = [](const JointOutcome&) { return 0.0; };
  CHECK(variance(relaxed, one) <= variance(Reinforce{}, one));
}

//  d ─→ coins(5) ─→ majority ─→ r = 1      d is deterministic: its bias moves all five coins
TEST_CASE("parameters of deterministic nodes may scatter more under HNCA than under REINFORCE") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId d = graph.add("d", Identity{}, {x});
  const NodeId coins = graph.add("coins", Bernoulli{.units = 5}, {d});
  const NodeId majority = graph.add("majority", Bernoulli{}, {coins});
  const RewardId r = graph.reward("r", {majority});
  const std::vector<RewardFunction> one{{r, [](const JointOutcome&) { return 1.0; }}};
  const std::vector<double> zero{0};
  const std::vector<InputValues<double>> inputs{{x, {zero.data(), 1, 1}}};
  const auto variances = [&](const EstimatorChoice& choice) {
    Graph chosen = graph;
    chosen.estimate_with(coins, choice);
    // Of five values ±1 the sum is odd: the majority wins but for e^-40.
    const auto model = model_of(chosen, {{"coins/weights/d", 1}, {"majority/weights/coins", 40}});
    const Enumeration exact = enumerate<double>(model, inputs, one, {.variance = false, .covariance = true});
    const auto at = [&](const char* piece) {
      const auto i = static_cast<std::ptrdiff_t>(model.range(piece).first);
      return exact.covariance_matrix()(i, i);
    };
    return std::vector{at("coins/bias"), at("d/bias")};
  };
  const auto by_reinforce = variances(Reinforce{}), by_hnca = variances(Hnca{});
  CHECK(by_reinforce[0] == doctest::Approx(8.0 / 32).epsilon(1e-12));
  CHECK(by_hnca[0] == doctest::Approx(3.0 / 32).epsilon(1e-12));
  CHECK(by_reinforce[1] == doctest::Approx(40.0 / 32).epsilon(1e-12));
  CHECK(by_hnca[1] == doctest::Approx(45.0 / 32).epsilon(1e-12));
}

//  a ─→ d ─→ c ─→ r      d = max(0, [a] + bias) with [a] of 0 or 1: at bias 0 half of its sums lie at the
//  kink
TEST_CASE("at a kink that has probability the gradient takes the sum for flat") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.values = zero_one}, {});
  const NodeId d = graph.add("d", Relu{}, {a}), c = graph.add("c", Bernoulli{}, {d});
  const std::vector<RewardFunction> one{
      {graph.reward("r", {c}), [=](const JointOutcome& at) { return 1.0 * at(c); }}};
  const auto at = [&](double bias) {
    return enumerate<double>(model_of(graph, {{"d/weights/a", 1}, {"d/bias", bias}, {"c/weights/d", 1.5}}),
                             {}, one, {.variance = false});
  };
  const Enumeration kink = at(0);
  const std::size_t bias = model_of(graph, {}).range("d/bias").first;
  const double step = 1e-6, below = (kink.rewards[0] - at(-step).rewards[0]) / step,
               above = (at(step).rewards[0] - kink.rewards[0]) / step;
  CHECK(kink.gradient[bias] == doctest::Approx(below).epsilon(1e-5));
  CHECK(kink.estimate[bias] == doctest::Approx(below).epsilon(1e-5));
  CHECK(above - below > 0.1);
}

// A probability near 1 is rounded to 6e-8 before its logarithm is taken, however weak the edge.
TEST_CASE("evidence of weak edges is accurate absolutely and not relatively") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), c = graph.add("c", Bernoulli{}, {a});
  const RewardId r = graph.reward("r", {c});
  auto rounded = compile<float>(graph);
  auto exact = compile<double>(graph);
  BasicWorkspace<float> run = rounded.workspace(4);
  BasicWorkspace<double> judge = exact.workspace(4);
  const std::vector<Outcome> of_a{0, 0, 1, 1}, of_c{0, 1, 0, 1};
  const ForwardOptions clamped{.clamp = {{a, MatrixView<const Outcome>(of_a.data(), 4, 1)},
                                         {c, MatrixView<const Outcome>(of_c.data(), 4, 1)}}};
  const std::vector<float> rewards(4, 1.0F);
  const std::vector<double> rewards_in_double(4, 1.0);
  double absolute = 0, relative = 0;
  for (const float weight : {1.0F, 1e-1F, 1e-2F, 1e-3F, 1e-4F, 1e-5F, 1e-6F})
    for (const float bias : {-0.7F, 0.0F, 0.3F, 1.1F}) {
      rounded.parameters("c/weights/a")(0, 0) = weight;
      exact.parameters("c/weights/a")(0, 0) = static_cast<double>(weight);
      rounded.parameters("c/bias")(0) = bias;
      exact.parameters("c/bias")(0) = static_cast<double>(bias);
      rounded.forward(run, {}, clamped);
      exact.forward(judge, {}, clamped);
      rounded.backward(run, {{r, rewards}});
      exact.backward(judge, {{r, rewards_in_double}});
      for (int sample = 0; sample < 4; ++sample)
        for (int outcome = 0; outcome < 2; ++outcome) {
          if (outcome == of_a[static_cast<std::size_t>(sample)]) continue;
          const double right = judge.evidence(a)(sample, outcome);
          const double error = std::abs(static_cast<double>(run.evidence(a)(sample, outcome)) - right);
          absolute = std::max(absolute, weight < 0.5F ? error : 0);
          relative = std::max(relative, error / std::abs(right));
        }
    }
  CHECK(absolute <= 1.2e-7);
  CHECK(relative >= 1e-3);
}

// Found by search: with seed 1 the uniform of unit 0 is 0 and 1 - 2^-24, the least and the largest there are.
TEST_CASE_TEMPLATE("outcomes rarer than 2^-24 do not have their probability", S, float, double) {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  graph.reward("r", {a});
  BasicModel<S> model = compile<S>(graph, {.seed = 1});
  BasicWorkspace<S> run = model.workspace(4);
  const auto drawn = [&](double logit, std::uint32_t step) {
    model.parameters("a/bias")(0) = static_cast<S>(logit);
    run.seek({.step = step});
    model.forward(run, {});
    return run.outcomes(a)(3);
  };
  constexpr std::uint32_t least = 3759942, largest = 349317;  // steps, sample 3
  const double rare = 30 * std::log(2.0);                     // 2^-30
  CHECK(to_uniform<S>(philox(1, {0, least, 0, 0})[3]) == S(0));
  CHECK(to_uniform<S>(philox(1, {0, largest, 0, 0})[3]) == 1 - S(0x1p-24));
  // Outcome 0 of probability 2^-30 is drawn by one uniform in 2^24; outcome 1 of that probability by none.
  CHECK(drawn(rare, least) == 0);
  CHECK(drawn(-rare, largest) == 0);
  // At 2^-20 both are drawn.
  CHECK(drawn(rare * 2 / 3, least) == 0);
  CHECK(drawn(-rare * 2 / 3, largest) == 1);
}
