// Straight-through in a graph, against its literal definition: slopes by finite differences of the children's
// weighted log-probabilities, sample by sample.
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/graph/access.hpp>

#include "support/custom_nodes.hpp"
#include "support/cut_batches.hpp"
#include "support/larger_error.hpp"
#include "support/literal_slopes.hpp"
#include "support/random_graphs.hpp"
#include "support/share.hpp"
#include "support/two_rewards.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

constexpr Surrogate surrogates[] = {Surrogate::probabilities, Surrogate::identity, Surrogate::clipped};

/// The gradient at a unit's logits as the formulas have it, from its slopes: d_k = ⟨g, x_k⟩.
std::vector<double> literal_deltas(Surrogate through, const Encoding& encoding,
                                   const std::vector<double>& slopes, const std::vector<double>& log_probs) {
  const auto outcome_count = static_cast<std::size_t>(encoding.outcome_count);
  std::vector<double> d(outcome_count, 0.0), deltas(outcome_count, 0.0);
  std::vector<bool> moves;
  double mean = 0, share = 0, total = 0, possible = 0;
  for (const double log_prob : log_probs) {
    moves.push_back(std::isfinite(log_prob));
    if (!moves.back()) continue;
    total += log_prob;
    possible += 1;
  }
  for (std::size_t k = 0; k < outcome_count; ++k) {
    for (std::size_t j = 0; j < slopes.size(); ++j)
      d[k] += slopes[j] * encoding.value(static_cast<Outcome>(k), static_cast<int>(j));
    const double others = (total - log_probs[k]) / (possible - 1);
    if (through == Surrogate::clipped) moves[k] = moves[k] && std::abs(log_probs[k] - others) <= 1;
    const double each = through == Surrogate::probabilities ? std::exp(log_probs[k]) : moves[k] ? 1 : 0;
    mean += each * d[k];
    share += each;
  }
  for (std::size_t k = 0; k < outcome_count; ++k) {
    const double each = through == Surrogate::probabilities ? std::exp(log_probs[k]) : 1;
    if (moves[k]) deltas[k] = each * (d[k] - mean / share);
  }
  return deltas;
}

/// Largest difference, over the units of a node, between what its weights are at its logits and the literal
/// ones; in units of one sample's share of the mean.
template <class S>
double error_at(const Graph& graph, const BasicWorkspace<S>& run, LiteralObjective<S>& objective, NodeId node,
                Surrogate through, int sample) {
  const Encoding& encoding = graph.shape(node).encoding;
  double largest = 0;
  for (int unit = 0; unit < graph.shape(node).units; ++unit) {
    std::vector<double> log_probs, weights;
    double total = 0;
    for (int k = 0; k < encoding.outcome_count; ++k) {
      log_probs.push_back(
          static_cast<double>(run.log_probs(node)(sample, unit * encoding.outcome_count + k)));
      weights.push_back(static_cast<double>(run.credit(node)(sample, unit * encoding.outcome_count + k)));
      total += weights.back();
    }
    const std::vector<double> expected =
        literal_deltas(through, encoding, objective.slopes(node, unit, sample), log_probs);
    for (std::size_t k = 0; k < expected.size(); ++k)
      largest = larger_error(
          largest, std::abs(weights[k] - std::exp(log_probs[k]) * total - expected[k]) * run.samples());
  }
  return largest;
}

/// Of a node in one sample, in the same unit.
template <class S>
double largest_credit(const BasicWorkspace<S>& run, NodeId node, int sample) {
  double most = 0;
  for (std::ptrdiff_t k = 0; k < run.credit(node).cols(); ++k)
    most = std::max(most, std::abs(static_cast<double>(run.credit(node)(sample, k))) * run.samples());
  return most;
}

template <class S>
constexpr double tolerance = std::is_same_v<S, float> ? 1e-4 : 1e-8;  // what is compared is of order 1 to 10

/// Who goes straight through, and through what.
using Chosen = std::vector<std::pair<NodeId, Surrogate>>;

/// Straight-through for some of the nodes that admit it for all their rewards; the others keep their mix.
Chosen choose_straight_through(RandomGraph& random, std::uint64_t seed) {
  Dice dice(seed + 77);
  const Report report = validate(random.graph);
  Chosen chosen;
  for (const NodeId node : random.stochastic) {
    bool admissible = dice.chance(0.7), credited = false;
    for (const CreditVerdict& credit : report.credits) {
      if (credit.node != random.graph.name(node)) continue;
      credited = true;
      for (const Opinion& opinion : credit.opinions)
        if (opinion.estimator == "straight-through") admissible = admissible && opinion.verdict.admissible;
    }
    if (!admissible || !credited) continue;
    chosen.emplace_back(node, surrogates[dice.below(3)]);
    for (const RewardId reward : random.graph.rewards())
      random.graph.estimate_with(node, reward, StraightThrough{chosen.back().second});
  }
  return chosen;
}

/// x ─→ a(35) ─ dense ──→ c(9) ───────→ y(4 classes) ─→ r1       a, b, c, e, t and u(2 of 3) go straight
///  ├→ h(12) ─ dense ─────↗ │             ↑ ↑  ↑ ↑                through; h, d and s do not
///  │     └─── sparse ──→ d(17) ← sparse ─ a│  │ │
///  └→ b(3 units of 3) ─→ e(5 of 4) ────────┘  │ │       r2 reads v and d
///  └→ s ─→ t (table) ─→ v (written by a user) ┘ │       f (tanh) reads a and x
///     u reads c, sparsely ──────────────────────┘       g (a user's function) reads f and b, c f, and y g
struct Net {
  Graph graph;
  NodeId x;
  std::vector<NodeId> nodes;
  Chosen chosen;
  RewardId r1, r2;

  Net() {
    const auto add = [&](const char* name, AnyNode node, std::vector<Edge> edges) {
      nodes.push_back(graph.add(name, std::move(node), std::move(edges)));
      return nodes.back();
    };
    const auto straight = [&](NodeId node, Surrogate through) {
      graph.estimate_with(node, StraightThrough{through});
      chosen.emplace_back(node, through);
    };
    x = graph.input("x", TwoRewards<float>::features);
    const NodeId a = add("a", Bernoulli{.units = 35}, {x});
    const NodeId h = add("h", Bernoulli{.units = 12}, {x});
    const NodeId b = add("b", Categorical{.units = 3, .classes = 3}, {x});
    const NodeId s = add("s", Bernoulli{.values = zero_one}, {Edge{x, Pattern::random(0.5, 1)}});
    const NodeId f = graph.add("f", Tanh{6}, {a, x}), g = graph.add("g", SquareSums{}, {f, b});
    const NodeId c = add("c", Bernoulli{.units = 9, .values = zero_one}, {a, h, f});
    const NodeId d = add("d", Bernoulli{.units = 17, .values = {0.3, -2}},
                         {Edge{a, Pattern::random(0.3, 2)}, Edge{h, Pattern::random(0.3, 4)}});
    const NodeId e = add("e", Categorical{.units = 5, .classes = 4}, {b, Edge{a, Pattern::random(0.2, 3)}});
    const NodeId t = add("t", Table{.rows = {{0.2, 0.5, 0.3}, {0.6, 0.4, 0}}}, {s});
    const NodeId v = add("v", SineVote{}, {t, b});
    const NodeId u = add("u", Categorical{.units = 2, .classes = 3}, {Edge{c, Pattern::random(0.6, 5)}});
    const NodeId y = add("y", Categorical{.classes = 4}, {c, d, e, v, g, u});
    r1 = graph.reward("r1", {y});
    r2 = graph.reward("r2", {v, d});
    graph.estimate_with(h, Hnca{.assumption = Assumption::relaxed});
    graph.estimate_with(d, r1, Hnca{.assumption = Assumption::relaxed});
    straight(a, Surrogate::probabilities);
    straight(b, Surrogate::clipped);
    straight(c, Surrogate::identity);
    straight(e, Surrogate::probabilities);
    straight(t, Surrogate::identity);
    straight(u, Surrogate::clipped);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("straight-through gives its literal credit on random DAGs, in any mix", S, float, double) {
  constexpr int samples = 67;  // chunks of 64 and 3
  int tried = 0, moved = 0, above_another = 0;
  for (std::uint64_t seed = 7000; seed < 7000 + share(160U); ++seed) {
    RandomGraph random = random_graph(seed, {.wiring = seed % 4 == 0 ? Wiring::layered : Wiring::any,
                                             .nodes = 4 + static_cast<int>(seed % 4),
                                             .functions = seed % 2 == 0,
                                             .known = seed % 3 == 0});
    choose_estimators(random, seed);
    if (seed % 5 == 0) choose_baselines(random, seed);
    const Chosen chosen = choose_straight_through(random, seed);
    if (chosen.empty()) continue;
    const auto model = random_model<S>(random.graph, seed, 1);
    Dice dice(seed);
    std::vector<std::vector<S>> given, rewards;
    std::vector<InputValues<S>> inputs;
    std::vector<RewardValues<S>> values;
    const auto draw = [&](int count) {
      std::vector<S> drawn;
      for (int i = 0; i < count; ++i) drawn.push_back(static_cast<S>(dice.between(-1, 1)));
      return drawn;
    };
    given.reserve(random.inputs.size());
    rewards.reserve(random.rewards.size());
    for (const NodeId input : random.inputs) {
      const int units = random.graph.shape(input).units;
      inputs.push_back({input, {given.emplace_back(draw(samples * units)).data(), samples, units}});
    }
    for (const RewardFunction& reward : random.rewards)
      values.push_back({reward.reward, rewards.emplace_back(draw(samples))});
    auto run = model.workspace(samples);
    model.forward(run, inputs);
    model.backward(run, values);
    LiteralObjective<S> objective(random.graph, model, run);
    CAPTURE(seed);
    CAPTURE(to_string(model.report()));
    for (const auto& [node, through] : chosen)
      for (const int sample : {0, 1, 63, 64, 66}) {
        CHECK(error_at(random.graph, run, objective, node, through, sample) < tolerance<S>);
        ++tried;
        moved += largest_credit(run, node, sample) > 1e-3 ? 1 : 0;
      }
    for (std::size_t i = seed % 31; i < run.gradient().size(); i += 31)
      CHECK(std::abs(static_cast<double>(run.gradient()[i]) - objective.gradient(i)) < tolerance<S>);
    above_another += chosen.size() > 1 ? 1 : 0;
  }
  CHECK(tried > share(500));
  CHECK(2 * moved > tried);
  CHECK(above_another > share(40));
}

TEST_CASE_TEMPLATE("dense, sparse and fused blocks pass slopes back as the literal definition has them", S,
                   float, double) {
  const Net net;
  constexpr int samples = 70;
  const TwoRewards<S> data(samples);
  for (const InstructionSet set : available_instruction_sets()) {
    const auto model = random_model<S>(net.graph, 8, 0.7, set);
    auto run = model.workspace(samples);
    data.run(net, model, run, 0, samples);
    LiteralObjective<S> objective(net.graph, model, run);
    INFO("by ", std::string(name(set)));
    for (const auto& [node, through] : net.chosen)
      for (const int sample : {0, 63, 64, 69}) {
        const std::string of = net.graph.name(node);  // clang does not let INFO capture a binding
        INFO(of, ", sample ", sample);
        CHECK(error_at(net.graph, run, objective, node, through, sample) < tolerance<S>);
      }
    for (std::size_t i = 0; i < run.gradient().size(); i += 97)
      CHECK(std::abs(static_cast<double>(run.gradient()[i]) - objective.gradient(i)) < tolerance<S>);
    // The weights of all of them were worth comparing.
    for (const auto& [node, through] : net.chosen) {
      double most = 0;
      for (int i = 0; i < samples; ++i) most = std::max(most, largest_credit(run, node, i));
      const std::string of = net.graph.name(node);
      INFO(of);
      CHECK(most > 1e-2);
    }
  }
}

TEST_CASE_TEMPLATE("neither threads nor cuts at chunk boundaries change a bit of straight-through", S, float,
                   double) {
  const Net net;
  const TwoRewards<S> data(300);
  const auto model = random_model<S>(net.graph, 8, 0.7);
  check_cuts(model, net.nodes, {}, [&](auto& run, int begin, int end, const BackwardOptions& options) {
    data.run(net, model, run, begin, end, options);
  });
}

// The arena holds a, then f, then t: a and t are neighbours as units, but not as features. From a to b it is
// further by k's features than by its units, though the one unit of c reads both through weights side by
// side.
//
// All but s and c go straight through:
//  s ─→ t(3) ───────┐
//  x ─→ a(3) ─→ k(5 classes) ─→ b(2) ─→ c ─→ r      c reads t, a, b and f
//  └──→ f(2, tanh) ─────────────────────↗
TEST_CASE_TEMPLATE("rows of units are not mistaken for rows of features", S, float, double) {
  Graph graph;
  const NodeId s = graph.add("s", Bernoulli{}, {}), x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{.units = 3}, {x}), f = graph.add("f", Tanh{2}, {x});
  const NodeId t =
      graph.add("t", Table{.rows = {{0.3, 0.7}, {0.6, 0.4}}, .units = 3, .values = {-1, 1}}, {s});
  const NodeId k = graph.add("k", Categorical{.classes = 5}, {a}),
               b = graph.add("b", Bernoulli{.units = 2}, {k});
  const NodeId c = graph.add("c", Bernoulli{}, {t, a, b, f});
  const RewardId r = graph.reward("r", {c});
  for (const NodeId node : {a, t, k, b}) graph.estimate_with(node, StraightThrough{});
  const auto model = random_model<S>(graph, 4, 1);
  const auto& placements = internal::Access::plan(model).layout.placements;
  const auto at = [&](NodeId node) -> const Placement& {
    return placements[static_cast<std::size_t>(node.index)];
  };
  REQUIRE(at(a).unit_row + 3 == at(t).unit_row);
  REQUIRE(at(a).feature_row + 3 < at(t).feature_row);
  REQUIRE(at(b).feature_row - at(a).feature_row > at(b).unit_row - at(a).unit_row);
  auto run = model.workspace(3);
  const std::vector<S> given{S(0.5), S(-1), S(0.25)}, rewards{S(1), S(-0.5), S(2)};
  model.forward(run, {{x, given}});
  model.backward(run, {{r, rewards}});
  LiteralObjective<S> objective(graph, model, run);
  for (const NodeId node : {a, t, k, b})
    for (const int sample : {0, 1, 2}) {
      INFO(graph.name(node), ", sample ", sample);
      CHECK(error_at(graph, run, objective, node, Surrogate::probabilities, sample) < tolerance<S>);
      CHECK(largest_credit(run, node, sample) > 1e-4);
    }
}

// Neurons written one by one are neighbours in one run of units.
//  x ─→ a0 … a9 ─→ c0 … c4 ─→ r      beside a(10) ─→ c(5)
TEST_CASE_TEMPLATE("a population and the same units written one by one go straight through alike", S, float,
                   double) {
  const auto build = [](bool single) {
    Graph graph;
    const NodeId x = graph.input("x", 3);
    std::vector<Edge> of_a;
    std::vector<NodeId> of_c;
    for (int i = 0; i < (single ? 10 : 1); ++i) {
      const NodeId a = graph.add("a" + std::to_string(i), Bernoulli{.units = single ? 1 : 10}, {x});
      graph.estimate_with(a, StraightThrough{});
      of_a.emplace_back(a);
    }
    for (int i = 0; i < (single ? 5 : 1); ++i)
      of_c.push_back(graph.add("c" + std::to_string(i), Bernoulli{.units = single ? 1 : 5}, of_a));
    graph.reward("r", of_c);
    return graph;
  };
  const auto together = compile<S>(build(false), {.seed = 3}), apart = compile<S>(build(true), {.seed = 3});
  CHECK(internal::Access::plan(apart).credit.pathwise.size() == 1);
  CHECK(internal::Access::plan(apart).credit.runs.size() == 1);
  const std::vector<S> x{S(0.5), S(-1), S(0.25)}, reward{S(1.5)};
  auto run = together.workspace(1), other = apart.workspace(1);
  together.forward(run, {{NodeId{0}, one_sample(x)}});
  apart.forward(other, {{NodeId{0}, one_sample(x)}});
  together.backward(run, {{RewardId{0}, reward}});
  apart.backward(other, {{RewardId{0}, reward}});
  double most = 0;
  for (int unit = 0; unit < 10; ++unit) {
    const double found = static_cast<double>(other.credit({1 + unit})(0, 1)),
                 expected = static_cast<double>(run.credit({1})(0, 2 * unit + 1));
    CHECK(found == doctest::Approx(expected).epsilon(std::is_same_v<S, float> ? 1e-5 : 1e-13));
    most = std::max(most, std::abs(found));
  }
  CHECK(most > 1e-2);
}
