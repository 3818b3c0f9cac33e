#include <hindsight/nodes/categorical.hpp>

#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hindsight/hindsight.hpp>

#include "support/finite_differences.hpp"
#include "support/shapes.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

const std::vector<ParentShape> three_parents = {
    {.name = "x", .units = 3},
    {.name = "y", .units = 2, .encoding = scalar_encoding({-1, 1})},
    {.name = "k", .units = 2, .encoding = one_hot_encoding(4)}};

}  // namespace

TEST_CASE("a Categorical population has a row of weights per unit and class") {
  const Shape shape = Categorical{.units = 2, .classes = 5}.shape(three_parents);
  CHECK(shape.units == 2);
  CHECK(shape.outcome_count() == 5);
  CHECK(shape.logits == 5);
  CHECK(shape.encoding.is_one_hot());
  CHECK(shape.encoding.width == 5);
  CHECK(shape.encoding.value(3, 3) == 1);
  CHECK(shape.encoding.value(3, 2) == 0);
  CHECK(blocks_of(shape) == "weights/x 10x3 weights/y 10x2 weights/k 10x8 bias 10x1 ");
  CHECK(shape.parameter_count() == 30 + 20 + 80 + 10);
  const Connectivity wiring = wired(2, {{1}, {0, 1}});
  const std::vector<ParentShape> sparse = {
      {.name = "k", .units = 2, .encoding = one_hot_encoding(4), .connectivity = &wiring}};
  CHECK(blocks_of(Categorical{.units = 2, .classes = 3}.shape(sparse)) == "weights/k 36x1 bias 6x1 ");
}

// Two units of three classes. x has two real units, read by all; s has three binary units of which unit 0
// reads 0 and 2 and unit 1 reads 1. Weights: edge by edge, then unit by unit, then class by class.
TEST_CASE_TEMPLATE("weights lie edge by edge and unit by unit and class by class", S, float, double) {
  const Connectivity wiring = wired(3, {{0, 2}, {1}});
  const std::vector<ParentShape> parents = {
      {.name = "x", .units = 2},
      {.name = "s", .units = 3, .encoding = scalar_encoding({-1, 1}), .connectivity = &wiring}};
  std::vector<S> theta;
  for (int i = 0; i < 2 * 3 * 2 + 3 * 3 + 6; ++i) theta.push_back(static_cast<S>(0.1 * i * (i % 3 - 1)));
  const std::vector<S> features = {S(0.5), S(-2), /* s */ 1, -1, 1};
  const std::vector<Outcome> outcomes = {-1, -1, 1, 0, 1};
  std::vector<S> out(6);
  Categorical{.units = 2, .classes = 3}.log_probs(std::span<const S>(theta),
                                                  Reading<S>{features, outcomes, parents}, std::span<S>(out));
  const auto at = [&](int i) { return static_cast<double>(theta[static_cast<std::size_t>(i)]); };
  double logits[6];
  for (int row = 0; row < 6; ++row) logits[row] = at(21 + row) + at(2 * row) * 0.5 + at(2 * row + 1) * -2;
  for (int k = 0; k < 3; ++k) {
    logits[k] += at(12 + 2 * k) * 1 + at(13 + 2 * k) * 1;
    logits[3 + k] += at(18 + k) * -1;
  }
  for (int unit = 0; unit < 2; ++unit) {
    double total = 0;
    for (int k = 0; k < 3; ++k) total += std::exp(logits[3 * unit + k]);
    for (int k = 0; k < 3; ++k)
      CHECK(out[static_cast<std::size_t>(3 * unit + k)] ==
            doctest::Approx(logits[3 * unit + k] - std::log(total)));
  }
}

TEST_CASE("the gradient of a Categorical population is that of its log-probabilities") {
  const Connectivity wiring = wired(5, {{0, 1, 3}, {}, {4}});
  const std::vector<ParentShape> sparse = {
      {.name = "x", .units = 5, .connectivity = &wiring},
      {.name = "k", .units = 5, .encoding = one_hot_encoding(3), .connectivity = &wiring},
      {.name = "w", .units = 2, .encoding = Encoding{3, 2, {1, 2, -1, 0.5, 0, -3}}}};
  for (int classes = 2; classes <= 5; ++classes)
    for (const auto& parents : {three_parents, sparse, std::vector<ParentShape>{}}) {
      const GradientErrors errors = gradient_errors(Categorical{.units = 3, .classes = classes}, parents, 3);
      CHECK(errors.in_double < 1e-8);
      CHECK(errors.in_float < 1e-5);
    }
}

//  k ─→ c ─→ r
TEST_CASE_TEMPLATE("children see which class was picked", S, float, double) {
  Graph graph;
  const NodeId k = graph.add("k", Categorical{.units = 2, .classes = 3}, {}),
               c = graph.add("c", Bernoulli{}, {k});
  graph.reward("r", {c});
  auto model = compile<S>(graph);
  for (int feature = 0; feature < 6; ++feature)
    model.parameters("c/weights/k")(0, feature) = static_cast<S>(feature + 1);
  auto run = model.workspace(9);
  std::vector<Outcome> outcomes;
  for (Outcome first = 0; first < 3; ++first)
    for (Outcome second = 0; second < 3; ++second) outcomes.insert(outcomes.end(), {first, second});
  model.forward(run, {}, {.clamp = {{k, MatrixView<const Outcome>(outcomes.data(), 9, 2)}}});
  for (int i = 0; i < 9; ++i) {
    const double expected = (1 + i / 3) + (4 + i % 3);
    CHECK(run.log_probs(c)(i, 1) - run.log_probs(c)(i, 0) == doctest::Approx(expected));
  }
}

// Seed 9. 16384 samples: a frequency's standard deviation is at most 0.0039; the bound is 5 of them.
TEST_CASE_TEMPLATE("a Categorical unit picks classes as often as its softmax says", S, float, double) {
  Graph graph;
  const NodeId a = graph.add("a", Categorical{.units = 2, .classes = 4}, {});
  graph.reward("r", {a});
  auto model = compile<S>(graph, {.seed = 9});
  const double logits[2][4] = {{0, 1, -1, 0.5}, {2, 2, -3, 0}};
  for (int row = 0; row < 8; ++row)
    model.parameters("a/bias")(row) = static_cast<S>(logits[row / 4][row % 4]);
  auto run = model.workspace(16384);
  model.forward(run, {});
  for (int unit = 0; unit < 2; ++unit) {
    double total = 0, counts[4] = {};
    for (const double logit : logits[unit]) total += std::exp(logit);
    for (int i = 0; i < 16384; ++i) counts[run.outcomes(a)(i, unit)] += 1;
    for (int k = 0; k < 4; ++k)
      CHECK(std::abs(counts[k] / 16384 - std::exp(logits[unit][k]) / total) < 5 * 0.0039);
  }
}

//  x ─→ a (2 units) ─→ c (2 units)      and      x ─→ a0, a1 ─→ c0, c1     all of 3 classes
TEST_CASE_TEMPLATE("Glorot gives categorical units one by one the numbers of their population", S, float,
                   double) {
  Graph together, apart;
  const Categorical two{.units = 2, .classes = 3}, one{.classes = 3};
  const NodeId x = together.input("x", 2), a = together.add("a", two, {x});
  together.reward("r", {together.add("c", two, {Edge{a, Pattern::pairs({{0, 0}, {0, 1}, {1, 1}})}})});

  const NodeId y = apart.input("x", 2), a0 = apart.add("a0", one, {y}), a1 = apart.add("a1", one, {y});
  const NodeId c0 = apart.add("c0", one, {a0}), c1 = apart.add("c1", one, {a0, a1});
  apart.reward("r", {c0, c1});

  const auto whole = compile<S>(together, {.seed = 5}), parts = compile<S>(apart, {.seed = 5});
  for (int row = 0; row < 6; ++row)
    for (int j = 0; j < 2; ++j)
      CHECK(whole.parameters("a/weights/x")(row, j) ==
            parts.parameters(fmt::format("a{}/weights/x", row / 3))(row % 3, j));
  // c's 27 weights: unit 0 reads a's unit 0 (3 classes × 3 features); unit 1 reads both (3 classes × 6
  // features).
  const auto pieces = whole.parameters("c/weights/a");
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j) {
      CHECK(pieces(3 * k + j) == parts.parameters("c0/weights/a0")(k, j));
      CHECK(pieces(9 + 6 * k + j) == parts.parameters("c1/weights/a0")(k, j));
      CHECK(pieces(9 + 6 * k + 3 + j) == parts.parameters("c1/weights/a1")(k, j));
    }
  // Unit 0 of c reads 3 features, unit 1 reads 6; a's unit 0 is read by 6 logits, its unit 1 by 3.
  for (int i = 0; i < 9; ++i) CHECK(std::abs(pieces(i)) <= S(std::sqrt(6.0 / (3 + 6))));
  for (const S weight : parts.parameters()) CHECK(std::abs(weight) < S(1));
  for (int row = 0; row < 6; ++row) CHECK(whole.parameters("c/bias")(row) == S(0));
}

TEST_CASE("a Categorical of fewer than two classes is refused") {
  Graph graph;
  CHECK_THROWS_WITH_AS(graph.add("k", Categorical{.classes = 1}, {}),
                       "error[one-class]: node 'k': a Categorical chooses among at least 2 classes, not 1\n"
                       "  help: Categorical{.classes = 2}",
                       Error);
  CHECK_THROWS_WITH_AS(graph.add("k", Categorical{.classes = -4}, {}),
                       "error[one-class]: node 'k': a Categorical chooses among at least 2 classes, not -4\n"
                       "  help: Categorical{.classes = 2}",
                       Error);
}
