#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "support/random_graphs.hpp"
#include "support/share.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

const AnyEstimator relaxed = Hnca{.assumption = Assumption::relaxed};
const std::vector<AnyEstimator> stand_ins{relaxed, Reinforce{}};

/// REINFORCE with its weights times `factor`: off by that much, and says it is not.
struct Scaled : Reinforce {
  double factor = 1;
  std::string name() const { return fmt::format("scaled({})", factor); }
  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
    for (int unit = 0; unit < view.units; ++unit)
      for (int i = 0; i < view.samples; ++i)
        credit(unit, view.outcome(unit, i), i) += static_cast<S>(factor) * view.signal[i];
  }
};
static_assert(Estimator<Scaled>);

/// A random graph with everything a comparison needs.
struct Scene {
  explicit Scene(std::uint64_t seed, RandomGraphOptions options = {.most_states = 256})
      : random(random_graph(seed, options)) {
    inputs = random.bind(storage);
    model.emplace(random_model<float>(random.graph, seed));
  }
  Comparison compare(const MicroscopeOptions& options) const {
    return compare_estimators(random.graph, model->parameters(), {inputs, random.rewards}, options);
  }

  RandomGraph random;
  std::vector<std::vector<float>> storage;
  std::vector<InputValues<float>> inputs;
  std::optional<Model> model;
};

double squared_sum(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

}  // namespace

TEST_CASE("under the microscope means, variances and the reference are those of the oracle") {
  int measured = 0;
  for (std::uint64_t seed = 0; seed < share(8U); ++seed) {
    const Scene scene(seed, {.functions = seed % 3 == 0, .rows = seed % 2 == 0, .most_states = 256});
    const Comparison comparison = scene.compare({.contenders = {{Reinforce{}},
                                                                {relaxed},
                                                                {HindsightCredit{}},
                                                                {Reinforce{}, LeaveOneOut{.samples = 2}}},
                                                 .stand_ins = stand_ins,
                                                 .gradients = 2000,
                                                 .batch = 16,
                                                 .most_states = 1 << 12,
                                                 .elimination_limit = 1e9});
    REQUIRE(comparison.states > 0);
    const BasicModel<double> judge = [&] {
      BasicModel<double> model = compile<double>(scene.random.graph);
      std::copy(scene.model->parameters().begin(), scene.model->parameters().end(),
                model.parameters().begin());
      return model;
    }();
    std::vector<std::vector<double>> storage;
    const Enumeration exact =
        enumerate<double>(judge, scene.random.bind(storage), scene.random.rewards, {.variance = false});
    for (std::size_t i = 0; i < exact.gradient.size(); ++i)
      CHECK(comparison.reference[i] == doctest::Approx(exact.gradient[i]).epsilon(1e-5));
    for (const Comparison::Row& row : comparison.rows) {
      CAPTURE(seed);
      CAPTURE(row.contender.name());
      if (!row.refusal.empty()) continue;  // rewards read every node
      CHECK(row.seconds_per_sample > 0);
      double blocks = 0, nodes = 0;
      for (const double variance : row.block_variances) blocks += variance;
      for (std::size_t i = 0; i < row.nodes.size(); ++i) {
        const Comparison::View& view = row.nodes[i];
        CAPTURE(comparison.nodes[i].name);
        nodes += view.best_variance();
        CHECK(view.unbiased);
        // Over all nodes here 5 standard deviations come once in 10,000 runs; the seed is fixed.
        CHECK(std::abs(view.z) < certain_z);
        if (!view.exact_bias) continue;  // too many pairs of joint outcomes
        ++measured;
        CHECK(*view.exact_bias < 1e-6);
        // 32,000 samples: the variance of heavy tails is within a quarter.
        CHECK(view.variance == doctest::Approx(*view.exact_variance).epsilon(0.25).scale(1e-9));
      }
      CHECK(blocks == doctest::Approx(nodes));
    }
  }
  CHECK(measured >= share(60));
}

TEST_CASE("a bias is found and measured, against the exact gradient and against a long run") {
  for (const std::size_t most_states : {std::size_t{1} << 14, std::size_t{0}}) {
    const Scene scene(3);
    const Comparison comparison =
        scene.compare({.contenders = {{Scaled{{}, 1.5}}, {Scaled{{}, 1.0}}, {relaxed}},
                       .stand_ins = stand_ins,
                       .gradients = 2000,
                       .reference_gradients = 10000,
                       .most_states = most_states});
    CHECK((comparison.states > 0) == (most_states > 0));
    double largest = 0;
    for (std::size_t i = 0; i < comparison.nodes.size(); ++i) {
      const Comparison::Node& node = comparison.nodes[i];
      CAPTURE(node.name);
      CHECK((node.reference_error == 0) == (most_states > 0));
      CHECK(std::abs(comparison.rows[1].nodes[i].z) < certain_z);
      CHECK(std::abs(comparison.rows[2].nodes[i].z) < certain_z);
      const double norm = std::sqrt(
          squared_sum(std::span(comparison.reference).subspan(node.parameters.first, node.parameters.count)));
      const Comparison::View& biased = comparison.rows[0].nodes[i];
      largest = std::max(largest, biased.z);
      // Half the gradient, up to what the standard errors allow.
      const double error = std::sqrt(biased.variance / 2000 / 64) + node.reference_error;
      CHECK(std::abs(biased.bias - norm / 2) < 5 * error);
      if (most_states > 0) CHECK(*biased.exact_bias == doctest::Approx(norm / 2).epsilon(1e-4));
    }
    CHECK(largest > certain_z);
  }
}

TEST_CASE("z scores of unbiased estimators are standard normal, also where the reference is a long run") {
  std::vector<double> scores;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Scene scene(seed);
    const Comparison comparison = scene.compare({.contenders = {{Reinforce{}}},
                                                 .stand_ins = stand_ins,
                                                 .gradients = 400,
                                                 .reference_gradients = 400,
                                                 .batch = 16,
                                                 .most_states = seed % 2 == 0 ? std::size_t{1} << 14 : 0,
                                                 .seed = seed});
    for (const Comparison::View& view : comparison.rows[0].nodes)
      if (view.variance > 0) scores.push_back(view.z);
  }
  REQUIRE(scores.size() > 100);
  double mean = 0, square = 0;
  for (const double z : scores) {
    mean += z / static_cast<double>(scores.size());
    square += z * z / static_cast<double>(scores.size());
  }
  // Nodes of one graph are not independent: four standard errors of half as many scores.
  CHECK(std::abs(mean) < 4 / std::sqrt(0.5 * static_cast<double>(scores.size())));
  CHECK(std::abs(square - 1) < 4 * std::sqrt(4.0 / static_cast<double>(scores.size())));
}

TEST_CASE("doubt is the distance of the posterior from the sampled outcome, step by step") {
  //  x ─→ a ─→ b ─→ c     chances that can be told by hand: each copies its parent with 3 in 4
  Graph graph;
  const Table copies{.rows = {{0.75, 0.25}, {0.25, 0.75}}};
  const NodeId a = graph.add("a", Table{.rows = {{0.5, 0.5}}}, {});
  const NodeId b = graph.add("b", copies, {a});
  const NodeId c = graph.add("c", copies, {b});
  const RewardId r = graph.reward("r", {c});
  const std::vector<RewardFunction> rewards{{r, [c](const JointOutcome& outcome) { return outcome(c); }}};
  const Comparison comparison = compare_estimators(
      graph, {}, {{}, rewards},
      {.contenders = {{Hnca{}}, {HindsightCredit{}}, {Reinforce{}}}, .stand_ins = stand_ins});
  // 64 batches of 64 samples: four standard errors are below 0.02.
  CHECK(comparison.nodes[0].prior_doubt == doctest::Approx(0.5));
  CHECK(comparison.nodes[1].prior_doubt == doctest::Approx(2 * 0.75 * 0.25).epsilon(0.05));
  CHECK(*comparison.rows[0].nodes[0].doubt == doctest::Approx(2 * 0.75 * 0.25).epsilon(0.05));
  // Given c alone: 0.75² + 0.25² = 0.625 speaks for the same.
  CHECK(*comparison.rows[1].nodes[0].doubt == doctest::Approx(2 * 0.625 * 0.375).epsilon(0.05));
  CHECK_FALSE(comparison.rows[0].nodes[2].doubt);  // a stand-in credits it
  CHECK_FALSE(comparison.rows[0].nodes[2].applies);
  CHECK_FALSE(comparison.rows[2].nodes[0].doubt);
}

TEST_CASE("advice takes the least variance × time among what is unbiased and was seen to be") {
  const Scene scene(3);
  Comparison comparison = scene.compare(
      {.contenders = {{Scaled{{}, 0.1}}, {Reinforce{}}, {relaxed}, {Reinforce{}, LeaveOneOut{.samples = 2}}},
       .stand_ins = stand_ins,
       .gradients = 4000});
  for (Comparison::Row& row : comparison.rows) row.seconds_per_sample = 1;
  comparison.rows[3].seconds_per_sample = 1e6;
  const Graph advised = advise(scene.random.graph, comparison);
  CHECK(validate(advised).admissible());
  // At equal times variance decides, node by node.
  int hindsight = 0;
  for (std::size_t i = 0; i < comparison.nodes.size(); ++i) {
    const auto& rows = comparison.rows;
    const NodeId node = comparison.nodes[i].id;
    if (!advised.is_stochastic(node) || std::abs(rows[0].nodes[i].z) <= certain_z) continue;
    const bool better =
        rows[2].nodes[i].applies && rows[2].nodes[i].best_variance() < rows[1].nodes[i].best_variance();
    hindsight += better;
    CAPTURE(comparison.nodes[i].name);
    CHECK((advised.choice(node).chosen()->name() == relaxed.name()) == better);
  }
  CHECK(hindsight > 0);
  // Where time decides, it decides for all alike.
  comparison.rows[3].seconds_per_sample = 1e-6;
  const Graph doubled = advise(scene.random.graph, comparison);
  CHECK(compile(doubled).replicas() == 2);
}

TEST_CASE("a contender that no node admits takes no part and says why, and biased ones are marked") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const RewardId r = graph.reward("r", {a, b});
  const std::vector<float> values{1, -1};
  const std::vector<InputValues<float>> inputs{{x, values}};
  const std::vector<RewardFunction> rewards{{r, [b](const JointOutcome& outcome) { return outcome(b); }}};
  const Comparison comparison =
      compare_estimators(graph, {}, {inputs, rewards}, {.contenders = {{Hnca{}}, {Reinforce{}}, {}}});
  CHECK(comparison.rows[0].refusal.starts_with("comes to nothing: node 'a': "));
  CHECK(comparison.rows[0].nodes.empty());
  CHECK(comparison.rows[1].refusal == "");
  CHECK(comparison.rows[2].contender.name() == "as the graph says");
  CHECK(comparison.rows[2].variance() == doctest::Approx(comparison.rows[1].variance()));

  Graph chain;
  const NodeId first = chain.add("a", Bernoulli{}, {});
  const NodeId last = chain.add("b", Bernoulli{}, {first});
  const std::vector<RewardFunction> reads{
      {chain.reward("r", {last}), [last](const JointOutcome& outcome) { return outcome(last); }}};
  const Comparison biased = compare_estimators(chain, {}, {{}, reads}, {.contenders = {{StraightThrough{}}}});
  CHECK_FALSE(biased.rows[0].nodes[0].unbiased);
  CHECK(biased.rows[0].nodes[1].unbiased);
  CHECK_FALSE(advise(chain, biased).choice(first).chosen());
}

TEST_CASE("what a microscope cannot look at is refused by name") {
  Graph graph;
  const NodeId x = graph.input("x", 1), y = graph.input("y", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x, y});
  const RewardId r = graph.reward("r", {a});
  const std::vector<float> one{1}, two{1, 2};
  const std::vector<InputValues<float>> inputs{{x, one}, {y, one}}, uneven{{x, two}, {y, one}};
  const std::vector<RewardFunction> rewards{{r, [a](const JointOutcome& outcome) { return outcome(a); }}};
  const std::vector<RewardFunction> throwing{
      {r, [](const JointOutcome&) -> double { throw std::runtime_error("no such prize"); }}};
  const std::vector<RewardFunction> nan{
      {r, [](const JointOutcome&) { return std::numeric_limits<double>::quiet_NaN(); }}};
  const MicroscopeOptions options{.contenders = {{Reinforce{}}}};
  const std::vector<float> short_of_parameters{1};
  const auto code = [&](std::span<const float> parameters, const Task& task, const MicroscopeOptions& with) {
    try {
      compare_estimators(graph, parameters, task, with);
    } catch (const Error& error) {
      return error.report().diagnostics.front().code;
    }
    return std::string("nothing was refused");
  };
  CHECK(code({}, {inputs, rewards}, {}) == "microscope-options");
  CHECK(code({}, {inputs, rewards}, {.contenders = options.contenders, .gradients = 3}) ==
        "microscope-options");
  for (const int batch : {0, -1})
    CHECK(code({}, {inputs, rewards}, {.contenders = options.contenders, .batch = batch}) ==
          "microscope-options");
  const std::vector<InputValues<float>> none{{x, std::span(one).first(0)}, {y, std::span(one).first(0)}};
  CHECK(code({}, {none, rewards}, options) == "microscope-inputs");
  CHECK(code({}, {uneven, rewards}, options) == "microscope-inputs");
  CHECK(code(short_of_parameters, {inputs, rewards}, options) == "microscope-parameters");
  CHECK(code({}, {inputs, throwing}, options) == "reward-threw");
  CHECK(code({}, {inputs, nan}, options) == "reward-not-finite");
  CHECK(code({}, {{}, rewards}, options) == "missing-input");
  CHECK(code({}, {inputs, {}}, options) == "missing-reward");
}

TEST_CASE("few gradients and outcomes that are rare make no bias of what is exact") {
  Graph graph;
  const NodeId a = graph.add("a", Table{.rows = {{0.99999, 0.00001}}}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const std::vector<RewardFunction> rewards{
      {graph.reward("r", {b}), [b](const JointOutcome& outcome) { return outcome(b); }}};
  for (const int gradients : {4, 5, 8, 100})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Comparison comparison = compare_estimators(graph, {}, {{}, rewards},
                                                       {.contenders = {{Reinforce{}}, {Hnca{}}},
                                                        .stand_ins = stand_ins,
                                                        .gradients = gradients,
                                                        .seed = seed});
      for (const Comparison::Row& row : comparison.rows)
        for (const Comparison::View& view : row.nodes) {
          CHECK_FALSE(view.is_seen_biased());
          CHECK(*view.exact_bias == 0);
        }
    }
}

TEST_CASE("deterministic nodes are listed with every contender, and what no reward credits is left out") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId f = graph.add("f", Tanh{.units = 2}, {x});
  const NodeId a = graph.add("a", Bernoulli{}, {f});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  graph.add("idle", Bernoulli{}, {x});
  const std::vector<RewardFunction> rewards{
      {graph.reward("r", {b}), [b](const JointOutcome& outcome) { return outcome(b); }}};
  const std::vector<float> values{1, -1};
  const std::vector<InputValues<float>> inputs{{x, values}};
  const Comparison comparison = compare_estimators(
      graph, {}, {inputs, rewards}, {.contenders = {{Hnca{}}, {StraightThrough{}}}, .stand_ins = stand_ins});
  REQUIRE(comparison.nodes.size() == 3);
  CHECK(comparison.nodes[0].name == "f");
  for (const Comparison::Row& row : comparison.rows) {
    CHECK(row.nodes[0].applies);
    CHECK(row.nodes[0].variance > 0);
    CHECK(row.nodes[0].unbiased == row.nodes[1].unbiased);
  }
  for (const Comparison::Block& block : comparison.blocks) CHECK_FALSE(block.path.starts_with("idle"));

  Graph uncredited;
  const NodeId y = uncredited.input("y", 1);
  uncredited.add("a", Bernoulli{}, {y});
  const std::vector<RewardFunction> reads_input{
      {uncredited.reward("r", {y}), [](const JointOutcome&) { return 1.0; }}};
  const std::vector<InputValues<float>> one_input{{y, values}};
  CHECK(compare_estimators(uncredited, {}, {one_input, reads_input}, {.contenders = {{}}}).nodes.empty());
}

TEST_CASE("advice finds the least product, also where no single change of one node lowers it") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {});
  graph.reward("r", {a, b});
  Comparison comparison;
  comparison.nodes = {{.id = a, .name = "a", .parameters = {}}, {.id = b, .name = "b", .parameters = {}}};
  const auto add = [&](const AnyEstimator& estimator, double variance, double seconds) {
    Comparison::Row row{.contender = {estimator}, .graph = graph, .seconds_per_sample = seconds};
    for (const NodeId node : {a, b}) {
      row.graph.estimate_with(node, estimator);
      row.nodes.push_back({.applies = true, .variance = variance});
    }
    comparison.rows.push_back(std::move(row));
  };
  const auto chosen = [&](NodeId node) { return advise(graph, comparison).choice(node).chosen()->name(); };
  // One of them alone: 1.3 · 1.8 = 2.34; none: 2 · 1; both: 0.6 · 2.6 = 1.56.
  add(Reinforce{}, 1, 1);
  add(relaxed, 0.3, 2.6);
  CHECK(chosen(a) == relaxed.name());
  CHECK(chosen(b) == relaxed.name());
  CHECK(best_single(comparison) == 1);
  // At a little more it no longer pays for either.
  comparison.rows[1].seconds_per_sample = 3.4;
  CHECK(chosen(a) == "reinforce");
  CHECK(best_single(comparison) == 0);
  // … but for the node that gains the most: 1.3 · 2.2 against 1.2 · 3.4 and 11 · 1.
  comparison.rows[0].nodes[0].variance = 10;
  comparison.rows[1].nodes[1].variance = 0.9;
  CHECK(chosen(a) == relaxed.name());
  CHECK(chosen(b) == "reinforce");
}
