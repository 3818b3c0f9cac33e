#include <hindsight/nodes/bernoulli.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hindsight/hindsight.hpp>

#include "support/finite_differences.hpp"
#include "support/shapes.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

//  x, y, k and s are read by one node: real-valued, binary, categorical and, through some pairs only, binary
struct FourParents {
  FourParents() {
    all[3].connectivity = &wiring;
    sparse_input[0].connectivity = &wiring;
    sparse_input[1].connectivity = &wiring;
  }
  Connectivity wiring = wired(5, {{0, 1, 3}, {}, {4}});  // three child units
  std::vector<ParentShape> all = {{.name = "x", .units = 3},
                                  {.name = "y", .units = 2, .encoding = scalar_encoding({-1, 1})},
                                  {.name = "k", .units = 2, .encoding = one_hot_encoding(4)},
                                  {.name = "s", .units = 5, .encoding = scalar_encoding({0, 1})}};
  std::vector<ParentShape> sparse_input = {{.name = "x", .units = 5},
                                           {.name = "k", .units = 5, .encoding = one_hot_encoding(3)}};
};

}  // namespace

TEST_CASE("a Bernoulli population has weights per edge and then a bias per unit") {
  const FourParents parents;
  const Shape shape = Bernoulli{.units = 3}.shape(parents.all);
  CHECK(shape.units == 3);
  CHECK(shape.outcome_count() == 2);
  CHECK(shape.logits == 1);
  CHECK(shape.encoding == scalar_encoding({-1, 1}));
  CHECK(blocks_of(shape) == "weights/x 3x3 weights/y 3x2 weights/k 3x8 weights/s 4x1 bias 3x1 ");
  CHECK(shape.parameter_count() == 9 + 6 + 24 + 4 + 3);
  CHECK(blocks_of(Bernoulli{}.shape({})) == "bias 1x1 ");
  CHECK(Bernoulli{.values = zero_one}.shape({}).encoding == scalar_encoding({0, 1}));
  CHECK(blocks_of(Bernoulli{.units = 3}.shape(parents.sparse_input)) ==
        "weights/x 4x1 weights/k 12x1 bias 3x1 ");
}

// Two units; x has two real units read by both, s has three binary units of which unit 0 reads 0 and 2, unit
// 1 reads 1.
TEST_CASE_TEMPLATE("weights lie edge by edge and unit by unit", S, float, double) {
  const Connectivity wiring = wired(3, {{0, 2}, {1}});
  const std::vector<ParentShape> parents = {
      {.name = "x", .units = 2},
      {.name = "s", .units = 3, .encoding = scalar_encoding({-1, 1}), .connectivity = &wiring}};
  const std::vector<S> theta = {1, 2, 3, 4, /* s */ 5, 6, 7, /* bias */ S(0.5), S(0.25)};
  const std::vector<S> features = {S(0.1), S(0.2), /* s */ 1, -1, 1};
  const std::vector<Outcome> outcomes = {-1, -1, 1, 0, 1};
  std::vector<S> out(4);
  Bernoulli{.units = 2}.log_probs(std::span<const S>(theta), Reading<S>{features, outcomes, parents},
                                  std::span<S>(out));
  CHECK(out[1] - out[0] == doctest::Approx(0.5 + 1 * 0.1 + 2 * 0.2 + 5 + 6));
  CHECK(out[3] - out[2] == doctest::Approx(0.25 + 3 * 0.1 + 4 * 0.2 - 7));
  CHECK(std::exp(out[0]) + std::exp(out[1]) == doctest::Approx(1));
}

TEST_CASE("the gradient of a Bernoulli population is that of its log-probabilities") {
  const FourParents parents;
  for (const TwoValues values : {minus_plus_one, zero_one, TwoValues{2.5, -0.75}}) {
    const Bernoulli node{.units = 3, .values = values};
    for (const auto& of : {parents.all, parents.sparse_input, std::vector<ParentShape>{}}) {
      const GradientErrors errors = gradient_errors(node, of, 1);
      CHECK(errors.in_double < 1e-8);
      CHECK(errors.in_float < 1e-5);
    }
  }
  std::vector<ParentShape> other_values = {
      {.name = "y", .units = 4, .encoding = scalar_encoding({2.5, -0.75})},
      {.name = "w", .units = 2, .encoding = Encoding{3, 2, {1, 2, -1, 0.5, 0, -3}}}};
  CHECK(gradient_errors(Bernoulli{.units = 3}, other_values, 2).in_double < 1e-8);
}

//  a ─→ c ─→ r
TEST_CASE_TEMPLATE("children see the values of the outcome", S, float, double) {
  for (const TwoValues values : {minus_plus_one, zero_one, TwoValues{2.5, -0.75}}) {
    Graph graph;
    const NodeId a = graph.add("a", Bernoulli{.values = values}, {}), c = graph.add("c", Bernoulli{}, {a});
    graph.reward("r", {c});
    auto model = compile<S>(graph);
    model.parameters("c/weights/a")(0, 0) = S(3);
    auto run = model.workspace(2);
    const std::vector<Outcome> outcomes = {0, 1};
    model.forward(run, {}, {.clamp = {{a, outcomes}}});
    for (int i = 0; i < 2; ++i)
      CHECK(run.log_probs(c)(i, 1) - run.log_probs(c)(i, 0) ==
            doctest::Approx(3 * (i == 0 ? values.zero : values.one)));
  }
}

// Seed 4. 16384 samples: the frequency's standard deviation is at most 0.0039; the bound is 5 of them.
TEST_CASE_TEMPLATE("a Bernoulli unit fires as often as its sigmoid says", S, float, double) {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 3}, {});
  graph.reward("r", {a});
  auto model = compile<S>(graph, {.seed = 4});
  const double logits[] = {0.7, -2, 0};
  for (int unit = 0; unit < 3; ++unit) model.parameters("a/bias")(unit) = static_cast<S>(logits[unit]);
  auto run = model.workspace(16384);
  model.forward(run, {});
  for (int unit = 0; unit < 3; ++unit) {
    double fired = 0;
    for (int i = 0; i < 16384; ++i) fired += run.outcomes(a)(i, unit);
    CHECK(std::abs(fired / 16384 - 1 / (1 + std::exp(-logits[unit]))) < 5 * 0.0039);
  }
}

// Glorot: uniform in ±sqrt(6/(fan in + fan out)); 6 features are read, each by 40 logits. The largest of 240
// draws lies below 0.9 of the bound with probability 1e-11; the mean's standard deviation is
// bound/sqrt(3·240).
TEST_CASE_TEMPLATE("Glorot fills its range and leaves biases at zero", S, float, double) {
  Graph graph;
  const NodeId x = graph.input("x", 6), a = graph.add("a", Bernoulli{.units = 40}, {x});
  graph.reward("r", {a});
  const auto model = compile<S>(graph, {.seed = 8});
  const double bound = std::sqrt(6.0 / (6 + 40));
  double largest = 0, sum = 0;
  for (int i = 0; i < 40; ++i) {
    CHECK(model.parameters("a/bias")(i) == S(0));
    for (int j = 0; j < 6; ++j) {
      const auto weight = static_cast<double>(model.parameters("a/weights/x")(i, j));
      largest = std::max(largest, std::abs(weight));
      sum += weight;
    }
  }
  CHECK(largest <= bound * (1 + 1e-7));
  CHECK(largest > 0.9 * bound);
  CHECK(std::abs(sum / 240) < 5 * bound / std::sqrt(3.0 * 240));
}

TEST_CASE("Glorot depends on the seed") {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  graph.reward("r", {graph.add("a", Bernoulli{}, {x})});
  const auto first = compile(graph, {.seed = 1}), again = compile(graph, {.seed = 1}),
             other = compile(graph, {.seed = 2});
  CHECK(first.parameters("a/weights/x")(0, 0) == again.parameters("a/weights/x")(0, 0));
  CHECK(first.parameters("a/weights/x")(0, 0) != other.parameters("a/weights/x")(0, 0));
}

//  x ─→ a (3 units) ─→ c      and      x ─→ a0, a1, a2 ─→ c
TEST_CASE_TEMPLATE("Glorot gives a population and the same units one by one the same numbers", S, float,
                   double) {
  Graph together, apart;
  const NodeId x = together.input("x", 4), a = together.add("a", Bernoulli{.units = 3}, {x}),
               c = together.add("c", Categorical{.classes = 3}, {a});
  together.reward("r", {c});

  const NodeId x2 = apart.input("x", 4);
  std::vector<Edge> units;
  for (int i = 0; i < 3; ++i) units.emplace_back(apart.add(fmt::format("a{}", i), Bernoulli{}, {x2}));
  apart.reward("r", {apart.add("c", Categorical{.classes = 3}, units)});

  const auto whole = compile<S>(together, {.seed = 5}), parts = compile<S>(apart, {.seed = 5});
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j)
      CHECK(whole.parameters("a/weights/x")(i, j) == parts.parameters(fmt::format("a{}/weights/x", i))(0, j));
    for (int logit = 0; logit < 3; ++logit)
      CHECK(whole.parameters("c/weights/a")(logit, i) ==
            parts.parameters(fmt::format("c/weights/a{}", i))(logit, 0));
  }
}

//  x (3) ─→ a (2)  through pairs: unit 0 reads 0 and 2, unit 1 reads 2; b reads all of x
TEST_CASE("Glorot counts the features each unit reads and the logits that read each feature") {
  Graph sparse, dense;
  const NodeId x = sparse.input("x", 3);
  const NodeId a =
      sparse.add("a", Bernoulli{.units = 2}, {Edge{x, Pattern::pairs({{0, 0}, {2, 0}, {2, 1}})}});
  sparse.reward("r", {a, sparse.add("b", Categorical{.classes = 3}, {x})});
  const NodeId x2 = dense.input("x", 3);
  dense.reward(
      "r", {dense.add("a", Bernoulli{.units = 2}, {x2}), dense.add("b", Categorical{.classes = 3}, {x2})});
  const auto some = compile<double>(sparse, {.seed = 6}), all = compile<double>(dense, {.seed = 6});
  // The uniform behind a weight depends on the units it joins: only the bound differs from the dense
  // network's.
  const auto rescaled = [&](int unit, int parent, double fans) {
    return all.parameters("a/weights/x")(unit, parent) * std::sqrt((3 + 5) / fans);
  };
  CHECK(some.parameters("a/weights/x")(0) == doctest::Approx(rescaled(0, 0, 2 + 4)));
  CHECK(some.parameters("a/weights/x")(1) == doctest::Approx(rescaled(0, 2, 2 + 5)));
  CHECK(some.parameters("a/weights/x")(2) == doctest::Approx(rescaled(1, 2, 1 + 5)));
}

TEST_CASE("values that children cannot tell apart are refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  const std::pair<TwoValues, std::string> cases[] = {{{1, 1}, "1 and 1"},
                                                     {{nan, 1}, "nan and 1"},
                                                     {{0, infinity}, "0 and inf"},
                                                     {{nan, nan}, "nan and nan"}};
  Graph graph;
  for (const auto& [values, text] : cases) {
    const std::string expected =
        "error[values]: node 'a': its values " + text +
        " must be finite and different, or its children could not tell its outcomes apart\n"
        "  help: Bernoulli{.values = zero_one}   // or minus_plus_one, the default";
    CHECK_THROWS_WITH_AS(graph.add("a", Bernoulli{.values = values}, {}), expected.c_str(), Error);
  }
  CHECK(graph.node_count() == 0);
}

TEST_CASE("a population of no units is refused") {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  CHECK_THROWS_WITH_AS(graph.add("a", Bernoulli{.units = 0}, {x}),
                       "error[zero-units]: node 'a': it has 0 units; a population has at least 1\n"
                       "  help: .units = 1",
                       Error);
  CHECK_THROWS_WITH_AS(graph.add("a", Bernoulli{.units = -3}, {Edge{x, Pattern::pairs({{0, 0}})}}),
                       "error[zero-units]: node 'a': it has -3 units; a population has at least 1\n"
                       "  help: .units = 1",
                       Error);
}
