#include <hindsight/core/node.hpp>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/chunk_nodes.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// Two outcomes, equally likely while the parent shows 0; else outcome 0 has this log-probability.
struct Fickle {
  double otherwise;

  Shape shape(std::span<const ParentShape>) const { return {.encoding = scalar_encoding({0, 1})}; }
  template <class S>
  void log_probs(std::span<const S>, const Reading<S>& reading, std::span<S> out) const {
    out[0] = static_cast<S>(reading.outcomes[0] == 0 ? std::log(0.5) : otherwise);
    out[1] = std::log(S(0.5));
  }
  template <class S>
  void accumulate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>) const {}
};

/// The line that a chunk of probabilities which do not sum to one is answered with, pasted.
struct Pasted {
  int units = 2, classes = 3;

  Shape shape(std::span<const ParentShape>) const {
    return {.units = units, .encoding = one_hot_encoding(classes)};
  }
  template <class S>
  void log_probs(std::span<const S>, const ChunkReading<S>& reading, MatrixView<S> out) const {
    const std::ptrdiff_t outcome_count = classes;
    for (std::ptrdiff_t i = 0; i < out.rows(); ++i)
      for (std::ptrdiff_t unit = 0; unit < units; ++unit) {
        for (std::ptrdiff_t k = 0; k < outcome_count; ++k)
          out(i, unit * outcome_count + k) = reading.features(i, 0) * static_cast<S>(k + unit);
        log_softmax(&out(i, unit * outcome_count), outcome_count, out.col_stride());
      }
  }
  template <class S>
  void accumulate(std::span<const S>, const ChunkReading<S>&, MatrixView<const S>, std::span<S>) const {}
};

}  // namespace

//  a ─→ reader ─→ r
TEST_CASE_TEMPLATE("a log-probability that is no number at another outcome is blamed on the reader", S, float,
                   double) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   infinity = std::numeric_limits<double>::infinity();
  const auto backward = [](const AnyNode& node) {
    Graph graph;
    const NodeId a = graph.add("a", Bernoulli{}, {}), reader = graph.add("reader", node, {a});
    const RewardId r = graph.reward("r", {reader});
    graph.estimate_with(a, Hnca{});
    const auto model = compile<S>(graph);
    auto run = model.workspace(3);
    const std::vector<Outcome> zeros(3, 0);
    model.forward(run, {}, {.clamp = {{a, zeros}, {reader, zeros}}});
    return refusal([&] { model.backward(run, {{r, std::vector<S>{1, 2, 3}}}); });
  };
  const std::string expected =
      "error[value-not-a-number]: node 'reader': its log-probabilities are not numbers once 'a' takes "
      "another "
      "outcome\n  help: sums have overflowed, or log_probs or an evaluate is wrong: scale the inputs, or "
      "check "
      "them by finite differences";
  for (const double bad : {nan, infinity}) {
    CHECK(backward(Fickle{bad}) == expected);
    CHECK(backward(InChunks<Fickle>{{bad}}) == expected);
  }
  for (const double good : {-infinity, std::log(0.5)}) {
    CHECK(backward(Fickle{good}) == "nothing was refused");
    CHECK(backward(InChunks<Fickle>{{good}}) == "nothing was refused");
  }
}

TEST_CASE_TEMPLATE("the line that normalises a chunk does so for every sample and unit", S, float, double) {
  Graph graph;
  const NodeId x = graph.input("x", 1), pasted = graph.add("pasted", Pasted{}, {x});
  graph.reward("r", {pasted});
  const auto model = compile<S>(graph);
  auto run = model.workspace(70);
  std::vector<S> inputs;
  for (int i = 0; i < 70; ++i) inputs.push_back(static_cast<S>(i) / 35 - 1);
  model.forward(run, {{x, inputs}});
  for (int i = 0; i < 70; ++i)
    for (int unit = 0; unit < 2; ++unit) {
      S expected[3];
      for (int k = 0; k < 3; ++k)
        expected[k] = inputs[static_cast<std::size_t>(i)] * static_cast<S>(k + unit);
      log_softmax(expected, 3);
      for (int k = 0; k < 3; ++k) CHECK(run.log_probs(pasted)(i, 3 * unit + k) == expected[k]);
    }
}

//  p(2) ─→ f(2)
TEST_CASE("a function without slopes leaves the scratch as it is, and starts its sum at zero") {
  constexpr int lanes = 16;
  const AnyNode node = ChunkSquareSums{};
  Placement parent, at;
  parent.name = "p";
  parent.shape.units = 2;
  parent.is_discrete = false;
  at.feature_row = 2;
  at.parents.push_back({.from = &parent, .wants_slopes = true});
  at.shape = NodeShape(SquareSums{}.shape(at.parent_shapes()));
  const std::vector<AnyNode::Placed> placed{{&node, &at}};
  const Blocks<double> blocks = AnyNode::lower<double>(placed);
  REQUIRE(blocks.size() == 1);
  const std::size_t parameters = at.shape.parameter_count;
  std::vector<double> theta(parameters, 1.0), gradient(parameters, 7.0), features(4 * lanes, 0.5),
      slopes(4 * lanes, 0.0), scratch(blocks[0]->scratch(lanes).scalars, 3.0);
  std::vector<Outcome> outcomes(blocks[0]->scratch(lanes).outcome_slots);
  Frame<double> frame;
  frame.parameters = theta.data();
  frame.gradient = gradient.data();
  frame.starts_sum = true;
  frame.features = features.data();
  frame.slopes = slopes.data();
  frame.scratch = scratch.data();
  frame.outcome_scratch = outcomes.data();
  frame.stride = lanes;
  frame.lanes = lanes;
  frame.samples = 3;
  blocks[0]->backpropagate(frame);
  blocks[0]->accumulate(frame, 0, 1);
  CHECK(scratch == std::vector<double>(scratch.size(), 3.0));
  CHECK(slopes == std::vector<double>(slopes.size(), 0.0));
  CHECK(gradient == std::vector<double>(parameters, 0.0));
  // One slope is enough: what was in the scratch has no part in it.
  frame.slope(2)[1] = 1;
  blocks[0]->backpropagate(frame);
  blocks[0]->accumulate(frame, 0, 1);
  CHECK(frame.slope(0)[1] == 2.0);
  CHECK(frame.slope(1)[1] == 2.0);
  CHECK(frame.slope(0)[0] == 0.0);
  CHECK(gradient == std::vector<double>{1, 1, 1, 0, 0, 0});
}
