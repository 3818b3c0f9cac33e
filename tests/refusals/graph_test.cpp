// What a forward pass refuses.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/chain.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("an input of the wrong shape is refused") {
  Chain chain;
  const std::vector<float> values(12, 1.0F);
  CHECK(chain.refused([&] {
    chain.model.forward(chain.run, {{chain.x, {values.data(), 3, 1}}});
  }) ==
        R"(error[input-shape]: node 'x': it was given 3 × 1 values; 3 × 2 are expected (samples × units)
  help: give all inputs the same number of rows, one per sample, and one column per unit)");
  CHECK(chain.refused([&] {
    chain.model.forward(chain.run, {{chain.x, values}});
  }) ==
        R"(error[input-shape]: node 'x': it was given 12 × 1 values; 12 × 2 are expected (samples × units)
  help: give all inputs the same number of rows, one per sample, and one column per unit)");
  chain.check_runs();
}

TEST_CASE("inputs that disagree about the number of samples are refused") {
  // x(2) ─→ a ─→ r
  // y ──────↗
  Graph graph;
  const NodeId x = graph.input("x", 2), y = graph.input("y", 1);
  graph.reward("r", {graph.add("a", Bernoulli{}, {x, y})});
  const Model model = compile(graph);
  Workspace run = model.workspace(4);
  const std::vector<float> values(6, 1.0F);
  CHECK(refusal([&] {
          model.forward(run, {{x, {values.data(), 3, 2}}, {y, {values.data(), 2, 1}}});
        }) == R"(error[input-shape]: node 'y': it was given 2 × 1 values; 3 × 1 are expected (samples × units)
  help: give all inputs the same number of rows, one per sample, and one column per unit)");
  CHECK(run.position() == StreamPosition{});
  model.forward(run, {{x, {values.data(), 3, 2}}, {y, {values.data(), 3, 1}}});
  CHECK(run.samples() == 3);
}

TEST_CASE("an input that is missing or given twice is refused") {
  Chain chain;
  CHECK(chain.refused([&] { chain.model.forward(chain.run, {}); }) ==
        R"(error[missing-input]: node 'x': this input was not given
  help: model.forward(run, {{x, values}});)");
  CHECK(chain.refused([&] {
    chain.model.forward(chain.run, {{chain.x, chain.good()}, {chain.x, chain.good()}});
  }) == R"(error[given-twice]: node 'x' is given twice as an input
  help: give it once)");
  chain.check_runs();
}

TEST_CASE("values for something that is not an input are refused") {
  Chain chain;
  CHECK(chain.refused([&] {
    chain.model.forward(chain.run, {{chain.x, chain.good()}, {chain.a, chain.good()}});
  }) == R"(error[not-an-input]: node 'a': it is sampled, not given
  help: model.forward(run, inputs, {.clamp = {{a, outcomes}}});)");
  CHECK(chain.refused([&] {
    chain.model.forward(chain.run, {{chain.x, chain.good()}, {NodeId{}, chain.good()}});
  }) == R"(error[unknown-node]: node number -1, given as an input, does not exist; the model has 3 nodes
  help: use the id that the graph returned when it was added)");
  CHECK(chain.refused([&] {
    chain.model.forward(chain.run, {{NodeId{3}, chain.good()}});
  }) ==
        R"(error[unknown-node]: node number 3, given as an input, does not exist; the model has 3 nodes
  help: use the id that the graph returned when it was added)");
  chain.check_runs();
}

TEST_CASE("a batch that is empty or larger than the workspace is refused") {
  Chain chain;
  const std::vector<float> values(10, 1.0F);
  CHECK(chain.refused([&] {
    chain.model.forward(chain.run, {{chain.x, {values.data(), 0, 2}}});
  }) ==
        R"(error[batch-size]: node 'x': it was given 0 samples; this workspace runs 1 to 4
  help: give at least one sample)");
  CHECK(chain.refused([&] {
    chain.model.forward(chain.run, {{chain.x, {values.data(), 5, 2}}});
  }) ==
        R"(error[batch-size]: node 'x': it was given 5 samples; this workspace runs 1 to 4
  help: auto run = model.workspace(5);)");
  chain.check_runs();
}

TEST_CASE("an input that is not finite is refused with its place") {
  Chain chain;
  const auto text = [&](float value) {
    std::vector<float> values = chain.values;
    values[5] = value;
    return chain.refused([&] { chain.model.forward(chain.run, {{chain.x, {values.data(), 3, 2}}}); });
  };
  CHECK(text(not_a_number) == R"(error[input-not-finite]: node 'x': its value in sample 2, unit 1 is nan
  help: clean the data: inputs must be finite numbers)");
  CHECK(text(infinite) == R"(error[input-not-finite]: node 'x': its value in sample 2, unit 1 is inf
  help: clean the data: inputs must be finite numbers)");
  CHECK(text(-infinite) == R"(error[input-not-finite]: node 'x': its value in sample 2, unit 1 is -inf
  help: clean the data: inputs must be finite numbers)");
  chain.check_runs();
}

TEST_CASE("a parameter that is not finite is named when it spoils a forward pass") {
  Chain chain;
  const auto weights = chain.model.parameters("a/weights/x");
  const float kept = weights(1, 0);
  weights(1, 0) = not_a_number;
  CHECK(chain.refused([&] { chain.forward(); }) ==
        R"(error[parameter-not-finite]: node 'a': parameter 2 of 'a/weights/x' is nan
  help: lower the learning rate, or load good parameters: learning has diverged)");
  weights(1, 0) = kept;
  chain.check_runs();
  const auto bias = chain.model.parameters("b/bias");
  bias(0) = not_a_number;
  CHECK(chain.refused([&] { chain.forward(); }) ==
        R"(error[parameter-not-finite]: node 'b': parameter 0 of 'b/bias' is nan
  help: lower the learning rate, or load good parameters: learning has diverged)");
  bias(0) = infinite;
  CHECK(chain.refused([&] { chain.forward(); }) ==
        R"(error[parameter-not-finite]: node 'b': parameter 0 of 'b/bias' is inf
  help: lower the learning rate, or load good parameters: learning has diverged)");
  bias(0) = -infinite;
  CHECK(chain.refused([&] { chain.forward(); }) ==
        R"(error[parameter-not-finite]: node 'b': parameter 0 of 'b/bias' is -inf
  help: lower the learning rate, or load good parameters: learning has diverged)");
  bias(0) = 0;
  chain.check_runs();
}

TEST_CASE("an infinite parameter and an overflow of finite ones are told apart") {
  // x ─→ a ─→ r
  Graph graph;
  const NodeId x = graph.input("x", 1);
  graph.reward("r", {graph.add("a", Categorical{.classes = 3}, {x})});
  Model model = compile(graph);
  Workspace run = model.workspace(2);
  const std::vector<float> values{1.0F, 1e30F};
  const auto bias = model.parameters("a/bias"), weights = model.parameters("a/weights/x");
  bias(2) = infinite;
  CHECK(refusal([&] {
          model.forward(run, {{x, values}});
        }) ==
        R"(error[parameter-not-finite]: node 'a': parameter 2 of 'a/bias' is inf
  help: lower the learning rate, or load good parameters: learning has diverged)");
  bias(2) = 0;
  weights(1, 0) = 1e30F;
  CHECK(
      refusal([&] {
        model.forward(run, {{x, values}});
      }) ==
      R"(error[log-probs-not-finite]: node 'a': its log-probabilities are not numbers in sample 1, though its parameters are finite
  help: logits have overflowed or log_probs is wrong: scale the inputs, or check the node by finite differences)");
  CHECK(run.position() == StreamPosition{});
  weights(1, 0) = 1;
  model.forward(run, {{x, values}});
  CHECK(run.position().step == 1);
}

TEST_CASE("an infinite parameter of a table is named, whichever its sign") {
  Graph graph;
  graph.reward("r", {graph.add("t", Table{.rows = {{0.25, 0.75, 0}}}, {})});
  Model model = compile(graph);
  Workspace run = model.workspace(2);
  const auto logits = model.parameters("t/logits");
  const auto text = [&](std::ptrdiff_t outcome, float value) {
    const float kept = std::exchange(logits(0, outcome), value);
    std::string said = refusal([&] { model.forward(run, {}); });
    logits(0, outcome) = kept;
    return said;
  };
  CHECK(text(1, -infinite) == R"(error[parameter-not-finite]: node 't': parameter 1 of 't/logits' is -inf
  help: lower the learning rate, or load good parameters: learning has diverged)");
  CHECK(text(0, infinite) == R"(error[parameter-not-finite]: node 't': parameter 0 of 't/logits' is inf
  help: lower the learning rate, or load good parameters: learning has diverged)");
  CHECK(text(0, not_a_number) == R"(error[parameter-not-finite]: node 't': parameter 0 of 't/logits' is nan
  help: lower the learning rate, or load good parameters: learning has diverged)");
  CHECK(run.position() == StreamPosition{});
  model.forward(run, {});
  CHECK(run.position().step == 1);
}

TEST_CASE("clamped outcomes of the wrong shape are refused") {
  Chain chain;
  const std::vector<Outcome> outcomes(8, 1);
  const auto text = [&](NodeId node, std::ptrdiff_t rows, std::ptrdiff_t cols) {
    return chain.refused([&] {
      chain.model.forward(chain.run, {{chain.x, chain.good()}},
                          {.clamp = {{node, {outcomes.data(), rows, cols}}}});
    });
  };
  CHECK(
      text(chain.a, 4, 2) ==
      R"(error[clamp-shape]: node 'a': it was clamped to 4 × 2 outcomes; 3 × 2 are expected (samples × units)
  help: give one row per sample and one column per unit)");
  CHECK(
      text(chain.b, 3, 2) ==
      R"(error[clamp-shape]: node 'b': it was clamped to 3 × 2 outcomes; 3 × 1 are expected (samples × units)
  help: give one row per sample and one column per unit)");
  chain.check_runs();
}

TEST_CASE("a clamped outcome that the node does not have is refused") {
  Chain chain;
  const auto text = [&](Outcome outcome) {
    const std::vector<Outcome> outcomes{0, 1, 0, outcome, 1, 1};
    return chain.refused([&] {
      chain.model.forward(chain.run, {{chain.x, chain.good()}},
                          {.clamp = {{chain.a, {outcomes.data(), 3, 2}}}});
    });
  };
  CHECK(text(-1) ==
        R"(error[clamp-outcome]: node 'a': sample 1, unit 1 was clamped to outcome -1; it has outcomes 0 to 1
  help: clamp to the index of the outcome, not to its value)");
  CHECK(text(2) ==
        R"(error[clamp-outcome]: node 'a': sample 1, unit 1 was clamped to outcome 2; it has outcomes 0 to 1
  help: clamp to the index of the outcome, not to its value)");
  chain.check_runs();
}

TEST_CASE("a clamp on an input, given twice or on nothing is refused") {
  Chain chain;
  const std::vector<Outcome> outcomes(6, 1);
  const MatrixView<const Outcome> ones(outcomes.data(), 3, 2);
  const auto text = [&](std::vector<ClampedOutcomes> clamps) {
    return chain.refused([&] {
      chain.model.forward(chain.run, {{chain.x, chain.good()}}, {.clamp = std::move(clamps)});
    });
  };
  CHECK(text({{chain.x, ones}}) == R"(error[clamped-input]: node 'x': it is an input: it is given, not clamped
  help: model.forward(run, {{x, values}});)");
  CHECK(text({{chain.a, ones}, {chain.a, ones}}) ==
        R"(error[given-twice]: node 'a' is given twice as a clamp
  help: give it once)");
  CHECK(text({{NodeId{}, ones}}) ==
        R"(error[unknown-node]: node number -1, given as a clamp, does not exist; the model has 3 nodes
  help: use the id that the graph returned when it was added)");
  chain.check_runs();
}

TEST_CASE("a clamp to an outcome of probability zero is refused") {
  // a ─→ b ─→ r      b copies a
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Table{.rows = {{1, 0}, {0, 1}}}, {a});
  graph.reward("r", {b});
  const Model model = compile(graph);
  Workspace run = model.workspace(3);
  const std::vector<Outcome> same{0, 1, 1}, other{0, 1, 0};
  CHECK(
      refusal([&] {
        model.forward(run, {}, {.clamp = {{a, same}, {b, other}}});
      }) ==
      R"(error[impossible-clamp]: node 'b': sample 2, unit 0 was clamped to outcome 0, which has probability 0 there
  help: clamp to an outcome that can occur)");
  CHECK(run.position() == StreamPosition{});
  model.forward(run, {}, {.clamp = {{a, same}, {b, same}}});
  CHECK(run.outcomes(b)(2) == 1);
}
