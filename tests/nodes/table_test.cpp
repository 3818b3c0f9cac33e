#include <hindsight/nodes/table.hpp>

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/finite_differences.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// Rows of random probabilities; `zeros` puts a 0 at another place in every row.
std::vector<std::vector<double>> random_rows(std::size_t rows, std::size_t outcome_count, bool zeros) {
  std::mt19937_64 rng(17);
  std::uniform_real_distribution<double> uniform(0.1, 1);
  std::vector<std::vector<double>> table(rows, std::vector<double>(outcome_count));
  for (std::size_t i = 0; i < rows; ++i) {
    double total = 0;
    for (std::size_t k = 0; k < outcome_count; ++k)
      total += table[i][k] = zeros && k == i % outcome_count ? 0 : uniform(rng);
    for (double& p : table[i]) p /= total;
  }
  return table;
}

const std::vector<ParentShape> binary_and_ternary = {
    {.name = "y", .units = 2, .encoding = scalar_encoding({-1, 1})},
    {.name = "k", .units = 1, .encoding = one_hot_encoding(3)}};

}  // namespace

TEST_CASE("a Table has logits per unit and row") {
  const Shape shape = Table{.rows = random_rows(12, 4, false), .units = 3}.shape(binary_and_ternary);
  CHECK(shape.units == 3);
  CHECK(shape.outcome_count() == 4);
  CHECK(shape.encoding == one_hot_encoding(4));
  REQUIRE(shape.parameters.size() == 1);
  CHECK(shape.parameters[0].name == "logits");
  CHECK(shape.parameters[0].rows == 36);
  CHECK(shape.parameters[0].cols == 4);
  CHECK(Table{.rows = {{0.5, 0.5}}, .values = {-1, 3}}.shape({}).encoding == scalar_encoding({-1, 3}));
}

//  y (2 units), k ─→ t
TEST_CASE_TEMPLATE("the last parent varies fastest and the rows are the first probabilities", S, float,
                   double) {
  Graph graph;
  const NodeId y = graph.add("y", Bernoulli{.units = 2}, {}),
               k = graph.add("k", Categorical{.classes = 3}, {});
  const auto rows = random_rows(12, 4, true);
  const NodeId t = graph.add("t", Table{.rows = rows, .units = 2}, {y, k});
  graph.reward("r", {t});
  const auto model = compile<S>(graph);
  auto run = model.workspace(12);
  std::vector<Outcome> of_y, of_k;
  for (Outcome i = 0; i < 12; ++i) {
    of_y.insert(of_y.end(), {i / 6, i / 3 % 2});
    of_k.push_back(i % 3);
  }
  model.forward(run, {}, {.clamp = {{y, MatrixView<const Outcome>(of_y.data(), 12, 2)}, {k, of_k}}});
  for (int i = 0; i < 12; ++i)
    for (int entry = 0; entry < 8; ++entry)
      CHECK(std::exp(run.log_probs(t)(i, entry)) ==
            doctest::Approx(rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(entry % 4)]));
}

TEST_CASE_TEMPLATE("each unit of a Table has rows of its own", S, float, double) {
  Graph graph;
  const NodeId t = graph.add("t", Table{.rows = {{0.5, 0.5}}, .units = 2}, {});
  graph.reward("r", {t});
  auto model = compile<S>(graph);
  model.parameters("t/logits")(1, 1) += S(2);
  auto run = model.workspace(1);
  model.forward(run, {});
  CHECK(run.log_probs(t)(0, 1) == doctest::Approx(std::log(0.5)));
  CHECK(run.log_probs(t)(0, 3) == doctest::Approx(-std::log1p(std::exp(-2.0))));
}

TEST_CASE("the gradient of a Table is that of its log-probabilities") {
  for (const bool zeros : {false, true})
    for (const std::size_t outcome_count : {2U, 3U, 5U})
      for (const int units : {1, 3}) {
        const GradientErrors with_parents = gradient_errors(
            Table{.rows = random_rows(12, outcome_count, zeros), .units = units}, binary_and_ternary, 5);
        CHECK(with_parents.in_double < 1e-8);
        CHECK(with_parents.in_float < 1e-5);
        const GradientErrors alone =
            gradient_errors(Table{.rows = random_rows(1, outcome_count, zeros), .units = units}, {}, 6);
        CHECK(alone.in_double < 1e-8);
      }
}

TEST_CASE_TEMPLATE("a probability of zero stays zero and has no gradient", S, float, double) {
  const Table table{.rows = {{0.25, 0, 0.75}}};
  const std::vector<S> theta = {S(0.3), S(50), S(-0.2)}, weights = {S(1), S(0), S(-2)};
  std::vector<S> out(3), gradient(3, S(0));
  const ChunkReading<S> nothing = as_chunk(Reading<S>{});
  table.log_probs(std::span<const S>(theta), nothing, one_sample(out));
  CHECK(out[1] == -std::numeric_limits<S>::infinity());
  CHECK(std::exp(out[0]) + std::exp(out[2]) == doctest::Approx(1));
  table.accumulate(std::span<const S>(theta), nothing, one_sample(weights), std::span<S>(gradient));
  CHECK(gradient[1] == S(0));
  CHECK(gradient[0] + gradient[2] == doctest::Approx(0));
  const std::vector<S> on_the_impossible = {S(0), S(3), S(0)};
  table.accumulate(std::span<const S>(theta), nothing, one_sample(on_the_impossible), std::span<S>(gradient));
  CHECK(gradient[1] == S(0));
}

// Seed 3. 16384 samples: a frequency's standard deviation is at most 0.0039; the bound is 5 of them. What has
// probability zero never happens, be it the first, a middle or the last outcome.
TEST_CASE_TEMPLATE("a Table draws by its rows and never what is impossible", S, float, double) {
  for (const std::vector<double>& row : {std::vector<double>{0, 0.3, 0.7}, std::vector<double>{0.3, 0, 0.7},
                                         std::vector<double>{0.3, 0.7, 0}, std::vector<double>{0, 1, 0}}) {
    Graph graph;
    const NodeId t = graph.add("t", Table{.rows = {row}}, {});
    graph.reward("r", {t});
    const auto model = compile<S>(graph, {.seed = 3});
    auto run = model.workspace(16384);
    model.forward(run, {});
    std::vector<double> counts(3, 0.0);
    for (int i = 0; i < 16384; ++i) counts[static_cast<std::size_t>(run.outcomes(t)(i))] += 1;
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(std::abs(counts[k] / 16384 - row[k]) < 5 * 0.0039);
      if (row[k] == 0) CHECK(counts[k] == 0);
    }
  }
}

TEST_CASE("a Table with another number of rows than its parents have joint outcomes is refused") {
  Graph graph;
  const NodeId y = graph.add("y", Bernoulli{.units = 2}, {}),
               k = graph.add("k", Categorical{.classes = 3}, {});
  CHECK_THROWS_WITH_AS(graph.add("t", Table{.rows = random_rows(7, 2, false)}, {y, k}),
                       "error[table-rows]: node 't': its table has 7 rows; one is needed for each joint "
                       "outcome of its parents, 12 in all\n"
                       "  help: give one row per joint outcome, the last parent varying fastest",
                       Error);
  CHECK_THROWS_WITH_AS(graph.add("t", Table{.rows = {}}, {}),
                       "error[table-rows]: node 't': its table has 0 rows; one is needed for each joint "
                       "outcome of its parents, 1 in all\n"
                       "  help: give one row per joint outcome, the last parent varying fastest",
                       Error);
}

TEST_CASE("a Table of one outcome is refused") {
  Graph graph;
  CHECK_THROWS_WITH_AS(graph.add("t", Table{.rows = {{1.0}}}, {}),
                       "error[one-class]: node 't': a Table chooses among at least 2 outcomes, not 1\n"
                       "  help: Table{.rows = {{0.5, 0.5}}}",
                       Error);
}

TEST_CASE("rows that are no distributions are refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string sum = "\n  help: make the entries of each row non-negative and their sum 1",
                    head = "error[table-rows]: node 't': row 1 of its table";
  const std::pair<std::vector<double>, std::string> cases[] = {
      {{0.25, 0.25, 0.5},
       head + " has 3 entries, row 0 has 2\n  help: give every row one probability per outcome"},
      {{0.5, 0.6}, head + ", {0.5, 0.6}, sums to 1.1, not to 1" + sum},
      {{0, 0}, head + ", {0, 0}, sums to 0, not to 1" + sum},
      {{-0.5, 1.5}, head + ", {-0.5, 1.5}, holds what is no probability" + sum},
      {{nan, 1}, head + ", {nan, 1}, holds what is no probability" + sum}};
  Graph graph;
  const NodeId y = graph.add("y", Bernoulli{}, {});
  for (const auto& [row, expected] : cases)
    CHECK_THROWS_WITH_AS(graph.add("t", Table{.rows = {{0.5, 0.5}, row}}, {y}), expected.c_str(), Error);
  CHECK(graph.node_count() == 1);
  CHECK_NOTHROW(graph.add("t", Table{.rows = {{0.5, 0.5}, {1.0 / 3, 2.0 / 3}}}, {y}));
}

TEST_CASE("a Table that reads real numbers is refused") {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  CHECK_THROWS_WITH_AS(
      graph.add("t", Table{.rows = {{0.5, 0.5}}}, {x}),
      "error[table-parent]: node 't': a Table has a row per outcome of its parents, but 'x' is real-valued\n"
      "  help: read it through a discrete node, e.g. graph.add(\"bits\", Bernoulli{.units = 4}, {x})",
      Error);
}

TEST_CASE("values that do not fit a Table's outcomes are refused") {
  Graph graph;
  const std::string help = " finite numbers, one per outcome\n  help: leave .values out for one-hot features";
  CHECK_THROWS_WITH_AS(graph.add("t", Table{.rows = {{0.5, 0.5}}, .values = {1, 2, 3}}, {}),
                       ("error[values]: node 't': its values {1, 2, 3} must be 2" + help).c_str(), Error);
  CHECK_THROWS_WITH_AS(
      graph.add("t", Table{.rows = {{0.5, 0.5}}, .values = {1, std::numeric_limits<double>::infinity()}}, {}),
      ("error[values]: node 't': its values {1, inf} must be 2" + help).c_str(), Error);
}
