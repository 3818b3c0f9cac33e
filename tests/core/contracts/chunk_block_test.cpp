#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hindsight/hindsight.hpp>

#include "support/chunk_nodes.hpp"
#include "support/faulty_node.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// What a chunk of samples was shown to a node, row by row.
struct Seen {
  std::vector<std::vector<double>> features;
  std::vector<std::vector<Outcome>> outcomes;
};

/// Two outcomes, equally likely whatever it reads; keeps all readings.
struct Recorder {
  std::vector<Seen>* seen;

  Shape shape(std::span<const ParentShape>) const { return {.encoding = scalar_encoding({0, 1})}; }
  template <class S>
  void log_probs(std::span<const S>, const ChunkReading<S>& reading, MatrixView<S> out) const {
    Seen chunk;
    for (std::ptrdiff_t i = 0; i < reading.samples(); ++i) {
      const std::vector<S> row = row_of(reading.features, i);
      chunk.features.emplace_back(row.begin(), row.end());
      chunk.outcomes.push_back(row_of(reading.outcomes, i));
    }
    seen->push_back(chunk);
    as_eigen(out).setConstant(std::log(S(0.5)));
  }
  template <class S>
  void accumulate(std::span<const S>, const ChunkReading<S>&, MatrixView<const S>, std::span<S>) const {}
};

/// A function of one unit that throws in one of its two functions.
struct FailingFunction {
  bool in_evaluate;

  Shape shape(std::span<const ParentShape>) const { return {.units = 1, .parameters = {{"scale", 1}}}; }
  template <class S>
  void evaluate(std::span<const S>, const ChunkReading<S>&, MatrixView<S> out) const {
    if (in_evaluate) boom();
    as_eigen(out).setOnes();
  }
  template <class S>
  void backpropagate(std::span<const S>, const ChunkReading<S>&, MatrixView<const S>, std::span<S>,
                     MatrixView<S>) const {
    boom();
  }
};
static_assert(ChunkFunction<FailingFunction>);

/// Two units; a sample's probability of the last outcome is what it reads.
struct Stray {
  Shape shape(std::span<const ParentShape>) const {
    return {.units = 2, .encoding = scalar_encoding({0, 1})};
  }
  template <class S>
  void log_probs(std::span<const S>, const ChunkReading<S>& reading, MatrixView<S> out) const {
    as_eigen(out).setConstant(std::log(S(0.5)));
    as_eigen(out).col(3) = as_eigen(reading.features).col(0).array().log();
  }
  template <class S>
  void accumulate(std::span<const S>, const ChunkReading<S>&, MatrixView<const S>, std::span<S>) const {}
};

}  // namespace

//  x(2) ─→ a(2) ─→ it      a and b lie side by side in memory, in the order of addition
//  └─────→ b(2) ──↗        k shows three features
//  └─────→ k ────↗
TEST_CASE_TEMPLATE("a chunk shows what its parents show in the order of the edges", S, float, double) {
  constexpr int samples = 70;
  Dice dice(12);
  std::vector<S> inputs, rewards;
  for (int i = 0; i < 2 * samples; ++i) inputs.push_back(static_cast<S>(dice.between(-1, 1)));
  for (int i = 0; i < samples; ++i) rewards.push_back(static_cast<S>(dice.between(-1, 1)));
  const auto check = [&](const std::vector<int>& order) {
    std::vector<Seen> seen;
    Graph graph;
    const NodeId x = graph.input("x", 2), a = graph.add("a", Bernoulli{.units = 2}, {x}),
                 b = graph.add("b", Bernoulli{.units = 2, .values = {0.25, -3}}, {x}),
                 k = graph.add("k", Categorical{.classes = 3}, {x});
    std::vector<NodeId> parents;
    for (const int which : order) parents.push_back(std::array{x, a, b, k}[static_cast<std::size_t>(which)]);
    const NodeId it = graph.add("it", Recorder{&seen}, {parents.begin(), parents.end()});
    graph.reward("r", {it});
    for (const NodeId node : {a, b, k}) graph.estimate_with(node, Hnca{});
    const auto model = compile<S>(graph, {.seed = 3});
    auto run = model.workspace(samples);
    model.forward(run, {{x, {inputs.data(), samples, 2}}});
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].features.size() == 64);
    CHECK(seen[1].features.size() == 6);
    const auto expected_row = [&](int i) {
      std::pair<std::vector<double>, std::vector<Outcome>> row;
      for (const NodeId parent : parents)
        for (int unit = 0; unit < graph.shape(parent).units; ++unit) {
          row.second.push_back(parent == x ? -1 : run.outcomes(parent)(i, unit));
          if (parent == x) row.first.push_back(static_cast<double>(run.values(x)(i, unit)));
          for (int j = 0; parent != x && j < graph.shape(parent).encoding.width; ++j)
            row.first.push_back(graph.shape(parent).encoding.value(row.second.back(), j));
        }
      return row;
    };
    for (int i = 0; i < samples; ++i) {
      const Seen& chunk = seen[static_cast<std::size_t>(i / 64)];
      const auto [features, outcomes] = expected_row(i);
      CHECK(chunk.features[static_cast<std::size_t>(i % 64)] == features);
      CHECK(chunk.outcomes[static_cast<std::size_t>(i % 64)] == outcomes);
    }

    // Messages: every sample is shown every other outcome of every unit that is told, once, and nothing else
    // changes.
    seen.clear();
    model.backward(run, {{RewardId{0}, rewards}});
    std::size_t told = 0;  // units and other outcomes of them
    for (const NodeId parent : parents)
      if (parent != x)
        told +=
            static_cast<std::size_t>(graph.shape(parent).units * (graph.shape(parent).outcome_count() - 1));
    CHECK(seen.size() == 2 * told);
    for (int i = 0; i < samples; ++i) {
      const auto [features, outcomes] = expected_row(i);
      std::vector<std::vector<Outcome>> shown;
      for (const Seen& chunk : seen) {
        if (chunk.outcomes.size() != (i < 64 ? 64U : 6U)) continue;
        shown.push_back(chunk.outcomes[static_cast<std::size_t>(i % 64)]);
        int changed = 0;
        for (std::size_t unit = 0; unit < outcomes.size(); ++unit)
          changed += shown.back()[unit] != outcomes[unit] ? 1 : 0;
        CHECK(changed == 1);
      }
      std::sort(shown.begin(), shown.end());
      CHECK(std::unique(shown.begin(), shown.end()) == shown.end());
      CHECK(shown.size() == told);
    }
  };
  check({});
  check({0});
  check({1});
  check({1, 2});
  check({2, 1});
  check({3, 0, 1});
  check({1, 2, 3, 0});
}

TEST_CASE_TEMPLATE("what functions for chunks throw is told with the node's name", S, float, double) {
  using Bad = InChunks<Faulty>;
  CHECK(refusal([] { run_alone<S>(Bad{{.in_log_probs = boom}}); }) == threw("log_probs", "boom"));
  CHECK(refusal([] { run_alone<S>(Bad{{.in_log_probs = number}}); }) == threw("log_probs", not_standard));
  CHECK(refusal([] { run_alone<S>(Bad{{.in_log_probs = testing::refusal}}); }) == refused);
  CHECK_THROWS_AS(run_alone<S>(Bad{{.in_log_probs = out_of_memory}}), std::bad_alloc);
  CHECK(refusal([] { run_alone<S>(Bad{{.in_accumulate = boom}}); }) == threw("accumulate", "boom"));
  CHECK(refusal([] { run_alone<S>(Bad{{.in_accumulate = number}}); }) == threw("accumulate", not_standard));
  CHECK(refusal([] { run_alone<S>(Bad{{.in_initialise = boom}}); }) == threw("initialise", "boom"));
  CHECK(refusal([] { run_alone<S>(Bad{{.in_shape = boom}}); }) == threw("shape", "boom"));
  CHECK_NOTHROW(run_alone<S>(Bad{}));
}

//  a ─→ f ─→ b ─→ r
TEST_CASE_TEMPLATE("what a function for chunks throws is told with the node's name", S, float, double) {
  const auto run_with = [](bool in_evaluate) {
    Graph graph;
    const NodeId a = graph.add("a", Bernoulli{}, {}), f = graph.add("bad", FailingFunction{in_evaluate}, {a}),
                 b = graph.add("b", Bernoulli{}, {f});
    const RewardId r = graph.reward("r", {b});
    const auto model = random_model<S>(graph, 1);
    auto run = model.workspace(2);
    model.forward(run, {});
    const std::vector<S> rewards = {S(1), S(2)};
    model.backward(run, {{r, rewards}});
  };
  CHECK(refusal([&] { run_with(true); }) == threw("evaluate", "boom"));
  CHECK(refusal([&] { run_with(false); }) == threw("backpropagate", "boom"));
}

TEST_CASE_TEMPLATE("a chunk with a sample whose probabilities do not sum to one is refused", S, float,
                   double) {
  Graph graph;
  const NodeId x = graph.input("x", 1), bad = graph.add("bad", Stray{}, {x});
  graph.reward("r", {bad});
  const auto model = compile<S>(graph);
  auto run = model.workspace(100);
  const auto forward = [&](std::size_t sample, double last) {
    std::vector<S> read(100, S(0.5));
    read[sample] = static_cast<S>(last);
    return refusal([&] { model.forward(run, {{x, read}}); });
  };
  const auto text = [](const char* total) {
    return fmt::format(
        "error[unnormalised]: node 'bad': its log_probs gave unit 1 probabilities that sum to {}, not to 1\n"
        "  help: log_softmax(&out(i, unit * outcome_count), outcome_count, out.col_stride());   // in "
        "log_probs, for "
        "every "
        "sample i",
        total);
  };
  CHECK(forward(0, 0.6) == text("1.1"));
  CHECK(forward(63, 0.25) == text("0.75"));
  CHECK(forward(99, 0) == text("0.5"));
  CHECK(forward(70, 0.5005) == text("1.0005"));
  CHECK(forward(70, 0.5 + (std::is_same_v<S, float> ? 5e-5 : 5e-10)) == "nothing was refused");
  CHECK(forward(70, -1) ==
        "error[log-probs-not-finite]: node 'bad': its log-probabilities are not numbers in sample 70, though "
        "its "
        "parameters are finite\n"
        "  help: logits have overflowed or log_probs is wrong: scale the inputs, or check the node by finite "
        "differences");
}
