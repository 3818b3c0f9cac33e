// What the microscope does not look at, because it would take too long or too much.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

TEST_CASE("under the microscope nobody sums out beyond the limit, and the figure is told") {
  Graph graph;
  NodeId last = graph.input("x", 1);
  for (int i = 0; i < 100; ++i) last = graph.add("n" + std::to_string(i), Bernoulli{}, {last});
  const RewardId reward = graph.reward("r", {last});
  const Model model = compile(graph);
  const std::vector<float> x = {1};
  const std::vector<InputValues<float>> inputs = {{NodeId{0}, x}};
  const std::vector<RewardFunction> rewards = {
      {reward, [last](const JointOutcome& outcome) { return static_cast<double>(outcome(last)); }}};
  const auto compare = [&](double most_operations) {
    return compare_estimators(graph, model.parameters(), {inputs, rewards},
                              {.contenders = {{HindsightCredit{}}, {Hnca{}}},
                               .gradients = 4,
                               .reference_gradients = 4,
                               .batch = 2,
                               .most_operations = most_operations})
        .rows;
  };
  const auto refused = compare(1e5);
  CHECK(refused[0].refusal.ends_with("in all, more than the most_operations of 1e+05"));
  CHECK(refused[1].refusal == "");
  CHECK(refused[1].variance() > 0);
  CHECK(compare(1e7)[0].refusal == "");
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
