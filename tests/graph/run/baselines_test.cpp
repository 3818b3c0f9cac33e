#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

#include <hindsight/graph/access.hpp>

#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// What baselines might remember in the middle of a run.
std::vector<double> random_state(const internal::Plan<double>& plan, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<double> state;
  for (std::size_t i = 0; i < plan.credit.baseline_scalars; ++i) state.push_back(dice.between(0.1, 1.5));
  return state;
}

double total(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

/// Compares with the reward of the sample itself: what a baseline must not do.
struct OwnReward {
  std::string name() const { return "own-reward"; }
  int replicas() const { return 1; }
  std::size_t state_size(std::size_t) const { return 0; }
  template <class S>
  void predict(const BaselineView<S>& view, std::span<const double>, std::span<S> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = S(0.5) * view.rewards[i];
  }
  template <class S>
  void learn(const BaselineView<S>&, std::span<double>) const {}
  bool operator==(const OwnReward&) const = default;
};
static_assert(Baseline<OwnReward>);

struct ThrowingBaseline : OwnReward {
  template <class S>
  void predict(const BaselineView<S>&, std::span<const double>, std::span<S>) const {
    throw std::runtime_error("out of ideas");
  }
};

}  // namespace

TEST_CASE("frozen baselines of all kinds, per node and reward, leave every mix of estimators unbiased") {
  std::size_t remembered = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomGraph random = random_graph(
        seed,
        {.functions = seed % 4 == 0, .rows = seed % 3 == 0, .known = seed % 2 == 0, .most_states = 256});
    choose_estimators(random, seed);
    choose_baselines(random, seed);
    const BasicModel<double> model = random_model<double>(random.graph, seed);
    const std::vector<double> state = random_state(internal::Access::plan(model), seed);
    remembered += state.size();
    std::vector<std::vector<double>> storage;
    const Enumeration exact = enumerate<double>(model, random.bind(storage), random.rewards,
                                                {.variance = false, .baselines = state});
    CAPTURE(seed);
    CAPTURE(to_string(model.report()));
    CHECK(largest_difference(exact.gradient, exact.estimate) <= 1e-10);
  }
  CHECK(remembered > 500);
}

TEST_CASE("the oracle finds the bias of a baseline that sees the sample's own reward") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const RewardId r = graph.reward("r", {a});
  graph.baseline(r, OwnReward{});
  const std::vector<RewardFunction> rewards{{r, [=](const JointOutcome& at) { return 1.0 + at(a); }}};
  const Enumeration exact = enumerate<double>(random_model<double>(graph, 1), {}, rewards);
  CHECK(exact.estimate[0] == doctest::Approx(exact.gradient[0] / 2));
}

TEST_CASE_TEMPLATE("leave-one-out is unbiased: every pair and every triple of samples is enumerated", S,
                   float, double) {
  int graphs = 0;
  for (std::uint64_t seed = 0; seed < 60 && graphs < 20; ++seed) {
    RandomGraph random = random_graph(seed, {.nodes = 3,
                                             .functions = seed % 4 == 0,
                                             .rows = seed % 3 == 0,
                                             .known = seed % 2 == 0,
                                             .most_states = 16});
    choose_estimators(random, seed);
    const int samples = 2 + static_cast<int>(seed % 2);
    for (const RewardId reward : random.graph.rewards())
      random.graph.baseline(reward, LeaveOneOut{.samples = samples});
    random.graph.baseline(random.stochastic.front(), NoBaseline{});
    const BasicModel<S> model = random_model<S>(random.graph, seed);
    if (model.replicas() == 1) continue;  // nothing that learns was left to compare
    std::vector<std::vector<S>> storage;
    const Enumeration exact = enumerate<S>(model, random.bind(storage), random.rewards, {.variance = false});
    CAPTURE(seed);
    CAPTURE(to_string(model.report()));
    CHECK(largest_difference(exact.gradient, exact.estimate) <= (std::is_same_v<S, float> ? 2e-5 : 1e-10));
    ++graphs;
  }
  CHECK(graphs == 20);
}

TEST_CASE("samples of one input lie side by side, each drawn by itself") {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{.units = 16}, {x});
  const RewardId r = graph.reward("r", {a});
  graph.baseline(r, LeaveOneOut{.samples = 3});
  const Model model = compile(graph);
  Workspace run = model.workspace(12);
  const std::vector<float> rows{1, 2, 3, 4, 5, 6, 7, 8};
  model.forward(run, {{x, MatrixView<const float>(rows.data(), 4, 2)}});
  REQUIRE(run.samples() == 12);
  bool differs = false;
  for (int i = 0; i < 12; ++i) {
    CHECK(run.values(x)(i, 0) == rows[static_cast<std::size_t>(i / 3 * 2)]);
    CHECK(run.values(x)(i, 1) == rows[static_cast<std::size_t>(i / 3 * 2 + 1)]);
    for (int unit = 0; unit < 16; ++unit)
      differs = differs || run.outcomes(a)(i, unit) != run.outcomes(a)(i / 3 * 3, unit);
  }
  CHECK(differs);
  // The same values, read across.
  std::vector<float> turned(8);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 2; ++j) turned[j * 4 + i] = rows[i * 2 + j];
  Workspace other = model.workspace(12);
  model.forward(other, {{x, MatrixView<const float>(turned.data(), 4, 2, 1, 4)}});
  for (int i = 0; i < 12; ++i)
    for (int unit = 0; unit < 16; ++unit) CHECK(other.outcomes(a)(i, unit) == run.outcomes(a)(i, unit));
}

TEST_CASE("a running mean forgets by its decay and begins with the first batch") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const RewardId r = graph.reward("r", {a});
  graph.baseline(r, RunningMean{.decay = 0.5});
  const BasicModel<double> model = compile<double>(graph);
  auto run = model.workspace(2);
  std::vector<double> seen;
  const std::vector<std::vector<double>> batches{{3, 5}, {6, 10}, {1, 1}};
  for (const std::vector<double>& batch : batches) {
    model.forward(run, {});
    model.backward(run, {{r, batch}});
    // REINFORCE's weight of the sampled outcome is the signal times the sample's share.
    seen.push_back(batch[0] - 2 * run.credit(a)(0, run.outcomes(a)(0)));
  }
  CHECK(seen[0] == 0);
  CHECK(seen[1] == doctest::Approx(4));
  CHECK(seen[2] == doctest::Approx((0.25 * 4 + 0.5 * 8) / 0.75));
}

//  x ─→ a ─→ b ─→ r
TEST_CASE("a running mean that learns is unbiased in the long run") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const NodeId b = graph.add("b", Categorical{.classes = 3}, {a});
  const RewardId r = graph.reward("r", {b});
  graph.baseline(r, RunningMean{.decay = 0.9});
  const BasicModel<double> model = random_model<double>(graph, 11);
  const std::vector<double> one{1};
  const std::vector<RewardFunction> rewards{{r, [=](const JointOutcome& at) { return 2.0 + at(b) * at(b); }}};
  const std::vector<InputValues<double>> inputs{{x, one}};
  const Enumeration exact = enumerate<double>(model, inputs, rewards);
  // Batches of one sample at frozen parameters, seed 11. Their gradients are uncorrelated given the past,
  // since the baseline is fixed before each is drawn: the mean of n has the standard error that they
  // themselves show. Five of those for each of the parameters: a true bias of 0 fails with probability below
  // 1e-5.
  constexpr int batches = 200000;
  auto run = model.workspace(1);
  std::vector<double> sum(model.parameters().size()), squares(sum.size()), values(1);
  for (int i = 0; i < batches; ++i) {
    model.forward(run, inputs);
    values[0] = 2.0 + run.outcomes(b)(0) * run.outcomes(b)(0);
    model.backward(run, {{r, values}});
    for (std::size_t p = 0; p < sum.size(); ++p) {
      sum[p] += run.gradient()[p];
      squares[p] += run.gradient()[p] * run.gradient()[p];
    }
  }
  double with = 0;
  for (std::size_t p = 0; p < sum.size(); ++p) {
    const double mean = sum[p] / batches, variance = squares[p] / batches - mean * mean;
    with += variance;
    CAPTURE(p);
    CHECK(std::abs(mean - exact.gradient[p]) <= 5 * std::sqrt(variance / batches));
  }
  // And worth it: without a baseline the variance is higher.
  CHECK(with < 0.7 * total(exact.variance));
}

//  x(3) ─→ a ─→ r, and r depends on x much more than on a
TEST_CASE("a linear critic learns what the inputs tell, and is exact where that is linear") {
  Graph graph;
  const NodeId x = graph.input("x", 3);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const RewardId r = graph.reward("r", {x, a});
  const BasicModel<double> plain = random_model<double>(graph, 2);
  graph.baseline(r, LinearCritic{.rate = 0.5});
  const BasicModel<double> model = random_model<double>(graph, 2);
  Dice dice(5);
  std::vector<double> rows;
  for (int i = 0; i < 32 * 3; ++i) rows.push_back(dice.between(-1, 1));
  const auto value = [&](int row, Outcome outcome) {
    const auto at = static_cast<std::size_t>(3 * row);
    return 5 * rows[at] - 3 * rows[at + 1] + 4 + 0.1 * outcome;
  };
  const std::vector<InputValues<double>> inputs{{x, MatrixView<const double>(rows.data(), 32, 3)}};
  auto run = model.workspace(32);
  std::vector<double> values(32);
  for (int step = 0; step < 300; ++step) {
    model.forward(run, inputs);
    for (int i = 0; i < 32; ++i) values[static_cast<std::size_t>(i)] = value(i, run.outcomes(a)(i));
    model.backward(run, {{r, values}});
  }
  CHECK(run.baselines()[0] == doctest::Approx(5).epsilon(0.02));
  CHECK(run.baselines()[1] == doctest::Approx(-3).epsilon(0.02));
  const std::vector<RewardFunction> rewards{
      {r, [&](const JointOutcome& at) { return value(at.input_row(), at(a)); }}};
  const Enumeration without = enumerate<double>(plain, inputs, rewards),
                    with = enumerate<double>(model, inputs, rewards, {.baselines = run.baselines()});
  CHECK(largest_difference(with.gradient, with.estimate) <= 1e-10);
  CHECK(total(with.variance) < 0.01 * total(without.variance));
}

TEST_CASE("baselines leave nothing to the number of threads, and learn nothing from a batch that fails") {
  Graph graph;
  const NodeId x = graph.input("x", 4);
  const NodeId a = graph.add("a", Bernoulli{.units = 8}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const RewardId r = graph.reward("r", {b});
  graph.baseline(r, LinearCritic{});
  graph.baseline(a, RunningMean{});
  const Model model = compile(graph, {.seed = 3});
  std::vector<float> inputs(200 * 4), rewards(200);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    inputs[i] = static_cast<float>(std::sin(0.7 * static_cast<double>(i)));
  for (std::size_t i = 0; i < rewards.size(); ++i) rewards[i] = static_cast<float>(i % 7);
  const auto train = [&](int threads) {
    Workspace run = model.workspace(200, {.threads = threads});
    for (int step = 0; step < 4; ++step) {
      model.forward(run, {{x, MatrixView<const float>(inputs.data(), 200, 4)}});
      model.backward(run, {{r, rewards}});
    }
    return run;
  };
  Workspace one = train(1);
  const Workspace three = train(3);
  CHECK(std::equal(one.gradient().begin(), one.gradient().end(), three.gradient().begin()));
  CHECK(std::equal(one.baselines().begin(), one.baselines().end(), three.baselines().begin()));

  const std::vector<double> before(one.baselines().begin(), one.baselines().end());
  rewards[7] = std::nanf("");
  CHECK_THROWS_AS(model.backward(one, {{r, rewards}}), Error);
  CHECK(std::equal(before.begin(), before.end(), one.baselines().begin()));
}

TEST_CASE("the choice for a pair goes before that for the node, and that before the one for the reward") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a});
  const RewardId r = graph.reward("r", {a, b}), s = graph.reward("s", {b});
  graph.baseline(r, RunningMean{});
  graph.baseline(b, LinearCritic{});
  graph.baseline(b, s, NoBaseline{});
  const Report report = validate(graph);
  REQUIRE(report.credits.size() == 4);
  CHECK(report.credits[0].baseline == "running-mean");
  CHECK(report.credits[1].baseline.empty());
  CHECK(report.credits[2].baseline == "linear-critic");
  CHECK(report.credits[3].baseline.empty());
  CHECK(to_string(report).find("reinforce − running-mean") != std::string::npos);

  const Graph read = parse_graph(to_dot(graph), GraphFormat::dot);
  CHECK(to_dot(read) == to_dot(graph));
  CHECK(validate(read).credits[2].baseline == "linear-critic");
}

TEST_CASE("mistakes with baselines are told") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x}), b = graph.add("b", Bernoulli{}, {a});
  const RewardId r = graph.reward("r", {b});
  CHECK(refusal([&] { graph.baseline(r, RunningMean{.decay = 1}); }) ==
        "error[baseline-option]: running-mean: its decay is 1; it lies from 0 to below 1\n"
        "  help: RunningMean{.decay = 0.99}");
  CHECK(refusal([&] { graph.baseline(r, LeaveOneOut{.samples = 1}); }) ==
        "error[baseline-option]: leave-one-out: with 1 samples of an input there is no other one to compare "
        "with\n"
        "  help: LeaveOneOut{.samples = 4}");
  CHECK(refusal([&] { graph.baseline(r, LinearCritic{.rate = 2}); }) ==
        "error[baseline-option]: linear-critic: its rate is 2; it lies between 0 and 2, beyond which it "
        "diverges\n"
        "  help: LinearCritic{.rate = 0.1}");

  Graph two = graph;
  two.baseline(a, LeaveOneOut{.samples = 2});
  two.baseline(b, LeaveOneOut{.samples = 3});
  CHECK(refusal([&] { compile(two); })
            .find("error[replicas-differ]: node 'b': its baseline leave-one-out(samples=3) wants 3 samples "
                  "of each input, but leave-one-out(samples=2) wants 2\n"
                  "  help: graph.baseline(b, r, NoBaseline{});   // or one that wants as many") !=
        std::string::npos);
  CHECK_THROWS_AS(graph.baseline(r, LeaveOneOut{.samples = 2000000000}), Error);

  Graph four = graph;
  four.baseline(r, LeaveOneOut{});
  const Model model = compile(four);
  CHECK(
      refusal([&] { model.workspace(3); }) ==
      "error[batch-size]: a workspace for 3 samples cannot run: its baselines want 4 samples of each input\n"
      "  help: model.workspace(64)");
  Workspace run = model.workspace(8);
  const std::vector<float> three{1, 2, 3};
  CHECK(refusal([&] {
          model.forward(run, {{x, three}});
        }) ==
        "error[batch-size]: node 'x': it was given 3 rows, of which the baselines want 4 samples each; this "
        "workspace runs up to 8 samples\n"
        "  help: auto run = model.workspace(12);");
  const std::vector<float> inputs{1, 2};
  CHECK(refusal([&] {
          model.forward(run, {{x, inputs}}, {.samples = 6});
        }) ==
        "error[batch-size]: 6 samples were asked for; the baselines want 4 samples of each input\n"
        "  help: {.samples = 4}");
  const std::vector<RewardFunction> rewards{{r, [](const JointOutcome&) { return 0.0; }}};
  CHECK(refusal([&] {
          const std::vector<double> state{1, 2};
          const std::vector<InputValues<float>> given{{x, std::span(inputs)}};
          enumerate(model, given, rewards, {.baselines = state});
        }) ==
        "error[baseline-state]: 2 numbers were given for baselines that remember 0\n"
        "  help: {.baselines = run.baselines()}   // of a workspace of this model");

  Graph failing = graph;
  failing.baseline(r, ThrowingBaseline{});
  const Model broken = compile(failing);
  Workspace other = broken.workspace(1);
  const std::vector<float> one{1};
  broken.forward(other, {{x, one}});
  CHECK(refusal([&] {
          broken.backward(other, {{r, one}});
        }) ==
        "error[baseline-threw]: the baseline own-reward of reward 'r' threw: out of ideas\n"
        "  help: let it answer whatever it is asked; to refuse with a reason of its own, let it throw Error");

  Graph diverged = graph;
  diverged.baseline(r, LinearCritic{});
  const Model critic = compile(diverged);
  Workspace third = critic.workspace(1);
  third.baselines()[0] = std::nan("");
  critic.forward(third, {{x, one}});
  CHECK(refusal([&] {
          critic.backward(third, {{r, one}});
        }) ==
        "error[baseline-not-finite]: the baseline linear-critic of reward 'r' is nan in sample 0\n"
        "  help: lower its rate, or scale the inputs: it has diverged");
}

TEST_CASE("files name baselines and their options") {
  const std::string text =
      "digraph { x [kind=input]; a [kind=bernoulli \"baseline:r\"=\"running-mean( decay = 0.5 )\"]; r "
      "[kind=reward "
      "baseline=\"leave-one-out(samples=2)\"]; x -> a -> r; }";
  const Graph graph = parse_graph(text, GraphFormat::dot);
  CHECK(graph.baseline_of({1}, {0}).chosen()->name() == "running-mean(decay=0.5)");
  CHECK(graph.chosen_baseline(RewardId{0})->chosen()->name() == "leave-one-out(samples=2)");
  const auto said = [&](const std::string& baseline) {
    return refusal([&] {
      parse_graph("digraph { x [kind=input]; a [kind=bernoulli baseline=\"" + baseline + "\"]; x -> a; }",
                  GraphFormat::dot, "net");
    });
  };
  CHECK(said("runing-mean") ==
        "net:1: error[unknown-baseline]: node 'a': there is no baseline called 'runing-mean'; did you mean "
        "'running-mean'?\n  help: baseline one of: running-mean, leave-one-out, linear-critic, none");
  CHECK(said("running-mean(decay=0.5") ==
        "net:1: error[bad-expression]: node 'a': 'running-mean(decay=0.5' is not a name with options\n"
        "  help: name, or name(option=value,option=value)");
  CHECK(said("running-mean(decy=0.5)").starts_with("net:1: error[unknown-attribute]"));
  CHECK(said("running-mean(decay=2)").starts_with("net:1: error[baseline-option]"));
}
