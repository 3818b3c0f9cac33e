// What the exact oracle refuses.
#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/chain.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

void look_away(const State<float>&) {}

}  // namespace

TEST_CASE("the oracle refuses more states than its limit") {
  Chain chain;
  const std::vector<InputValues<float>> inputs{{chain.x, chain.good()}};
  const std::vector<RewardFunction> rewards{
      {chain.r, [b = chain.b](const JointOutcome& outcome) { return outcome(b); }}};
  const auto states = [&](std::size_t limit) {
    return enumerate(chain.model, inputs, rewards, {.most_states = limit}).states;
  };
  CHECK(
      chain.refused([&] { states(23); }) ==
      R"(error[too-many-states]: exact enumeration would visit 24 states (joint outcomes × input rows); the limit is 23
  help: enumerate(model, inputs, rewards, {.most_states = …})   // or a smaller graph)");
  CHECK(
      chain.refused([&] {
        for_each_state(chain.model, inputs, rewards, [](const State<float>&) { FAIL("a state was visited"); },
                       {.most_states = 23});
      }) ==
      R"(error[too-many-states]: exact enumeration would visit 24 states (joint outcomes × input rows); the limit is 23
  help: enumerate(model, inputs, rewards, {.most_states = …})   // or a smaller graph)");
  CHECK(states(24) == 24);
  chain.check_runs();
}

TEST_CASE("the oracle names a number of states that no machine could count") {
  Graph graph;
  const RewardId r = graph.reward("r", {graph.add("a", Bernoulli{.units = 5000}, {})});
  const Model model = compile(graph);
  const std::vector<RewardFunction> rewards{{r, [](const JointOutcome&) { return 1.0; }}};
  CHECK(
      refusal([&] { enumerate(model, {}, rewards); }) ==
      R"(error[too-many-states]: exact enumeration would visit more than 1e308 states (joint outcomes × input rows); the limit is 1048576
  help: enumerate(model, inputs, rewards, {.most_states = …})   // or a smaller graph)");
}

TEST_CASE("the oracle refuses a covariance that does not fit into memory before it visits anything") {
  // x(1000000) ─→ a ─→ r
  Graph graph;
  const NodeId x = graph.input("x", 1000000), a = graph.add("a", Bernoulli{}, {x});
  const RewardId r = graph.reward("r", {a});
  const Model model = compile(graph);
  const std::vector<float> row(1000000, 0.5F);
  const std::vector<InputValues<float>> inputs{{x, one_sample(row)}};
  int asked = 0;
  const std::vector<RewardFunction> rewards{{r, [&](const JointOutcome&) { return ++asked; }}};
  const std::string text = refusal([&] { enumerate(model, inputs, rewards, {.covariance = true}); });
  CHECK(text.starts_with(
      "error[too-large]: the covariance of 1000001 parameters would take 8 TB; this machine has "));
  CHECK(text.ends_with(R"(B
  help: enumerate(model, inputs, rewards)   // the variance takes one number per parameter)"));
  CHECK(asked == 0);
  CHECK(enumerate(model, inputs, rewards, {.variance = false}).states == 2);
}

TEST_CASE("the oracle refuses inputs and rewards as a run does") {
  Chain chain;
  const std::vector<InputValues<float>> inputs{{chain.x, chain.good()}};
  const std::vector<RewardFunction> rewards{
      {chain.r, [b = chain.b](const JointOutcome& outcome) { return outcome(b); }}};
  CHECK(chain.refused([&] { enumerate(chain.model, {}, rewards); }) ==
        R"(error[missing-input]: node 'x': this input was not given
  help: model.forward(run, {{x, values}});)");
  CHECK(chain.refused([&] { enumerate(chain.model, inputs, {}); }) ==
        R"(error[missing-reward]: reward 'r' was not given
  help: model.backward(run, {{r, values}});)");
  const std::vector<RewardFunction> spoilt{
      {chain.r, [](const JointOutcome&) { return std::numeric_limits<double>::quiet_NaN(); }}};
  CHECK(chain.refused([&] { enumerate(chain.model, inputs, spoilt); }) ==
        R"(error[reward-not-finite]: reward 'r' is nan in sample 0
  help: give finite rewards; use 0 where there is none)");
  CHECK(enumerate(chain.model, inputs, rewards).states == 24);
}

TEST_CASE("the oracle refuses inputs that disagree about their rows, and inputs without rows") {
  // x(2) ─→ a ─→ r
  // y ──────↗
  Graph graph;
  const NodeId x = graph.input("x", 2), y = graph.input("y", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x, y});
  const RewardId r = graph.reward("r", {a});
  const Model model = compile(graph);
  const std::vector<float> values(6, 1.0F);
  const std::vector<RewardFunction> rewards{{r, [a](const JointOutcome& outcome) { return outcome(a); }}};
  const auto inputs = [&](std::ptrdiff_t rows_of_x, std::ptrdiff_t rows_of_y) {
    return std::vector<InputValues<float>>{{x, {values.data(), rows_of_x, 2}},
                                           {y, {values.data(), rows_of_y, 1}}};
  };
  constexpr const char* too_few =
      R"(error[input-shape]: node 'y': it was given 2 × 1 values; 3 × 1 are expected (samples × units)
  help: give all inputs the same number of rows, one per sample, and one column per unit)";
  CHECK(refusal([&] { enumerate(model, inputs(3, 2), rewards); }) == too_few);
  CHECK(refusal([&] { for_each_state(model, inputs(3, 2), rewards, look_away); }) == too_few);
  CHECK(refusal([&] { enumerate(model, inputs(1, 3), rewards); }) ==
        R"(error[input-shape]: node 'y': it was given 3 × 1 values; 1 × 1 are expected (samples × units)
  help: give all inputs the same number of rows, one per sample, and one column per unit)");
  constexpr const char* none =
      R"(error[batch-size]: node 'x': it was given 0 samples; this workspace runs 1 to 1
  help: give at least one sample)";
  CHECK(refusal([&] { enumerate(model, inputs(0, 0), rewards); }) == none);
  CHECK(refusal([&] { for_each_state(model, inputs(0, 0), rewards, look_away); }) == none);
  CHECK(enumerate(model, inputs(3, 3), rewards).states == 6);
}

TEST_CASE("the oracle refuses inputs that are given twice or are not finite") {
  Chain chain;
  const std::vector<RewardFunction> rewards{{chain.r, [](const JointOutcome&) { return 1.0; }}};
  const std::vector<InputValues<float>> twice{{chain.x, chain.good()}, {chain.x, chain.good()}};
  CHECK(chain.refused([&] { enumerate(chain.model, twice, rewards); }) ==
        R"(error[given-twice]: node 'x' is given twice as an input
  help: give it once)");
  const std::vector<float> values{1.0F, std::numeric_limits<float>::infinity()};
  const std::vector<InputValues<float>> spoilt{{chain.x, one_sample(values)}};
  CHECK(chain.refused([&] { enumerate(chain.model, spoilt, rewards); }) ==
        R"(error[input-not-finite]: node 'x': its value in sample 0, unit 1 is inf
  help: clean the data: inputs must be finite numbers)");
  chain.check_runs();
}

TEST_CASE("what a reward function throws carries the name of the reward") {
  Chain chain;
  const std::vector<InputValues<float>> inputs{{chain.x, chain.good()}};
  const auto text = [&](std::function<double(const JointOutcome&)> function) {
    const std::vector<RewardFunction> rewards{{chain.r, std::move(function)}};
    std::string said = chain.refused([&] { enumerate(chain.model, inputs, rewards); });
    CHECK(chain.refused([&] { for_each_state(chain.model, inputs, rewards, look_away); }) == said);
    return said;
  };
  const std::string help =
      "\n  help: let it answer whatever it is asked; to refuse with a reason of its own, let it throw Error";
  CHECK(text([](const JointOutcome&) -> double { throw std::runtime_error("no such prize"); }) ==
        "error[reward-threw]: the function of reward 'r' threw: no such prize" + help);
  CHECK(text([](const JointOutcome&) -> double { throw 42; }) ==
        "error[reward-threw]: the function of reward 'r' threw: something that is no std::exception" + help);
  CHECK(text([](const JointOutcome&) -> double {
          refuse({.code = "no-prize", .message = "the prize is gone", .help = {"bring another"}});
        }) == R"(error[no-prize]: the prize is gone
  help: bring another)");
  chain.check_runs();
}

TEST_CASE("a reward function that asks for an outcome that is not there is told which") {
  Chain chain;
  const std::vector<InputValues<float>> inputs{{chain.x, chain.good()}};
  const auto text = [&](NodeId node, int unit) {
    const std::vector<RewardFunction> rewards{
        {chain.r, [=](const JointOutcome& outcome) { return outcome(node, unit); }}};
    return chain.refused([&] { enumerate(chain.model, inputs, rewards); });
  };
  const std::string help =
      "\n  help: let it answer whatever it is asked; to refuse with a reason of its own, let it throw Error";
  const std::string start = "error[reward-threw]: the function of reward 'r' threw: node number ";
  CHECK(text(chain.a, 2) == start + "1 has no unit 2 with an outcome" + help);
  CHECK(text(chain.a, -1) == start + "1 has no unit -1 with an outcome" + help);
  CHECK(text(chain.x, 0) == start + "0 has no unit 0 with an outcome" + help);
  CHECK(text(NodeId{}, 0) == start + "-1 has no unit 0 with an outcome" + help);
  CHECK(text(NodeId{3}, 0) == start + "3 has no unit 0 with an outcome" + help);
  CHECK(text(chain.a, 1) == "nothing was refused");
}
