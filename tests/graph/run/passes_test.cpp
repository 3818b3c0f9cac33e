#include <algorithm>
#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// All outcomes of the last forward pass, as clamps that can be edited.
struct Recorded {
  std::vector<NodeId> nodes;
  std::vector<std::vector<Outcome>> outcomes;  ///< per node, sample after sample

  Recorded(const BasicWorkspace<double>& run, const std::vector<NodeId>& of) : nodes(of) {
    for (const NodeId node : nodes) {
      const auto seen = run.outcomes(node);
      std::vector<Outcome>& values = outcomes.emplace_back();
      for (std::ptrdiff_t i = 0; i < seen.rows(); ++i)
        for (std::ptrdiff_t unit = 0; unit < seen.cols(); ++unit) values.push_back(seen(i, unit));
    }
  }
  ForwardOptions clamp(const Graph& graph, int samples) const {
    ForwardOptions options;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      options.clamp.push_back(
          {nodes[n], MatrixView<const Outcome>(outcomes[n].data(), samples, graph.shape(nodes[n]).units)});
    return options;
  }
};

double log_likelihood(const Graph& graph, const BasicWorkspace<double>& run, std::span<const NodeId> nodes) {
  double sum = 0;
  for (const NodeId node : nodes)
    for (int unit = 0; unit < graph.shape(node).units; ++unit)
      sum += run.log_probs(node)(0, unit * graph.shape(node).outcome_count() + run.outcomes(node)(0, unit));
  return sum;
}

}  // namespace

TEST_CASE(
    "evidence is what the children's likelihood changes when one unit's outcome is changed, on random DAGs") {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomGraph random = random_graph(seed, {.nodes = 6, .most_states = 1e9});
    for (const NodeId node : random.stochastic)
      for (const RewardId reward : random.graph.rewards()) {
        const auto reads = random.graph.reads(reward);
        const bool direct = std::find(reads.begin(), reads.end(), node) != reads.end();
        if (!direct) random.graph.estimate_with(node, reward, Hnca{.assumption = Assumption::relaxed});
      }
    const auto model = random_model<double>(random.graph, seed);
    auto run = model.workspace(1), changed = model.workspace(1);
    std::vector<std::vector<double>> storage;
    const auto inputs = random.bind(storage);
    model.forward(run, inputs);
    const std::vector<double> one{1.0};
    std::vector<RewardValues<double>> rewards;
    for (const RewardId reward : random.graph.rewards()) rewards.push_back({reward, one});
    model.backward(run, rewards);
    for (std::size_t n = 0; n < random.stochastic.size(); ++n) {
      const NodeId node = random.stochastic[n];
      const Report& report = model.report();
      const bool wanted =
          std::any_of(report.credits.begin(), report.credits.end(), [&](const CreditVerdict& credit) {
            return credit.node == random.graph.name(node) && credit.estimator != "reinforce";
          });
      if (!wanted) continue;
      const int outcome_count = random.graph.shape(node).outcome_count();
      for (int unit = 0; unit < random.graph.shape(node).units; ++unit)
        for (int k = 0; k < outcome_count; ++k) {
          Recorded recorded(run, random.stochastic);
          recorded.outcomes[n][static_cast<std::size_t>(unit)] = k;
          model.forward(changed, inputs, recorded.clamp(random.graph, 1));
          const auto children = random.graph.children(node);
          const double expected =
              log_likelihood(random.graph, changed, children) - log_likelihood(random.graph, run, children);
          CAPTURE(seed);
          CHECK(run.evidence(node)(0, unit * outcome_count + k) ==
                doctest::Approx(expected).epsilon(1e-10).scale(1));
          ++compared;
        }
    }
  }
  CHECK(compared > 500);
}

TEST_CASE("the gradient of a batch is the mean over its samples, in workspaces of any capacity") {
  RandomGraph random = random_graph(17, {.nodes = 6, .most_states = 1e9});
  choose_estimators(random, 17);
  const auto model = random_model<double>(random.graph, 17);
  constexpr int samples = 70;
  std::vector<std::vector<double>> values;
  std::vector<InputValues<double>> batch;
  Dice dice(5);
  for (const NodeId input : random.inputs) {
    auto& column = values.emplace_back(static_cast<std::size_t>(samples * random.graph.shape(input).units));
    for (double& value : column) value = dice.between(-1, 1);
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    batch.push_back({random.inputs[i], MatrixView<const double>(values[i].data(), samples,
                                                                random.graph.shape(random.inputs[i]).units)});
  std::vector<double> reward(samples);
  for (double& value : reward) value = dice.between(-1, 1);
  std::vector<RewardValues<double>> rewards;
  for (const RewardId each : random.graph.rewards()) rewards.push_back({each, reward});
  auto run = model.workspace(100);
  model.forward(run, batch);
  model.backward(run, rewards);
  const Recorded recorded(run, random.stochastic);

  std::vector<double> mean(model.parameters().size(), 0.0);
  auto single = model.workspace(1);
  for (int i = 0; i < samples; ++i) {
    std::vector<InputValues<double>> inputs;
    for (const auto& [node, rows] : batch)
      inputs.push_back({node, MatrixView<const double>(&rows(i, 0), 1, rows.cols())});
    ForwardOptions options;
    for (std::size_t n = 0; n < random.stochastic.size(); ++n) {
      const int units = random.graph.shape(random.stochastic[n]).units;
      options.clamp.push_back({random.stochastic[n],
                               MatrixView<const Outcome>(recorded.outcomes[n].data() + i * units, 1, units)});
    }
    model.forward(single, inputs, options);
    std::vector<RewardValues<double>> one;
    for (const RewardId each : random.graph.rewards())
      one.push_back({each, std::span(&reward[static_cast<std::size_t>(i)], 1)});
    model.backward(single, one);
    for (std::size_t p = 0; p < mean.size(); ++p) mean[p] += single.gradient()[p] / samples;
  }
  for (std::size_t p = 0; p < mean.size(); ++p)
    CHECK(run.gradient()[p] == doctest::Approx(mean[p]).epsilon(1e-12).scale(1));
}

TEST_CASE("a node is credited only by rewards downstream of it, and rewards add up") {
  //  x ─→ a ─→ b ─→ left
  //  └──→ c ─→ d ─→ right
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {x});
  const NodeId b = graph.add("b", Categorical{.classes = 3}, {a});
  const NodeId c = graph.add("c", Bernoulli{.units = 2}, {x});
  const NodeId d = graph.add("d", Categorical{.classes = 3}, {c});
  const RewardId left = graph.reward("left", {b}), right = graph.reward("right", {d});
  const auto model = random_model<double>(graph, 3);
  CHECK(model.report().credits.size() == 4);
  auto run = model.workspace(8);
  const std::vector<double> inputs(16, 0.5), ones(8, 1.0), zeros(8, 0.0), twos(8, 2.0);
  model.forward(run, {{x, MatrixView<const double>(inputs.data(), 8, 2)}});
  const auto gradient = [&](const std::vector<double>& of_left, const std::vector<double>& of_right) {
    model.backward(run, {{left, of_left}, {right, of_right}});
    return std::vector<double>(run.gradient().begin(), run.gradient().end());
  };
  const auto only_left = gradient(ones, zeros), only_right = gradient(zeros, twos),
             both = gradient(ones, twos);
  for (std::size_t i = 0; i < both.size(); ++i)
    CHECK(both[i] == doctest::Approx(only_left[i] + only_right[i]).epsilon(1e-13));
  const std::size_t split = model.range("c/weights/x").first;
  for (std::size_t i = 0; i < both.size(); ++i) CHECK((i < split ? only_right[i] : only_left[i]) == 0);
  CHECK(*std::max_element(only_left.begin(), only_left.end()) > 0);
}

TEST_CASE("clamped outcomes are kept, and everything downstream sees them") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {});
  const NodeId b = graph.add("b", Table{.rows = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.5, 0, 0.5}}}, {a});
  graph.reward("r", {b});
  const Model model = compile(graph, {.seed = 1});
  auto run = model.workspace(3);
  const std::vector<Outcome> fixed{0, 0, 0, 1, 1, 0};
  model.forward(run, {}, {.clamp = {{a, MatrixView<const Outcome>(fixed.data(), 3, 2)}}});
  for (int i = 0; i < 3; ++i) {
    CHECK(run.outcomes(a)(i, 0) == fixed[static_cast<std::size_t>(2 * i)]);
    CHECK(run.outcomes(a)(i, 1) == fixed[static_cast<std::size_t>(2 * i + 1)]);
    CHECK(run.outcomes(b)(i) == i);  // row i of the table is certain
  }
  model.forward(run, {});
  bool varied = false;
  for (int step = 0; step < 20; ++step) {
    model.forward(run, {});
    varied = varied || run.outcomes(a)(0, 0) != 0;
  }
  CHECK(varied);  // the clamp ended with its call
}

TEST_CASE_TEMPLATE("outcomes occur as often as their probabilities say", S, float, double) {
  // 65,536 samples, seed 4: each frequency has standard deviation below 0.5/256 = 0.00196; five of them is
  // 0.0098, and the chance that any of the 6 checks fails by luck is below 6·6e-7.
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Categorical{.classes = 4}, {a});
  graph.reward("r", {b});
  const auto model = random_model<S>(graph, 4);
  constexpr int samples = 65536;
  auto run = model.workspace(samples);
  model.forward(run, {});
  const double fired = std::exp(static_cast<double>(run.log_probs(a)(0, 1)));
  std::vector<double> expected(4, 0.0), seen(4, 0.0);
  double seen_fired = 0;
  for (int i = 0; i < samples; ++i) {
    seen_fired += run.outcomes(a)(i) / static_cast<double>(samples);
    seen[static_cast<std::size_t>(run.outcomes(b)(i))] += 1.0 / samples;
    for (int k = 0; k < 4; ++k)
      expected[static_cast<std::size_t>(k)] +=
          std::exp(static_cast<double>(run.log_probs(b)(i, k))) / samples;
  }
  CHECK(std::abs(seen_fired - fired) < 0.0098);
  for (std::size_t k = 0; k < 4; ++k) CHECK(std::abs(seen[k] - expected[k]) < 0.0098);
}

TEST_CASE_TEMPLATE("logits of ten thousand give finite and exact gradients through a whole graph", S, float,
                   double) {
  //  a ─→ b ─→ c ─→ r, every weight ±10,000 but the last
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const NodeId c = graph.add("c", Categorical{.classes = 3}, {b});
  const RewardId reward = graph.reward("r", {c});
  auto model = compile<S>(graph, {.seed = 1});
  std::fill(model.parameters().begin(), model.parameters().end(), S(0));
  model.parameters("b/weights/a")(0) = S(1e4);
  for (int k = 0; k < 3; ++k) model.parameters("c/weights/b")(k) = S(k == 1 ? -1e4 : 1e4);
  model.parameters("c/bias")(0) = S(0.5);
  const std::vector<RewardFunction> value{
      {reward, [=](const JointOutcome& outcome) { return outcome(c) == 1 ? 2.0 : outcome(c); }}};
  const Enumeration exact = enumerate<S>(model, {}, value);
  // b copies a; c is 1 if b is off, else 0 or 2 with odds e^0.5 : 1, so E[r] = ½·2 + ½·2·σ(-0.5).
  const double q = 1 / (1 + std::exp(0.5));
  CHECK(exact.rewards[0] == doctest::Approx(1 + q).epsilon(1e-6));
  // dE/d(a's bias) = p(1-p)·(E[r | a=1] - E[r | a=0]) = ¼·(2q - 2)
  const std::size_t bias_of_a = model.range("a/bias").first;
  CHECK(exact.gradient[bias_of_a] == doctest::Approx(0.25 * (2 * q - 2)).epsilon(1e-6));
  for (std::size_t i = 0; i < exact.estimate.size(); ++i) {
    CHECK(std::isfinite(exact.estimate[i]));
    CHECK(exact.estimate[i] == doctest::Approx(exact.gradient[i]).epsilon(1e-6).scale(1));
  }
}
