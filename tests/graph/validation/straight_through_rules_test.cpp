// Where straight-through may be used, and what is said where it may not.
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/refusal.hpp"
#include "support/verdicts.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

constexpr const char* biased_a =
    R"(warning[biased-estimator]: node 'a': straight-through for reward 'r': it takes the expected reward for linear in what the children read (biased)
  help: graph.estimate_with(a, Hnca{.assumption = Assumption::relaxed});   // unbiased on any DAG, needs no slopes
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
)";

/// Asks for slopes without asking what they are worth.
struct Careless {
  Needs needs() const { return {.pathwise = true}; }
  Verdict admissible(const Facts&) const { return {}; }
  std::string name() const { return "careless"; }
  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
    for (int i = 0; i < view.samples; ++i)
      credit(0, 1, i) += view.slope(0, 0, i) > 0 ? std::numeric_limits<S>::infinity() : view.slope(0, 0, i);
  }
  bool operator==(const Careless&) const = default;
};

}  // namespace

TEST_CASE("straight-through runs and is marked as biased") {
  Pair pair;
  pair.graph.estimate_with(pair.a, StraightThrough{});
  const Report report = validate(pair.graph);
  CHECK(diagnostics(pair.graph) == biased_a);
  CHECK(report.admissible());
  CHECK(report.credits[0].estimator == "straight-through");
  CHECK(to_string(compile(pair.graph).report()) == to_string(report));
  // Where the assumption is violated too: it needs none.
  pair.graph.add("c", Bernoulli{}, {pair.a, pair.b});
  pair.graph.reward("s", {NodeId{2}});
  CHECK(validate(pair.graph).admissible());
}

TEST_CASE("Auto never goes straight through, though the catalogue offers it") {
  const Pair pair;
  const Report report = validate(pair.graph);
  CHECK(report.credits[0].estimator == "hnca");
  std::vector<std::string> offered;
  for (const Opinion& opinion : report.credits[0].opinions)
    if (opinion.verdict.admissible && !opinion.verdict.unbiased) offered.push_back(opinion.estimator);
  CHECK(offered == std::vector<std::string>{"straight-through", "straight-through(through=identity)",
                                            "straight-through(through=clipped)"});
  Catalogue only;
  only.prefer(StraightThrough{});
  CHECK(refusal([&] { compile(pair.graph, only); }).find("Auto found no admissible, unbiased estimator") !=
        std::string::npos);
}

TEST_CASE("graph files say through what") {
  const Graph graph = parse_graph(
      R"dot(digraph { a [kind=bernoulli estimator="straight-through(through=clipped)"]; b [kind=bernoulli];
            r [kind=reward]; a -> b; b -> r })dot",
      GraphFormat::dot);
  CHECK(*graph.choice(NodeId{0}).chosen() == AnyEstimator(StraightThrough{.through = Surrogate::clipped}));
  CHECK(to_dot(graph).find("straight-through(through=clipped)") != std::string::npos);
}

TEST_CASE("a node without children has no slopes") {
  Pair pair;
  pair.graph.estimate_with(pair.b, StraightThrough{});
  CHECK(
      diagnostics(pair.graph) ==
      R"(error[inadmissible-estimator]: node 'b': straight-through for reward 'r': it has no children, and a black-box reward passes no slope back (undefined)
    b → r
  help: graph.estimate_with(b, Reinforce{});   // unbiased everywhere, usually more variance
)");
  pair.graph.estimate_with(pair.b, Reinforce{});
  CHECK(diagnostics(pair.graph).empty());
}

//  a ─→ b ─→ r      r reads a, too
//  └─────────↗
TEST_CASE("a black-box reward that reads the node gives no slope") {
  Pair pair;
  pair.graph.reward("s", {pair.a});
  pair.graph.estimate_with(pair.a, StraightThrough{});
  const std::string text = diagnostics(pair.graph);
  CHECK(
      text.find(
          R"(error[inadmissible-estimator]: node 'a': straight-through for reward 's': the reward reads it, and a black box passes no slope back (undefined)
    a → s
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
)") == 0);
  pair.graph.estimate_with(pair.a, Reinforce{});
  CHECK(diagnostics(pair.graph).empty());
}

//  a ─→ f ─→ r      f has no parameters to learn
//  └──→ b ──↗
TEST_CASE("a reward that follows from the node by deterministic nodes gives no slope either") {
  struct Double {
    Shape shape(std::span<const ParentShape>) const { return {.units = 1}; }
    void evaluate(std::span<const float>, const Reading<float>& reading, std::span<float> out) const {
      out[0] = 2 * reading.features[0];
    }
    void evaluate(std::span<const double>, const Reading<double>& reading, std::span<double> out) const {
      out[0] = 2 * reading.features[0];
    }
    void backpropagate(std::span<const float>, const Reading<float>&, std::span<const float> slopes,
                       std::span<float>, std::span<float> features) const {
      features[0] += 2 * slopes[0];
    }
    void backpropagate(std::span<const double>, const Reading<double>&, std::span<const double> slopes,
                       std::span<double>, std::span<double> features) const {
      features[0] += 2 * slopes[0];
    }
  };
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), f = graph.add("f", Double{}, {a}),
               b = graph.add("b", Bernoulli{}, {a});
  graph.reward("r", {f, b});
  graph.estimate_with(a, StraightThrough{});
  const Report report = validate(graph);
  REQUIRE(report.diagnostics.size() == 1);
  CHECK(report.diagnostics[0].witness == std::vector<Route>{{"a", "f", "r"}});
}

//  a ─→ b ─→ r
//  └──→ t ──↗      a table has no derivative by what it reads
TEST_CASE("a child without backpropagate is named") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a}),
               t = graph.add("t", Table{.rows = {{0.2, 0.8}, {0.6, 0.4}}}, {a});
  const RewardId r = graph.reward("r", {b, t});
  graph.estimate_with(a, StraightThrough{});
  CHECK(
      diagnostics(graph) ==
      R"(error[inadmissible-estimator]: node 'a': straight-through for reward 'r': one of its children has no backpropagate, so its slope is not known (undefined)
    a → t
  help: graph.estimate_with(a, Hnca{.assumption = Assumption::relaxed});   // unbiased on any DAG, needs no slopes
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
)");
  graph.estimate_with(a, r, Careless{});
  CHECK(
      diagnostics(graph) ==
      R"(error[inadmissible-estimator]: node 'a': careless for reward 'r': one of its children has no backpropagate, so its slope is not known (undefined)
    a → t
  help: graph.estimate_with(a, r, Auto{});
)");
  graph.estimate_with(a, r, Auto{});
  CHECK(diagnostics(graph).empty());
}

//  a ─→ b ─→ r
//       └──→ s
TEST_CASE("slopes serve all rewards of a node or none") {
  Pair pair;
  Graph& graph = pair.graph;
  const RewardId s = graph.reward("s", {pair.b});
  graph.estimate_with(pair.a, pair.r, StraightThrough{});
  CHECK(
      diagnostics(graph).find(
          R"(error[mixed-pathwise]: node 'a': straight-through for reward 'r' and hnca for reward 's': slopes do not tell rewards apart, so what is made of them serves all rewards of a node or none (undefined)
  help: graph.estimate_with(a, s, graph.choice(a, r));   // for all
  help: graph.estimate_with(a, r, Auto{});   // for none
)") == 0);
  CHECK_THROWS_AS(compile(graph), Error);
  Graph all = graph, none = graph;
  all.estimate_with(pair.a, s, all.choice(pair.a, pair.r));
  CHECK(compile(all).report().admissible());
  none.estimate_with(pair.a, pair.r, Auto{});
  CHECK(diagnostics(none).empty());
  // Two of its forms are two estimators.
  graph.estimate_with(pair.a, s, StraightThrough{.through = Surrogate::identity});
  CHECK(validate(graph).count("mixed-pathwise") == 1);
  // A reward that is not downstream has no say.
  Pair other;
  other.graph.reward("s", {other.graph.add("c", Bernoulli{}, {})});
  other.graph.estimate_with(other.a, other.r, StraightThrough{});
  CHECK(validate(other.graph).admissible());
}

//  a ─→ b ─→ r
//  └───────────→ s
TEST_CASE("a node that one reward reads is not told to go straight through for all") {
  Pair pair;
  pair.graph.reward("s", {pair.a});
  pair.graph.estimate_with(pair.a, pair.r, StraightThrough{});
  CHECK(
      diagnostics(pair.graph)
          .find(
              R"(error[mixed-pathwise]: node 'a': straight-through for reward 'r' and reinforce for reward 's': slopes do not tell rewards apart, so what is made of them serves all rewards of a node or none (undefined)
  help: graph.estimate_with(a, r, Auto{});   // for none
)") == 0);
}

//  a ─→ b ─→ r
//  └──→ t ─→ s      a table has no derivative by what it reads
TEST_CASE("a node with a child without backpropagate is not told to go straight through for all") {
  Pair pair;
  pair.graph.reward("s", {pair.graph.add("t", Table{.rows = {{0.2, 0.8}, {0.6, 0.4}}}, {pair.a})});
  pair.graph.estimate_with(pair.a, pair.r, StraightThrough{});
  CHECK(diagnostics(pair.graph).find("error[mixed-pathwise]") != std::string::npos);
  CHECK(diagnostics(pair.graph).find("// for all") == std::string::npos);
  pair.graph.estimate_with(pair.a, pair.r, Auto{});
  CHECK(diagnostics(pair.graph).empty());
}

TEST_CASE("a known reward that reads the node has values, but no slope") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a});
  graph.reward("r", {a, b}, [=](const JointOutcome& outcome) { return outcome(a) + outcome(b); });
  graph.estimate_with(a, StraightThrough{});
  CHECK(
      diagnostics(graph) ==
      R"(error[inadmissible-estimator]: node 'a': straight-through for reward 'r': the reward reads it, and only its values are known, not its slope (undefined)
    a → r
  help: graph.estimate_with(a, Hnca{.assumption = Assumption::relaxed});   // unbiased on any DAG, needs no slopes
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
)");
  graph.estimate_with(a, Hnca{.assumption = Assumption::relaxed});
  CHECK(diagnostics(graph).empty());
}

//  a ─→ b ─→ r, known      r and s read a, too
//  └───────────→ s
TEST_CASE("what is offered instead of slopes serves all rewards of the node") {
  Pair pair;
  const NodeId a = pair.a, b = pair.b;
  const RewardId known = pair.graph.reward(
      "known", {a, b}, [=](const JointOutcome& outcome) { return outcome(a) + outcome(b); });
  pair.graph.reward("s", {a});
  pair.graph.estimate_with(a, StraightThrough{});
  CHECK(
      diagnostics(pair.graph) ==
      R"(error[inadmissible-estimator]: node 'a': straight-through for reward 'known': the reward reads it, and only its values are known, not its slope (undefined)
    a → known
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
error[inadmissible-estimator]: node 'a': straight-through for reward 's': the reward reads it, and a black box passes no slope back (undefined)
    a → s
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
warning[biased-estimator]: node 'a': straight-through for reward 'r': it takes the expected reward for linear in what the children read (biased)
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
)");
  // A choice of its own concerns no other reward.
  pair.graph.estimate_with(a, Reinforce{});
  pair.graph.estimate_with(a, known, StraightThrough{});
  CHECK(diagnostics(pair.graph)
            .find("graph.estimate_with(a, known, Hnca{.assumption = Assumption::relaxed})") !=
        std::string::npos);
}

TEST_CASE("a baseline of a node that goes straight through is warned of, and those of its children count") {
  Pair pair;
  pair.graph.estimate_with(pair.a, StraightThrough{});
  pair.graph.baseline(pair.r, RunningMean{});
  CHECK(diagnostics(pair.graph) == biased_a);  // it is b's, too
  CHECK(validate(pair.graph).credits[0].baseline.empty());
  CHECK_FALSE(validate(pair.graph).credits[1].baseline.empty());
  pair.graph.baseline(pair.a, RunningMean{});
  CHECK(
      diagnostics(pair.graph)
          .find(
              R"(warning[unused-baseline]: node 'a': its baseline running-mean for reward 'r' is not used: straight-through is made of the slopes of its children, and the baselines in those are theirs
  help: graph.baseline(a, NoBaseline{});
)") != std::string::npos);
  CHECK(compile(pair.graph).report().admissible());
  pair.graph.baseline(pair.a, NoBaseline{});
  CHECK(diagnostics(pair.graph) == biased_a);
  pair.graph.baseline(pair.a, pair.r, RunningMean{});
  CHECK(diagnostics(pair.graph).find("  help: graph.baseline(a, r, NoBaseline{});\n") != std::string::npos);
}

TEST_CASE("credit that is made of slopes and is not finite is refused, for all rewards") {
  Pair pair;
  pair.graph.estimate_with(pair.a, Careless{});
  Model model = compile(pair.graph);
  model.parameters("b/weights/a")(0, 0) = 1;
  Workspace run = model.workspace(1);
  const std::vector<Outcome> one{1};
  model.forward(run, {}, {.clamp = {{pair.b, one}}, .samples = 1});
  const std::vector<float> reward{1};
  CHECK(refusal([&] {
          model.backward(run, {{pair.r, reward}});
        }) ==
        "error[credit-not-finite]: node 'a': its estimator careless gave the credit inf in sample 0 for all "
        "rewards\n  help: check add_credit: it must give finite credit for finite signals");
}
