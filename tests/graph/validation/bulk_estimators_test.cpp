#include <vector>

#include <doctest/doctest.h>

#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

const AnyEstimator relaxed = Hnca{.assumption = Assumption::relaxed};

std::string estimator_of(const Report& report, std::string_view node, std::string_view reward) {
  for (const CreditVerdict& credit : report.credits)
    if (credit.node == node && credit.reward == reward) return credit.estimator;
  return "none";
}

}  // namespace

TEST_CASE("every credit takes the first estimator of a list that it admits") {
  //  x ─→ a ─→ b ─→ c     a violates Assumption 1; `both` reads b and c, `last` only c
  //       └────────↗
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const NodeId c = graph.add("c", Bernoulli{}, {a, b});
  const RewardId both = graph.reward("both", {b, c});
  graph.reward("last", {c});
  graph.estimate_with(a, both, Reinforce{});  // is forgotten

  estimate_with_first(graph, std::vector<AnyEstimator>{StraightThrough{}, Hnca{}, relaxed});
  const Report report = validate(graph);
  CHECK(report.admissible());
  CHECK(estimator_of(report, "a", "both") == "straight-through");
  CHECK(estimator_of(report, "a", "last") == "straight-through");
  // A reward reads b: straight-through serves all its rewards or none, HNCA each by itself.
  CHECK(estimator_of(report, "b", "both") == "reinforce");
  CHECK(estimator_of(report, "b", "last") == "hnca");
  CHECK(estimator_of(report, "c", "both") == "reinforce");
  CHECK(estimator_of(report, "c", "last") == "reinforce");

  estimate_with_first(graph, std::vector<AnyEstimator>{Hnca{}, relaxed});
  CHECK(estimator_of(validate(graph), "a", "both") == relaxed.name());
  CHECK(graph.choice(b).chosen() == AnyEstimator(Hnca{}));
  CHECK_FALSE(graph.choice(c).chosen());
}

TEST_CASE("whatever graph, a list that ends with REINFORCE leaves nothing inadmissible and nothing to Auto") {
  const std::vector<AnyEstimator> list{HindsightCredit{}, Hnca{.steps = 2}, relaxed, Reinforce{}};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomGraph random = random_graph(seed, {.functions = seed % 2 == 0, .known = seed % 3 == 0});
    choose_estimators(random, seed);
    estimate_with_first(random.graph, list);
    const Report report = validate(random.graph);
    CAPTURE(seed);
    CAPTURE(to_string(report));
    CHECK(report.admissible());
    for (const CreditVerdict& credit : report.credits) {
      // None before the one taken is admissible.
      CHECK_FALSE(credit.automatic);
      for (const AnyEstimator& estimator : list) {
        if (credit.estimator == estimator.name()) break;
        for (const Opinion& opinion : credit.opinions)
          if (opinion.estimator == estimator.name()) CHECK_FALSE(opinion.verdict.admissible);
      }
    }
  }
}

TEST_CASE("one baseline for all replaces those of nodes and pairs") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const RewardId r = graph.reward("r", {b}), s = graph.reward("s", {b});
  graph.baseline(a, RunningMean{});
  graph.baseline(b, s, LeaveOneOut{});
  compare_everywhere(graph, LinearCritic{});
  for (const NodeId node : {a, b})
    for (const RewardId reward : {r, s})
      CHECK(graph.baseline_of(node, reward).chosen() == AnyBaseline(LinearCritic{}));
  compare_everywhere(graph, NoBaseline{});
  CHECK_FALSE(graph.baseline_of(a, s).chosen());
}

TEST_CASE("a method credits what admits it, and stand-ins the rest") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  graph.reward("r", {b});
  const CreditMethod method{Hnca{}, RunningMean{.decay = 0.5}};
  CHECK(method.name() == "hnca + running-mean(decay=0.5)");
  CHECK(CreditMethod{}.name() == "as the graph says");
  CHECK(CreditMethod{{}, NoBaseline{}}.name() == "as the graph says + none");
  credit_with(graph, method, std::vector<AnyEstimator>{Reinforce{}}, standard_catalogue());
  CHECK(graph.choice(a).chosen() == AnyEstimator(Hnca{}));
  CHECK(graph.choice(b).chosen() == AnyEstimator(Reinforce{}));
  CHECK(graph.baseline_of(b, {0}).chosen() == AnyBaseline(RunningMean{.decay = 0.5}));
  credit_with(graph, {}, {}, standard_catalogue());
  CHECK(graph.choice(a).chosen() == AnyEstimator(Hnca{}));
}

TEST_CASE("straight-through in the middle of a list takes nothing from those before it") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  graph.reward("direct", {a, b});
  graph.reward("indirect", {b});
  estimate_with_first(graph, std::vector<AnyEstimator>{Hnca{}, StraightThrough{}, Reinforce{}});
  const Report report = validate(graph);
  CHECK(report.admissible());
  CHECK(estimator_of(report, "a", "indirect") == "hnca");
  CHECK(estimator_of(report, "a", "direct") == "reinforce");
}

TEST_CASE("an estimator that no node admits, or only where it adds nothing, is useless and says why") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 20}, {});
  const NodeId b = graph.add("b", Bernoulli{.units = 20}, {a});
  const NodeId c = graph.add("c", Bernoulli{}, {b});
  graph.reward("r", {c});
  const Catalogue catalogue = standard_catalogue();
  CHECK_FALSE(why_useless(graph, Hnca{}, catalogue));
  CHECK(why_useless(graph, Hnca{.steps = 2}, catalogue)->starts_with("node 'a': summing out 20 units"));
  CHECK_FALSE(why_useless(graph, Hnca{.steps = 2}, catalogue, {.elimination_limit = 1e9}));
  Graph flat;
  flat.reward("r", {flat.add("a", Bernoulli{}, {})});
  CHECK(why_useless(flat, Hnca{}, catalogue)->starts_with("node 'a': "));
  CHECK_FALSE(why_useless(flat, Reinforce{}, catalogue));
  // Straight-through could serve one reward of a, but not the other.
  Graph twice;
  const NodeId d = twice.add("a", Bernoulli{}, {});
  const NodeId e = twice.add("b", Bernoulli{}, {d});
  twice.reward("indirect", {e});
  twice.reward("direct", {d});
  CHECK(why_useless(twice, StraightThrough{}, catalogue)->starts_with("node 'a': "));
}
