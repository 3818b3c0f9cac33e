#include "tool/statistics.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <hindsight/core/report.hpp>

using namespace hindsight;
using namespace hindsight::tool;
using doctest::Approx;

namespace {

/// A run with these accuracies; what it does not have of its epochs it lost by diverging.
RunResult run(int exponent, int seed, const std::vector<double>& accuracies, int epochs = 0) {
  const int asked = epochs == 0 ? static_cast<int>(accuracies.size()) : epochs;
  return {.settings = {.data = "mnist",
                       .method = "hnca",
                       .values = "-1,1",
                       .optimizer = "sgd",
                       .rate_exponent = exponent,
                       .seed = seed,
                       .epochs = asked},
          .diverged = accuracies.size() < static_cast<std::size_t>(asked),
          .train_reward = accuracies,
          .test_accuracy_sampled = accuracies,
          .test_accuracy_mean = accuracies};
}

RunResult with_method(RunResult result, const std::string& method, int depth) {
  result.settings.method = method;
  result.settings.depth = depth;
  return result;
}

}  // namespace

TEST_CASE("quantiles of Student's t agree with printed tables") {
  const std::vector<std::pair<int, double>> table = {
      {1, 12.7062},  {2, 4.30265},  {3, 3.18245},  {4, 2.77645},  {5, 2.57058},   {6, 2.44691},
      {7, 2.36462},  {8, 2.30600},  {9, 2.26216},  {10, 2.22814}, {14, 2.14479},  {19, 2.09302},
      {24, 2.06390}, {29, 2.04523}, {30, 2.04227}, {60, 2.00030}, {100, 1.98397}, {1000, 1.96234}};
  for (const auto& [degrees, quantile] : table) CHECK(student_t(degrees) == Approx(quantile).epsilon(3e-6));
  CHECK(student_t(1) == Approx(std::tan(0.475 * std::acos(-1.0))).epsilon(1e-12));
}

TEST_CASE("Student's t without a degree of freedom is refused") {
  CHECK_THROWS_WITH_AS(student_t(0),
                       "error[statistics]: Student's t needs at least 1 degree of freedom, found 0\n"
                       "  help: give at least two values",
                       Error);
}

// Deviations from 2.5 are ±0.5 and ±1.5: their squares sum to 5, the variance is 5/3, the error √(5/12).
TEST_CASE("a sample of four is summarised as by hand") {
  const Summary summary = summarise(std::vector<double>{1, 2, 3, 4});
  CHECK(summary.count == 4);
  CHECK(summary.mean == Approx(2.5));
  CHECK(summary.standard_error == Approx(0.6454972));
  CHECK(summary.half_width == Approx(2.054260));
}

TEST_CASE("samples of one value or none have no spread") {
  const Summary one = summarise(std::vector<double>{0.7});
  CHECK(one.count == 1);
  CHECK(one.mean == 0.7);
  CHECK(one.standard_error == 0);
  CHECK(one.half_width == 0);
  const Summary none = summarise({});
  CHECK(none.count == 0);
  CHECK(none.mean == 0);
}

TEST_CASE("of runs that differ only in epochs the longest counts") {
  const std::vector<RunResult> results = {run(-4, 1, {0.5, 0.6}), run(-4, 1, {0.5, 0.6, 0.7}),
                                          run(-4, 1, {0.5}), run(-4, 2, {0.4})};
  const std::vector<RunResult> longest = longest_runs(results);
  REQUIRE(longest.size() == 2);
  CHECK(longest[0] == results[1]);
  CHECK(longest[1] == results[3]);
}

TEST_CASE("accuracy at an epoch is 0 once the run has diverged and unknown beyond what was asked") {
  const RunResult diverged = run(-1, 0, {0.3, 0.2}, 5);
  CHECK(accuracy_at(diverged, 2) == 0.2);
  CHECK(accuracy_at(diverged, 3) == 0.0);
  CHECK(accuracy_at(diverged, 5) == 0.0);
  CHECK_FALSE(accuracy_at(diverged, 6));
  CHECK_FALSE(accuracy_at(diverged, 0));
}

// The best mean is 0.91 at 2^-5, with standard error 0.01: 0.90 is just within, 0.895 is not.
TEST_CASE("the best rate is the highest within one standard error of the best mean") {
  const std::vector<RunResult> results = {run(-6, 1, {0.80}), run(-6, 2, {0.80}), run(-5, 1, {0.90}),
                                          run(-5, 2, {0.92}), run(-4, 1, {0.90}), run(-4, 2, {0.90}),
                                          run(-3, 1, {0.89}), run(-3, 2, {0.90})};
  const std::optional<BestRate> best = best_rate(results, 1);
  REQUIRE(best);
  CHECK(best->exponent == -4);
  CHECK(best->mean == Approx(0.90));
  CHECK(best->standard_error == Approx(0).epsilon(1e-12));
  CHECK(best->seeds == 2);
}

TEST_CASE("a rate beyond a gap can still be the best") {
  const std::vector<RunResult> results = {run(-5, 1, {0.90}), run(-5, 2, {0.92}), run(-4, 1, {0.70}),
                                          run(-3, 1, {0.905})};
  CHECK(best_rate(results, 1)->exponent == -3);
}

TEST_CASE("of single seeds the best accuracy wins, and the highest rate where they tie") {
  CHECK(best_rate(std::vector{run(-5, 1, {0.91}), run(-4, 1, {0.90})}, 1)->exponent == -5);
  CHECK(best_rate(std::vector{run(-5, 1, {0.91}), run(-4, 1, {0.91})}, 1)->exponent == -4);
}

// Both means are 0.9; that of 2^-4 comes without spread and, being the higher rate's, sets the bound.
TEST_CASE("of tied best means the highest rate lends its standard error") {
  const std::vector<RunResult> results = {run(-5, 1, {0.8}), run(-5, 2, {1.0}),  run(-4, 1, {0.9}),
                                          run(-4, 2, {0.9}), run(-3, 1, {0.85}), run(-3, 2, {0.85})};
  CHECK(best_rate(results, 1)->exponent == -4);
}

TEST_CASE("a rate that diverges on some seeds pays for it") {
  const std::vector<RunResult> results = {run(-5, 1, {0.5, 0.90}), run(-5, 2, {0.5, 0.91}),
                                          run(-4, 1, {0.6, 0.95}), run(-4, 2, {0.6}, 2)};
  CHECK(best_rate(results, 2)->exponent == -5);
  CHECK(best_rate(results, 1)->exponent == -4);
}

TEST_CASE("only rates that were tried to an epoch compete there") {
  const std::vector<RunResult> results = {run(-5, 1, {0.5, 0.6}), run(-4, 1, {0.7}), run(-4, 1, {0.7, 0.2})};
  CHECK(best_rate(results, 1)->exponent == -4);
  CHECK(best_rate(results, 2)->exponent == -5);
  CHECK_FALSE(best_rate(results, 3));
  CHECK_FALSE(best_rate({}, 1));
}

TEST_CASE("results of different experiments are not averaged") {
  RunResult other = run(-4, 2, {0.9});
  other.settings.values = "0,1";
  CHECK_THROWS_WITH_AS(
      best_rate(std::vector{run(-4, 1, {0.9}), other}, 1),
      "error[results-mixed]: results of hnca with 1 hidden layer differ in values: '-1,1' and '0,1'\n"
      "  help: keep the results of one choice of values, and show the other by itself",
      Error);
  CHECK_THROWS_WITH_AS(
      mean_curve(std::vector{run(-4, 1, {0.9}), run(-3, 1, {0.9})}, Measure::train_reward),
      "error[results-mixed]: a curve over seeds needs runs of one learning rate, found 2^-4 and 2^-3\n"
      "  help: keep the runs of one rate, for example that of best_rate(results, epoch)",
      Error);
}

TEST_CASE("a mean curve takes the longest runs and counts a diverged one as 0") {
  const std::vector<RunResult> results = {run(-4, 1, {0.2, 0.4, 0.8}), run(-4, 2, {0.4, 0.6, 1.0}),
                                          run(-4, 3, {0.9, 0.9}), run(-4, 4, {0.6}, 3)};
  const std::vector<Summary> curve = mean_curve(results, Measure::test_accuracy_mean);
  REQUIRE(curve.size() == 3);
  CHECK(curve[0].mean == Approx(0.4));
  CHECK(curve[1].mean == Approx(1.0 / 3));
  CHECK(curve[2].mean == Approx(0.6));
  CHECK(curve[2].count == 3);
  CHECK(mean_curve({}, Measure::train_reward).empty());
}

TEST_CASE("epochs to a reward are counted on the mean over seeds") {
  const std::vector<RunResult> results = {run(-4, 1, {0.90, 0.90, 0.95}), run(-4, 2, {0.50, 0.89, 0.95})};
  CHECK(epochs_to(results, 0.7) == 1);
  CHECK(epochs_to(results, 0.9) == 3);
  CHECK_FALSE(epochs_to(results, 0.96));
  CHECK_FALSE(epochs_to({}, 0.5));
}

// Explored for one epoch at three rates; the best of them taken to three epochs.
TEST_CASE("an experiment compares rates where all ran and takes curves from the longest runs") {
  std::vector<RunResult> results = {run(-5, 1, {0.5}), run(-4, 1, {0.7}), run(-3, 1, {0.75})};
  results.push_back(run(-4, 1, {0.7, 0.8, 0.92}));
  results.push_back(run(-4, 2, {0.5, 0.9, 0.94}));
  results.push_back(with_method(run(-8, 1, {0.3}), "reinforce", 2));
  const Experiment experiment = evaluate(results);
  CHECK(experiment.common_epoch == 1);
  CHECK(experiment.lowest_rate == -8);
  CHECK(experiment.highest_rate == -3);
  CHECK(experiment.epochs == 3);
  CHECK(experiment.lowest_end == 0.3);
  CHECK(experiment.labels == std::map<std::size_t, std::string>{{0, "HNCA"}, {1, "REINFORCE"}});
  REQUIRE(experiment.by_network.size() == 2);
  REQUIRE(experiment.by_network.at({1}).size() == 1);
  const MethodOutcome& hnca = experiment.by_network.at({1})[0];
  REQUIRE(hnca.scores.size() == 3);
  CHECK(hnca.scores[1].accuracies == std::vector{0.7, 0.5});
  CHECK(hnca.best.exponent == -4);
  CHECK(hnca.best.seeds == 2);
  CHECK(hnca.curve.size() == 3);
  CHECK(hnca.epochs_to_90 == 3);
  CHECK(evaluate({}).by_network.empty());
}

// Explored at 2^-4 and 2^-3 by one seed, which was lucky at both.
TEST_CASE("a rate that was only explored does not compete with one that more seeds were given to") {
  const std::vector<RunResult> results = {run(-4, 0, {0.8}), run(-3, 0, {0.9}), run(-5, 0, {0.7}),
                                          run(-3, 1, {0.5}), run(-3, 2, {0.5})};
  const Experiment experiment = evaluate(results);
  const MethodOutcome& outcome = experiment.by_network.at({1})[0];
  CHECK(outcome.best.exponent == -3);
  CHECK(outcome.best.seeds == 3);
  CHECK(outcome.scores.size() == 3);
}

TEST_CASE("the table has a row for each depth and method") {
  const std::vector<RunResult> results = {with_method(run(-9, 1, {0.5, 0.95}), "backprop-relu", 3),
                                          with_method(run(-8, 1, {0.4, 0.5}), "reinforce", 1),
                                          run(-4, 1, {0.7, 0.96}), run(-4, 2, {0.5, 0.94})};
  CHECK(
      results_table(results) ==
      "| hidden layers | method | best rate | seeds | epochs | final accuracy (%) | epochs to 90 % reward |\n"
      "|---:|:---|---:|---:|---:|---:|---:|\n"
      "| 1 | HNCA | 2^-4 | 2 | 2 | 95.00 ± 12.71 | 2 |\n"
      "| 1 | REINFORCE | 2^-8 | 1 | 2 | 50.00 | not reached |\n"
      "| 3 | backprop, ReLU | 2^-9 | 1 | 2 | 95.00 | 2 |\n");
}

TEST_CASE("methods that the paper has not follow those that it has, by name, and label themselves") {
  std::vector<RunResult> results;
  for (const char* method : {"straight-through", "hnca + running-mean", "reinforce", "backprop-relu"})
    results.push_back(with_method(run(-4, 1, {0.5}), method, 1));
  CHECK(evaluate(results).labels ==
        std::map<std::size_t, std::string>{
            {1, "REINFORCE"}, {4, "backprop, ReLU"}, {5, "hnca + running-mean"}, {6, "straight-through"}});
}

// Rewards differ from accuracies here, so that the table shows which it takes. At the rate that is best by
// accuracy, 2^-4, the rewards of two seeds are 0.6 and 0.8: their mean is 0.7, and the half width t·0.1.
TEST_CASE("the table of rewards has a row for each network and a column for each method") {
  const auto rewarded = [](RunResult result, const std::string& method, const std::string& topology,
                           double reward) {
    result = with_method(std::move(result), method, 1);
    result.settings.topology = topology;
    result.train_reward.back() = reward;
    return result;
  };
  const std::vector<RunResult> results = {rewarded(run(-3, 1, {0.1, 0.2}), "hnca", "skip", 0.99),
                                          rewarded(run(-4, 1, {0.1, 0.9}), "hnca", "skip", 0.6),
                                          rewarded(run(-4, 2, {0.1, 0.9}), "hnca", "skip", 0.8),
                                          rewarded(run(-5, 1, {0.1}), "hnca", "skip", 0.05),
                                          rewarded(run(-4, 1, {0.1, 0.9}), "hnca(steps=2)", "layered", 0.25),
                                          rewarded(run(-4, 1, {0.1, 0.9}), "reinforce", "layered", 0.5),
                                          rewarded(run(-4, 1, {0.1, 0.9}), "reinforce", "skip", 0.125)};
  CHECK(rewards_table(results) ==
        "| reward (%) | HNCA | REINFORCE | hnca(steps=2) |\n"
        "|:---|---:|---:|---:|\n"
        "| layered | – | 50.00 | 25.00 |\n"
        "| skip | 70.00 ± 127.06 | 12.50 | – |\n");
  CHECK(rewards_table(std::vector{run(-4, 1, {0.5})}) ==
        "| reward (%) | HNCA |\n|:---|---:|\n| 1 hidden layer | 50.00 |\n");
}

TEST_CASE("topologies of one name are told apart by the options in which they differ, others need none") {
  using Labels = std::vector<std::string>;
  const auto labels = [](const Labels& topologies) {
    std::vector<NetworkKey> networks;
    for (const std::string& topology : topologies) networks.push_back({.topology = topology});
    return panel_labels(networks);
  };
  CHECK(labels({"layered", "skip:units=31", "small-world:units=533,neighbours=16"}) ==
        Labels{"layered", "skip", "small-world"});
  CHECK(labels({"skip:units=31,depth=4", "skip:depth=4", "skip:units=64,depth=4", "towers:units=31"}) ==
        Labels{"skip:units=31", "skip", "skip:units=64", "towers"});
  CHECK(labels({"random:units=9", "random:units=9,input_share=0.5,repair"}) ==
        Labels{"random", "random:input_share=0.5,repair"});
  CHECK(panel_labels(std::vector<NetworkKey>{{.depth = 1}, {.depth = 2}, {.topology = "skip:units=31"}}) ==
        Labels{"1 hidden layer", "2 hidden layers", "skip"});
  CHECK(labels({}).empty());
}

TEST_CASE("the table tells networks by all their options") {
  RunResult first = run(-4, 1, {0.7}), second = run(-4, 1, {0.8});
  first.settings.topology = "skip:units=31";
  second.settings.topology = "skip:units=64";
  const std::string table = results_table(std::vector{first, second, run(-4, 1, {0.9})});
  for (const char* row :
       {"\n| skip:units=31 | HNCA |", "\n| skip:units=64 | HNCA |", "\n| 1 hidden layer | HNCA |"})
    CHECK_MESSAGE(table.find(row) != std::string::npos, table);
}
