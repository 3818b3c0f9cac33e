// What the validator says of hindsight over several steps: costs, the policy, steps that are none.
#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <limits>

#include <hindsight/hindsight.hpp>

#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

std::string diagnostics(const Graph& graph, const ValidateOptions& options = {}) {
  std::string text;
  for (const Diagnostic& diagnostic : validate(graph, options).diagnostics)
    text += to_string(diagnostic) + "\n";
  return text;
}

//  a ─→ b ─→ c(3) ─→ d ─→ r
struct Widening {
  Graph graph;
  NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a}),
         c = graph.add("c", Bernoulli{.units = 3}, {b}), d = graph.add("d", Bernoulli{}, {c});
  RewardId r = graph.reward("r", {d});
};

}  // namespace

// Two steps sum out b: 2 logits of b, 3·2 of c, and a table of a and b with 4 entries. Three sum out c too:
// 2 + 3·2 + 8 logits, and tables of 16, 8, 4 and 4 entries.
TEST_CASE(
    "summing out beyond its limit is refused with its cost, the steps that fit and a limit that would do") {
  Widening net;
  net.graph.estimate_with(net.a, Hnca{.steps = 2});
  CHECK(validate(net.graph, {.elimination_limit = 12}).admissible());
  CHECK_FALSE(validate(net.graph, {.elimination_limit = 11}).admissible());
  net.graph.estimate_with(net.a, Hnca{.steps = 3});
  CHECK(validate(net.graph, {.elimination_limit = 48}).admissible());
  const std::string expected =
      "error[inadmissible-estimator]: node 'a': hnca(steps=3) for reward 'r': summing out 4 units takes 48 "
      "operations per sample for one unit, more than the limit of 40; the largest table joins 'b' and 'c'; 2 "
      "steps fit (cost)\n"
      "  help: graph.estimate_with(a, Hnca{.steps = 2});   // as many steps as fit\n"
      "  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance\n"
      "  help: or compile(graph, {.elimination_limit = 96});\n";
  CHECK(diagnostics(net.graph, {.elimination_limit = 40}) == expected);
  CHECK(refusal([&] { compile(net.graph, {.elimination_limit = 40}); }).find(expected.substr(0, 200)) !=
        std::string::npos);
  CHECK_NOTHROW(compile(net.graph, {.elimination_limit = 96}));
  const CreditVerdict credit = validate(net.graph, {.elimination_limit = 40}).credits[0];
  CHECK_FALSE(credit.verdict.admissible);
  CHECK(credit.verdict.unbiased);
  CHECK(credit.verdict.reason == Reason::cost);
  net.graph.estimate_with(net.a, Hnca{.steps = 2});
  CHECK_NOTHROW(compile(net.graph, {.elimination_limit = 40}));
}

TEST_CASE("where not even two steps fit one step is offered") {
  Widening net;
  net.graph.estimate_with(net.a, HindsightCredit{});
  CHECK(diagnostics(net.graph, {.elimination_limit = 10}) ==
        "error[inadmissible-estimator]: node 'a': hindsight-credit for reward 'r': summing out 4 units takes "
        "48 "
        "operations per sample for one unit, more than the limit of 10; the largest table joins 'b' and 'c'; "
        "not even 2 steps fit (cost)\n"
        "  help: graph.estimate_with(a, Hnca{});   // one step\n"
        "  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance\n"
        "  help: or compile(graph, {.elimination_limit = 96});\n");
}

//  a ─→ b ─→ c ─→ r
//  └─────────↗
TEST_CASE("what is offered instead keeps the assumption relaxed where it is violated") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a}),
               c = graph.add("c", Bernoulli{}, {b, a});
  graph.reward("r", {c});
  graph.estimate_with(a, HindsightCredit{});
  CHECK(validate(graph).credits[0].why == "unbiased on any DAG");
  const std::string text = diagnostics(graph, {.elimination_limit = 5});
  CHECK(
      text.find("  help: graph.estimate_with(a, Hnca{.assumption = Assumption::relaxed});   // one step\n") !=
      std::string::npos);
}

//  x ─→ a(64) ─→ b(64) ─→ c(64) ─→ y ─→ r, and the same with 1024 units each
TEST_CASE("wide dense layers are refused in no time") {
  for (const int width : {64, 1024}) {
    Graph graph;
    const NodeId x = graph.input("x", 8), a = graph.add("a", Bernoulli{.units = width}, {x}),
                 b = graph.add("b", Bernoulli{.units = width}, {a}),
                 c = graph.add("c", Bernoulli{.units = width}, {b}),
                 y = graph.add("y", Categorical{.classes = 10}, {c});
    graph.reward("r", {y});
    for (const EstimatorChoice& choice :
         {EstimatorChoice(Hnca{.steps = 2}), EstimatorChoice(Hnca{.steps = 3}),
          EstimatorChoice(HindsightCredit{})}) {
      graph.estimate_with(a, choice);
      const auto start = std::chrono::steady_clock::now();
      const Report report = validate(graph);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      CHECK(took.count() < 20);  // a tenth of a second, but for sanitizers and busy machines
      REQUIRE(report.count("inadmissible-estimator") == 1);
      CHECK(report.credits[0].verdict.reason == Reason::cost);
      const std::string& why = report.credits[0].verdict.why;
      CHECK(why.find("takes more than ") != std::string::npos);
      CHECK(why.find("not even 2 steps fit") != std::string::npos);
      for (const std::string& line : report.diagnostics[0].help)
        CHECK(line.find("elimination_limit") == std::string::npos);
    }
    graph.estimate_with(a, Auto{});
    CHECK(validate(graph).credits[0].estimator == "hnca");
  }
}

TEST_CASE("the text of a refusal of wide layers") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 64}, {}),
               b = graph.add("b", Bernoulli{.units = 64}, {a}),
               c = graph.add("c", Bernoulli{.units = 64}, {b});
  graph.reward("r", {c});
  graph.estimate_with(a, Hnca{.steps = 2});
  CHECK(diagnostics(graph) ==
        "error[inadmissible-estimator]: node 'a': hnca(steps=2) for reward 'r': summing out 64 units takes "
        "more "
        "than 1.84e+19 operations per sample for one unit, more than the limit of 1e+05; the largest table "
        "joins 'b'; not even 2 steps fit (cost)\n"
        "  help: graph.estimate_with(a, Hnca{});   // one step\n"
        "  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance\n");
}

TEST_CASE("no step of hindsight is none") {
  Widening net;
  for (const int steps : {0, -3}) {
    net.graph.estimate_with(net.a, Hnca{.steps = steps});
    CHECK(diagnostics(net.graph) ==
          fmt::format("error[inadmissible-estimator]: node 'a': hnca(steps={0}) for reward 'r': {0} steps of "
                      "hindsight are none; the children are the first step (undefined)\n"
                      "  help: graph.estimate_with(a, Hnca{{}});   // one step\n",
                      steps));
  }
  net.graph.estimate_with(net.a, Hnca{});
  CHECK(diagnostics(net.graph).empty());
}

//  a ─→ b ─→ c ─→ r
//  └─────────↗
TEST_CASE("several steps keep the policy on Assumption 1, full hindsight has none") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a}),
               c = graph.add("c", Bernoulli{}, {b, a});
  graph.reward("r", {c});
  graph.estimate_with(a, Hnca{.steps = 2});
  CHECK(
      diagnostics(graph) ==
      R"(error[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents of 'c' (policy)
    a ────→ c
    a → b → c
  help: graph.estimate_with(a, Hnca{.assumption = Assumption::relaxed, .steps = 2});   // unbiased on any DAG; for one reward, never more variance than REINFORCE
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
  help: or drop the edge a → c
)");
  graph.estimate_with(a, Hnca{.assumption = Assumption::relaxed, .steps = 2});
  CHECK(validate(graph).admissible());
  CHECK(validate(graph).credits[0].estimator == "hnca(steps=2,assumption=relaxed)");
  CHECK(validate(graph).credits[0].why == "unbiased without Assumption 1");
  graph.estimate_with(a, HindsightCredit{});
  CHECK(
      diagnostics(graph) ==
      R"(note[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents of 'c'; credited by hindsight-credit, which does not need the assumption
    a ────→ c
    a → b → c
)");
}

//  a ─→ b ─→ c ─→ r
//  └─────────↗└──→ s
TEST_CASE("a violation is told once, with a way out for every reward that it concerns") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a}),
               c = graph.add("c", Bernoulli{}, {b, a});
  const RewardId r = graph.reward("r", {c}), s = graph.reward("s", {c});
  graph.estimate_with(a, r, Hnca{});
  graph.estimate_with(a, s, Hnca{.steps = 2});
  CHECK(
      diagnostics(graph) ==
      R"(error[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents of 'c' (policy)
    a ────→ c
    a → b → c
  help: graph.estimate_with(a, r, Hnca{.assumption = Assumption::relaxed});   // unbiased on any DAG; for one reward, never more variance than REINFORCE
  help: graph.estimate_with(a, r, Reinforce{});   // unbiased everywhere, usually more variance
  help: graph.estimate_with(a, s, Hnca{.assumption = Assumption::relaxed, .steps = 2});   // unbiased on any DAG; for one reward, never more variance than REINFORCE
  help: graph.estimate_with(a, s, Reinforce{});   // unbiased everywhere, usually more variance
  help: or drop the edge a → c
)");
  graph.estimate_with(a, r, Reinforce{});
  graph.estimate_with(a, s, Reinforce{});
  CHECK(validate(graph).admissible());
}

TEST_CASE("full hindsight is refused where the reward reads the node") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a});
  graph.reward("r", {a, b});
  graph.estimate_with(a, HindsightCredit{});
  CHECK(diagnostics(graph) ==
        "error[reward-reads-node]: node 'a': hindsight-credit for reward 'r': the reward reads it, so what "
        "else "
        "the reward reads tells only a part of its effect (biased)\n"
        "    a → r\n"
        "  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance\n");
}

TEST_CASE("opinions on several steps are given without their cost, and say so") {
  Widening net;
  const Report report = validate(net.graph, {.elimination_limit = 1});
  bool found = false;
  for (const Opinion& opinion : report.credits[0].opinions)
    if (opinion.estimator == "hnca(steps=2)") {
      found = true;
      CHECK(opinion.verdict.admissible);
      CHECK(opinion.verdict.why == "Assumption 1 holds; its cost is worked out where it is chosen");
    }
  CHECK(found);
  CHECK(report.admissible());
}

TEST_CASE("Auto passes over several steps that cost too much") {
  const Widening net;
  const Catalogue catalogue = Catalogue{}.prefer(Hnca{.steps = 3}).prefer(Hnca{}).prefer(Reinforce{});
  CHECK(validate(net.graph, catalogue).credits[0].estimator == "hnca(steps=3)");
  const Report report = validate(net.graph, catalogue, {.elimination_limit = 20});
  CHECK(report.credits[0].estimator == "hnca");
  CHECK(report.credits[0].why.find("not hnca(steps=3): summing out 4 units takes 48") == 0);
  CHECK(report.credits[2].estimator == "hnca(steps=3)");  // c has no unread descendant: nothing is summed out
}

//  a ─→ b ─→ c ─→ d ─→ r, a hundred times
TEST_CASE("many refusals for cost are told in few words") {
  Graph graph;
  std::vector<NodeId> read;
  for (int i = 0; i < 100; ++i) {
    const NodeId a = graph.add(fmt::format("a{}", i), Bernoulli{}, {}),
                 b = graph.add(fmt::format("b{}", i), Bernoulli{}, {a});
    read.push_back(graph.add(fmt::format("c{}", i), Bernoulli{}, {b}));
    graph.estimate_with(a, HindsightCredit{});
  }
  graph.reward("r", read);
  const Report report = validate(graph, {.elimination_limit = 3});
  CHECK(report.count("inadmissible-estimator") == 100);
  CHECK(report.credits.at(99 * 3).verdict.why ==
        "summing units out takes more operations per sample than the limit of 3");
}

TEST_CASE("limits that cannot be kept to are refused") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  graph.reward("r", {a});
  const auto said = [&](const CompileOptions& options) { return refusal([&] { compile(graph, options); }); };
  CHECK(said({.elimination_limit = std::numeric_limits<double>::infinity()})
            .find("error[limit]: an elimination_limit of inf cannot be kept to; it lies from 0 to 1e+09\n"
                  "  help: compile(graph, {.elimination_limit = 100000});") != std::string::npos);
  CHECK(said({.elimination_limit = std::nan("")}).find("error[limit]") != std::string::npos);
  CHECK(said({.rerun_limit = std::nan("")})
            .find("error[limit]: a rerun_limit of nan cannot be kept to; it is 0 or more\n"
                  "  help: compile(graph, {.rerun_limit = 1e+07});") != std::string::npos);
}

//  a ─→ b(500) ─→ c(500) ─→ d, and the reward reads b, c and d: nothing is left to sum out
TEST_CASE("what lies behind known units costs nothing") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{.units = 500}, {a});
  const NodeId c = graph.add("c", Bernoulli{.units = 500}, {b});
  const NodeId d = graph.add("d", Bernoulli{}, {c});
  graph.reward("r", {b, c, d});
  graph.estimate_with(a, HindsightCredit{});
  CHECK(validate(graph).admissible());
}

//  chain of 3000, the reward reads the last
TEST_CASE("how many steps fit is found quickly, however long the chain") {
  Graph graph;
  std::vector<Edge> last;
  for (int i = 0; i < 3000; ++i) last = {graph.add("n" + std::to_string(i), Bernoulli{}, last)};
  graph.reward("r", {last.front().parent});
  graph.estimate_with(NodeId{0}, HindsightCredit{});
  const std::string said = refusal([&] { compile(graph, {.elimination_limit = 5000}); });
  CAPTURE(said);
  CHECK(said.find("steps fit") != std::string::npos);
  const auto at = said.find("graph.estimate_with(n0, Hnca{.steps = ");
  REQUIRE(at != std::string::npos);
  const int steps = std::stoi(said.substr(at + 38));
  graph.estimate_with(NodeId{0}, Hnca{.steps = steps});
  CHECK(validate(graph, {.elimination_limit = 5000}).admissible());
  graph.estimate_with(NodeId{0}, Hnca{.steps = steps + 1});
  CHECK_FALSE(validate(graph, {.elimination_limit = 5000}).admissible());
}
