// What the microscope does not look at, because it would take too long or too much.
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// A line of a hundred nodes, and the reward of its last.
struct Line {
  Line() {
    NodeId last = graph.input("x", 1);
    for (int i = 0; i < 100; ++i) last = graph.add("n" + std::to_string(i), Bernoulli{}, {last});
    const RewardId reward = graph.reward("r", {last});
    inputs.push_back({NodeId{0}, x});
    rewards.push_back(
        {reward, [last](const JointOutcome& outcome) { return static_cast<double>(outcome(last)); }});
  }
  Comparison compare(const MicroscopeOptions& options) const {
    return compare_estimators(graph, {}, {inputs, rewards}, options);
  }

  Graph graph;
  std::vector<float> x = {1};
  std::vector<InputValues<float>> inputs;
  std::vector<RewardFunction> rewards;
};

/// Ten units of two outcomes: 1024 states.
struct Units {
  Comparison compare(const MicroscopeOptions& options) const {
    Graph graph;
    const NodeId a = graph.add("a", Bernoulli{.units = 10}, {graph.input("x", 1)});
    const RewardId reward = graph.reward("r", {a});
    const std::vector<InputValues<float>> inputs = {{NodeId{0}, x}};
    const std::vector<RewardFunction> rewards = {{reward, [](const JointOutcome&) { return 1.0; }}};
    return compare_estimators(graph, {}, {inputs, rewards}, options);
  }

  std::vector<float> x = {1};
};

}  // namespace

TEST_CASE("under the microscope nobody sums out beyond the limit, and the figure is told") {
  const Line line;
  const auto compare = [&](double most_operations) {
    return line
        .compare({.contenders = {{HindsightCredit{}}, {Hnca{}}},
                  .gradients = 4,
                  .reference_gradients = 4,
                  .batch = 2,
                  .most_operations = most_operations})
        .rows;
  };
  const auto refused = compare(1e5);
  CHECK(refused[0].refusal ==
        "summing units out takes 5.86e+04 operations per gradient, 2.34e+05 for 4 gradients; with all else "
        "that is more than the most_operations of 1e+05");
  CHECK(refused[0].nodes.empty());
  CHECK(refused[1].refusal == "");
  CHECK(refused[1].variance() > 0);
  CHECK(compare(1e7)[0].refusal == "");
}

TEST_CASE("a comparison takes as many gradients as fit, and is refused where a hundred do not") {
  const Line line;
  const auto compare = [&](double most_operations) {
    return line.compare({.contenders = {{Hnca{}}, {Reinforce{}}}, .most_operations = most_operations});
  };
  const Comparison fewer = compare(1e8);
  CHECK(fewer.gradients > 100);
  CHECK(fewer.gradients < 1000);
  CHECK(fewer.gradients == compare(1e8).gradients);
  CHECK(fewer.rows[0].variance() < fewer.rows[1].variance());
  CHECK(compare(1e9).gradients == 1000);
  CHECK(refusal([&] { compare(1e6); }) ==
        "error[microscope-operations]: 100 gradients of each estimator, in batches of 64 rows, take about "
        "3.3e+07 operations, more than the most_operations of 1e+06\n"
        "  help: {.most_operations = 6.5e+07}   // an operation takes about a nanosecond\n"
        "  help: compare fewer estimators, or make .batch or .gradients smaller");
}

TEST_CASE("counts that an int cannot multiply are refused under the microscope") {
  const Line line;
  constexpr int most = std::numeric_limits<int>::max();
  CHECK(refusal([&] { line.compare({.contenders = {{Hnca{}}}, .gradients = most}); }) ==
        "error[microscope-options]: gradients is 2147483647; there may be at most 1000000000\n"
        "  help: {.gradients = 1000000000}");
  CHECK(refusal([&] {
          line.compare({.contenders = {{Hnca{}}}, .reference_gradients = most});
        }).starts_with("error[microscope-options]: reference_gradients is 2147483647; "));
}

TEST_CASE("a batch whose samples an int cannot count is refused under the microscope") {
  const Units units;
  CHECK(refusal([&] {
          units.compare({.contenders = {{Reinforce{}, LeaveOneOut{.samples = 1024}}},
                         .gradients = 4,
                         .batch = 1 << 21,
                         .most_operations = 1e30});
        }) ==
        "error[microscope-options]: batch is 2097152; with 1024 samples of each row there may be at most "
        "2097151\n"
        "  help: {.batch = 64}");
}

TEST_CASE("sums over all joint outcomes count among the operations of a comparison") {
  const Units units;
  const auto compare = [&](std::size_t most_states) {
    return units.compare({.contenders = {{Reinforce{}}},
                          .gradients = 4,
                          .reference_gradients = 4,
                          .batch = 1,
                          .most_states = most_states,
                          .most_operations = 1e5});
  };
  CHECK(compare(1023).gradients == 4);
  CHECK(
      refusal([&] { compare(1024); }) ==
      "error[microscope-operations]: 4 gradients of each estimator, in batches of 1 rows, and sums over all "
      "joint outcomes take about 3e+05 operations, more than the most_operations of 1e+05\n"
      "  help: {.most_operations = 6.1e+05}   // an operation takes about a nanosecond\n"
      "  help: compare fewer estimators, or make .batch or .gradients smaller\n"
      "  help: {.most_states = 0}   // sums over all joint outcomes take 3e+05 of them");
}

TEST_CASE("a comparison says that it is done when it has come to its conclusions, and once") {
  const Line line;
  std::vector<std::size_t> told;
  std::size_t all = 0;
  MicroscopeOptions options{
      .contenders = {{Hnca{}}, {Reinforce{}}}, .gradients = 4, .reference_gradients = 6};
  options.progress = [&](std::size_t done, std::size_t of) {
    told.push_back(done);
    all = of;
  };
  line.compare(options);
  CHECK(all == 14);
  CHECK(told == std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
}

// What is exact is worked out last, and asks for rewards.
TEST_CASE("a comparison has asked for its last reward when it says that it is done") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {graph.input("x", 1)});
  const RewardId reward = graph.reward("r", {graph.add("b", Bernoulli{}, {a})});
  const std::vector<float> x = {1};
  const std::vector<InputValues<float>> inputs = {{NodeId{0}, x}};
  int asked = 0, when_done = 0;
  const std::vector<RewardFunction> rewards = {{reward, [&](const JointOutcome&) { return ++asked, 1.0; }}};
  MicroscopeOptions options{.contenders = {{Hnca{}}}, .gradients = 4};
  options.progress = [&](std::size_t done, std::size_t of) { when_done = done == of ? asked : 0; };
  CHECK(compare_estimators(graph, {}, {inputs, rewards}, options).states > 0);
  CHECK(when_done == asked);
}

TEST_CASE("workspaces of all who are compared are computed before one is made") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{.units = 1'000'000}, {x});
  const RewardId reward = graph.reward("r", {graph.add("b", Bernoulli{}, {a})});
  const std::vector<float> row = {1};
  const std::vector<InputValues<float>> inputs = {{x, one_sample(row)}};
  const std::vector<RewardFunction> rewards = {{reward, [](const JointOutcome&) { return 1.0; }}};
  const std::string said = refusal([&] {
    compare_estimators(graph, {}, {inputs, rewards},
                       {.contenders = {{Reinforce{}}}, .batch = 1 << 20, .most_operations = 1e18});
  });
  CHECK(said.starts_with("error[too-large]: a comparison by batches of 1048576 rows would take "));
  CHECK(said.ends_with("make .batch smaller, compare fewer estimators at a time, or a smaller graph"));
}

TEST_CASE("what the microscope would keep in memory is computed before it looks") {
  Graph graph;
  const NodeId x = graph.input("x", 1000);
  const RewardId reward = graph.reward("r", {graph.add("a", Bernoulli{.units = 1000}, {x})});
  const Model model = compile(graph);
  const std::vector<float> row(1000);
  const std::vector<InputValues<float>> inputs = {{x, one_sample(row)}};
  const std::vector<RewardFunction> rewards = {{reward, [](const JointOutcome&) { return 1.0; }}};
  const std::string said = refusal([&] {
    compare_estimators(graph, model.parameters(), {inputs, rewards},
                       {.contenders = std::vector<CreditMethod>(20'000, {Reinforce{}})});
  });
  CHECK(said.starts_with(
      "error[too-large]: comparing 20000 estimators at 1001000 parameters would take 801 GB;"));
}
