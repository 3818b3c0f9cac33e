// What the validator makes of estimators: the user's own, those of the catalogue, and none at all.
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hindsight/hindsight.hpp>

#include "support/refusal.hpp"
#include "support/verdicts.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// An estimator that always says the same of itself.
struct Opinionated : Reinforce {
  std::string called;
  Verdict verdict;

  Opinionated(std::string name_to_bear, Verdict always)
      : called(std::move(name_to_bear)), verdict(std::move(always)) {}
  std::string name() const { return called; }
  Verdict admissible(const Facts&) const { return verdict; }
};

struct Speechless : Reinforce {
  std::string name() const { return "speechless"; }
  Verdict admissible(const Facts&) const { throw std::runtime_error("no idea"); }
};

struct Odd : Reinforce {
  std::string name() const { return "odd"; }
  Verdict admissible(const Facts&) const { throw 42; }
};

const Opinionated undefined("pathwise", {.admissible = false,
                                         .unbiased = false,
                                         .reason = Reason::undefined,
                                         .why = "a discrete node has no derivative"});
const Opinionated costly("exact", {.admissible = false,
                                   .unbiased = true,
                                   .reason = Reason::cost,
                                   .why = "it would visit 2^40 outcomes",
                                   .alternatives = {{"Reinforce{}", "linear in the units"}}});
const Opinionated biased("shortcut", {.admissible = true,
                                      .unbiased = false,
                                      .reason = Reason::biased,
                                      .why = "it ignores all but the first child",
                                      .alternatives = {{"Hnca{}", "unbiased here"}}});

// a ─→ b ─→ c
// └─────────↗
struct Skip {
  Graph graph;
  NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a}),
         c = graph.add("c", Bernoulli{}, {b, a});
};

struct Line {
  std::string estimator;
  bool admissible, unbiased;
  Reason reason;
  bool operator==(const Line&) const = default;
};

std::vector<Line> opinions(const Report& report, std::size_t credit) {
  std::vector<Line> lines;
  for (const auto& [estimator, verdict] : report.credits[credit].opinions)
    lines.push_back({estimator, verdict.admissible, verdict.unbiased, verdict.reason});
  return lines;
}

}  // namespace

TEST_CASE("an estimator that has no meaning or costs too much is refused with its reason") {
  Pair pair;
  pair.graph.estimate_with(pair.a, costly);
  pair.graph.estimate_with(pair.b, undefined);
  constexpr const char* expected =
      R"(2 nodes, 1 edge, 1 reward: not admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator   because
  0      a     Bernoulli  holds         r       exact *     it would visit 2^40 outcomes
  1      b     Bernoulli  holds         r       pathwise *  a discrete node has no derivative
  * chosen by estimate_with; the others by Auto

error[inadmissible-estimator]: node 'a': exact for reward 'r': it would visit 2^40 outcomes (cost)
  help: graph.estimate_with(a, Reinforce{});   // linear in the units
error[inadmissible-estimator]: node 'b': pathwise for reward 'r': a discrete node has no derivative (undefined)
  help: graph.estimate_with(b, Auto{});)";
  CHECK(to_string(validate(pair.graph)) == expected);
  CHECK(refusal([&] { compile(pair.graph); }) == expected);
  pair.graph.estimate_with(pair.a, Reinforce{});
  pair.graph.estimate_with(pair.b, Auto{});
  CHECK(compile(pair.graph).report().admissible());
}

TEST_CASE("an admissible estimator that is biased is warned of and runs") {
  Pair pair;
  pair.graph.estimate_with(pair.a, biased);
  const Report report = validate(pair.graph);
  CHECK(to_string(report) ==
        R"(2 nodes, 1 edge, 1 reward: admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator   because
  0      a     Bernoulli  holds         r       shortcut *  it ignores all but the first child
  1      b     Bernoulli  holds         r       reinforce   not hnca: the reward reads it and no child tells its effect
  * chosen by estimate_with; the others by Auto

warning[biased-estimator]: node 'a': shortcut for reward 'r': it ignores all but the first child (biased)
  help: graph.estimate_with(a, Hnca{});   // unbiased here)");
  CHECK(report.admissible());
  CHECK(to_string(compile(pair.graph).report()) == to_string(report));
}

TEST_CASE("errors come before warnings, and warnings before notes") {
  Skip skip;
  skip.graph.reward("r", {skip.c});
  skip.graph.estimate_with(skip.b, biased);
  skip.graph.estimate_with(skip.c, undefined);
  CHECK(to_string(validate(skip.graph)) ==
        R"(3 nodes, 3 edges, 1 reward: not admissible, Assumption 1 is violated

  level  node  kind       Assumption 1  reward  estimator   because
  0      a     Bernoulli  violated      r       reinforce   not hnca: Assumption 1 is violated
  1      b     Bernoulli  holds         r       shortcut *  it ignores all but the first child
  2      c     Bernoulli  holds         r       pathwise *  a discrete node has no derivative
  * chosen by estimate_with; the others by Auto

error[inadmissible-estimator]: node 'c': pathwise for reward 'r': a discrete node has no derivative (undefined)
  help: graph.estimate_with(c, Auto{});
warning[biased-estimator]: node 'b': shortcut for reward 'r': it ignores all but the first child (biased)
  help: graph.estimate_with(b, Hnca{});   // unbiased here
note[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents of 'c'; credited by reinforce, which does not need the assumption
    a ────→ c
    a → b → c)");
}

TEST_CASE("Auto with an empty catalogue finds no estimator") {
  const Pair pair;
  constexpr const char* expected =
      R"(2 nodes, 1 edge, 1 reward: not admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator  because
  0      a     Bernoulli  holds         r
  1      b     Bernoulli  holds         r

error[no-estimator]: node 'a': Auto found no admissible, unbiased estimator for reward 'r'
  help: catalogue.prefer(Reinforce{});
error[no-estimator]: node 'b': Auto found no admissible, unbiased estimator for reward 'r'
  help: catalogue.prefer(Reinforce{});)";
  Catalogue catalogue;
  CHECK(to_string(validate(pair.graph, catalogue)) == expected);
  CHECK(refusal([&] { compile(pair.graph, catalogue); }) == expected);
  catalogue.prefer(Reinforce{});
  CHECK(validate(pair.graph, catalogue).admissible());
}

TEST_CASE("Auto says what it refused where it found no estimator") {
  const Pair pair;
  CHECK(to_string(validate(pair.graph, Catalogue{}.prefer(Hnca{}).offer(Reinforce{}))) ==
        R"(2 nodes, 1 edge, 1 reward: not admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator  because
  0      a     Bernoulli  holds         r       hnca       Assumption 1 holds
  1      b     Bernoulli  holds         r                  not hnca: the reward reads it and no child tells its effect

error[no-estimator]: node 'b': Auto found no admissible, unbiased estimator for reward 'r'
  help: catalogue.prefer(Reinforce{});)");
}

TEST_CASE("Auto passes over a biased estimator and takes the user's own in its turn") {
  const Pair pair;
  const Opinionated own("mine", {.why = "made for this node"});
  CHECK(to_string(validate(pair.graph, Catalogue{}.prefer(biased).prefer(own).prefer(Reinforce{}))) ==
        R"(2 nodes, 1 edge, 1 reward: admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator  because
  0      a     Bernoulli  holds         r       mine       not shortcut: it ignores all but the first child
  1      b     Bernoulli  holds         r       mine       not shortcut: it ignores all but the first child)");
}

TEST_CASE("an estimator that cannot say whether it is admissible is not") {
  Pair pair;
  pair.graph.estimate_with(pair.a, Speechless{});
  constexpr const char* expected =
      R"(2 nodes, 1 edge, 1 reward: not admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator     because
  0      a     Bernoulli  holds         r       speechless *  its admissible threw: no idea
  1      b     Bernoulli  holds         r       reinforce     not hnca: the reward reads it and no child tells its effect
  * chosen by estimate_with; the others by Auto

error[inadmissible-estimator]: node 'a': speechless for reward 'r': its admissible threw: no idea (undefined)
  help: graph.estimate_with(a, Auto{});)";
  CHECK(to_string(validate(pair.graph)) == expected);
  CHECK(refusal([&] { compile(pair.graph); }) == expected);
}

TEST_CASE("an estimator that throws no exception when asked is not admissible either") {
  Pair pair;
  pair.graph.estimate_with(pair.a, Odd{});
  CHECK(diagnostics(pair.graph) ==
        R"(error[inadmissible-estimator]: node 'a': odd for reward 'r': its admissible threw (undefined)
  help: graph.estimate_with(a, Auto{});
)");
  CHECK(validate(pair.graph).diagnostics[0].reason == Reason::undefined);
  pair.graph.estimate_with(pair.a, Auto{});
  CHECK(compile(pair.graph).report().admissible());
}

TEST_CASE("Auto passes over an estimator that cannot say whether it is admissible") {
  const Pair pair;
  CHECK(to_string(validate(pair.graph, Catalogue{}.prefer(Speechless{}).prefer(Reinforce{}))) ==
        R"(2 nodes, 1 edge, 1 reward: admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator  because
  0      a     Bernoulli  holds         r       reinforce  not speechless: its admissible threw: no idea
  1      b     Bernoulli  holds         r       reinforce  not speechless: its admissible threw: no idea)");
}

TEST_CASE("the report has an opinion on every catalogued estimator for every node and reward") {
  Skip skip;
  skip.graph.reward("r", {skip.c});
  skip.graph.reward("direct", {skip.a});
  const Report report = validate(skip.graph, standard_catalogue().offer(costly).offer(Speechless{}));
  REQUIRE(report.credits.size() == 4);
  const Line reinforce{"reinforce", true, true, Reason::none}, exact{"exact", false, true, Reason::cost},
      speechless{"speechless", false, false, Reason::undefined};
  const auto expected = [&](const Line& hnca, const Line& relaxed, bool slopes) {
    // Two steps are judged like one, full hindsight like one without the assumption.
    Line two_steps = hnca, full = relaxed;
    two_steps.estimator = "hnca(steps=2)";
    full.estimator = "hindsight-credit";
    std::vector<Line> lines{hnca, reinforce, relaxed, two_steps, full};
    for (const char* form : {"", "(through=identity)", "(through=clipped)"})
      lines.push_back({std::string("straight-through") + form, slopes, false,
                       slopes ? Reason::biased : Reason::undefined});
    lines.push_back(exact);
    lines.push_back(speechless);
    return lines;
  };

  CHECK(report.credits[0].node == "a");
  CHECK(report.credits[0].reward == "r");
  const Line relaxed{"hnca(assumption=relaxed)", true, true, Reason::none};
  CHECK(opinions(report, 0) == expected({"hnca", false, true, Reason::policy}, relaxed, true));
  CHECK(report.credits[1].node == "a");
  CHECK(report.credits[1].reward == "direct");
  const std::vector<Line> read_directly =
      expected({"hnca", false, false, Reason::biased},
               {"hnca(assumption=relaxed)", false, false, Reason::biased}, false);
  CHECK(opinions(report, 1) == read_directly);
  CHECK(report.credits[2].node == "b");
  CHECK(opinions(report, 2) == expected({"hnca", true, true, Reason::none}, relaxed, true));
  CHECK(report.credits[3].node == "c");
  CHECK(opinions(report, 3) == read_directly);
}

TEST_CASE("a node credited by nothing admissible is not said to do without the assumption") {
  Skip skip;
  const RewardId r = skip.graph.reward("r", {skip.a, skip.c});
  skip.graph.estimate_with(skip.a, Hnca{});
  CHECK(
      diagnostics(skip.graph) ==
      R"(error[reward-reads-node]: node 'a': hnca for reward 'r': the reward reads it, so its children tell only a part of its effect (biased)
    a → r
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
)");
  skip.graph.estimate_with(skip.a, r, undefined);
  CHECK(
      diagnostics(skip.graph) ==
      R"(error[inadmissible-estimator]: node 'a': pathwise for reward 'r': a discrete node has no derivative (undefined)
  help: graph.estimate_with(a, r, Auto{});
)");
  skip.graph.estimate_with(skip.a, r, Auto{});
  CHECK(diagnostics(skip.graph, Catalogue{}.offer(Reinforce{})) ==
        R"(error[no-estimator]: node 'a': Auto found no admissible, unbiased estimator for reward 'r'
  help: catalogue.prefer(Reinforce{});
error[no-estimator]: node 'b': Auto found no admissible, unbiased estimator for reward 'r'
  help: catalogue.prefer(Reinforce{});
error[no-estimator]: node 'c': Auto found no admissible, unbiased estimator for reward 'r'
  help: catalogue.prefer(Reinforce{});
)");
}

TEST_CASE("a node with one credit that is not admissible is not said to do without the assumption") {
  Skip skip;
  skip.graph.reward("task", {skip.c});
  const RewardId effort = skip.graph.reward("effort", {skip.a});
  skip.graph.estimate_with(skip.a, Hnca{.assumption = Assumption::relaxed});
  CHECK(
      diagnostics(skip.graph) ==
      R"(error[reward-reads-node]: node 'a': hnca(assumption=relaxed) for reward 'effort': the reward reads it, so its children tell only a part of its effect (biased)
    a → effort
  help: graph.estimate_with(a, effort, Reinforce{});   // unbiased everywhere, usually more variance
)");
  skip.graph.estimate_with(skip.a, effort, Reinforce{});
  CHECK(
      diagnostics(skip.graph) ==
      R"(note[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents of 'c'; credited by hnca(assumption=relaxed), reinforce, which does not need the assumption
    a ────→ c
    a → b → c
)");
}

TEST_CASE("a violation at a node that no reward credits is noted") {
  constexpr const char* expected =
      R"(note[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents of 'c'; nothing depends on it, since no reward credits the node
    a ────→ c
    a → b → c
)";
  Skip skip;
  CHECK(diagnostics(skip.graph) ==
        std::string(R"(error[no-reward]: the graph has no reward, so there is nothing to learn from
  help: graph.reward("reward", {c});
)") + expected);
  skip.graph.reward("r", {skip.graph.add("d", Bernoulli{}, {})});
  std::string warnings;
  for (const char* name : {"a", "b", "c"})
    warnings += fmt::format(
        R"(warning[no-path-to-reward]: node '{0}': no route leads from it to a reward; its gradient is zero and it will not learn
  help: let a reward, or a node that leads to one, read '{0}', or leave it out
)",
        name);
  CHECK(diagnostics(skip.graph) == warnings + expected);
  CHECK(compile(skip.graph).report().admissible());
}

TEST_CASE("pasting the offered line helps where the choice was made for one reward") {
  Pair pair;
  pair.graph.estimate_with(pair.b, pair.r, Hnca{});
  CHECK(
      diagnostics(pair.graph) ==
      R"(error[reward-reads-node]: node 'b': hnca for reward 'r': the reward reads it and no child tells its effect (biased)
    b → r
  help: graph.estimate_with(b, r, Reinforce{});   // unbiased everywhere, usually more variance
)");
  pair.graph.estimate_with(pair.b, Reinforce{});
  CHECK_FALSE(validate(pair.graph).admissible());  // the choice for one reward goes before it
  pair.graph.estimate_with(pair.b, pair.r, Reinforce{});
  CHECK(diagnostics(pair.graph).empty());

  pair.graph.estimate_with(pair.a, pair.r, biased);
  CHECK(
      diagnostics(pair.graph) ==
      R"(warning[biased-estimator]: node 'a': shortcut for reward 'r': it ignores all but the first child (biased)
  help: graph.estimate_with(a, r, Hnca{});   // unbiased here
)");
  pair.graph.estimate_with(pair.a, pair.r, Hnca{});
  CHECK(diagnostics(pair.graph).empty());

  pair.graph.estimate_with(pair.a, pair.r, undefined);
  CHECK(
      diagnostics(pair.graph) ==
      R"(error[inadmissible-estimator]: node 'a': pathwise for reward 'r': a discrete node has no derivative (undefined)
  help: graph.estimate_with(a, r, Auto{});
)");
  pair.graph.estimate_with(pair.a, pair.r, Auto{});
  CHECK(diagnostics(pair.graph).empty());
}

TEST_CASE("pasting the offered line helps where HNCA was chosen for one reward against the assumption") {
  Skip skip;
  const RewardId r = skip.graph.reward("r", {skip.c});
  skip.graph.estimate_with(skip.a, r, Hnca{});
  CHECK(
      diagnostics(skip.graph) ==
      R"(error[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents of 'c' (policy)
    a ────→ c
    a → b → c
  help: graph.estimate_with(a, r, Hnca{.assumption = Assumption::relaxed});   // unbiased on any DAG; for one reward, never more variance than REINFORCE
  help: graph.estimate_with(a, r, Reinforce{});   // unbiased everywhere, usually more variance
  help: or drop the edge a → c
)");
  skip.graph.estimate_with(skip.a, r, Hnca{.assumption = Assumption::relaxed});
  CHECK(validate(skip.graph).admissible());
  skip.graph.estimate_with(skip.a, r, Reinforce{});
  CHECK(validate(skip.graph).admissible());
}
