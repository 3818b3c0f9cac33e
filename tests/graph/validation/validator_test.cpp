// What the validator says of graphs; what it makes of users' estimators is in validator_estimators_test.cpp.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

// x ─→ a ─→ b ─→ c ─→ r
//      └─────────↗
Graph skip_edge(const EstimatorChoice& choice) {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{.units = 3}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const NodeId c = graph.add("c", Categorical{.classes = 3}, {b, a});
  graph.reward("r", {c});
  graph.estimate_with(a, choice);
  return graph;
}

/// Every edge in a witness exists; the last step may lead to a reward.
void check_witnesses(const Graph& graph, const Report& report) {
  const auto find = [&](std::string name) {
    name.resize(std::min(name.find('['), name.size()));
    return graph.find(name).value_or(NodeId{});
  };
  for (const Diagnostic& diagnostic : report.diagnostics)
    for (const Route& route : diagnostic.witness)
      for (std::size_t i = 1; i < route.size(); ++i) {
        const NodeId from = find(route[i - 1]), to = find(route[i]);
        REQUIRE(from != NodeId{});
        if (to == NodeId{}) continue;
        CHECK(std::count(graph.children(from).begin(), graph.children(from).end(), to) == 1);
      }
}

}  // namespace

TEST_CASE("the validator names both routes of a skip edge") {
  const Graph graph = skip_edge(Hnca{});
  const Report report = validate(graph);
  CHECK(to_string(report) ==
        R"(4 nodes, 4 edges, 1 reward: not admissible, Assumption 1 is violated

  level  node  kind          Assumption 1  reward  estimator  because
  0      x     input ×2      given
  1      a     Bernoulli ×3  violated      r       hnca *     Assumption 1 is violated
  2      b     Bernoulli     holds         r       hnca       Assumption 1 holds
  3      c     Categorical   holds         r       reinforce  not hnca: the reward reads it and no child tells its effect
  * chosen by estimate_with; the others by Auto

error[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents of 'c' (policy)
    a ────→ c
    a → b → c
  help: graph.estimate_with(a, Hnca{.assumption = Assumption::relaxed});   // unbiased on any DAG; for one reward, never more variance than REINFORCE
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
  help: or drop the edge a → c)");
  CHECK_FALSE(report.admissible());
  CHECK_FALSE(report.assumption_1_holds());
  check_witnesses(graph, report);
}

TEST_CASE("Auto goes round a violation and the report says so in a note") {
  const Graph graph = skip_edge(Auto{});
  const Report report = validate(graph);
  CHECK(to_string(report) ==
        R"(4 nodes, 4 edges, 1 reward: admissible, Assumption 1 is violated

  level  node  kind          Assumption 1  reward  estimator  because
  0      x     input ×2      given
  1      a     Bernoulli ×3  violated      r       reinforce  not hnca: Assumption 1 is violated
  2      b     Bernoulli     holds         r       hnca       Assumption 1 holds
  3      c     Categorical   holds         r       reinforce  not hnca: the reward reads it and no child tells its effect

note[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents of 'c'; credited by reinforce, which does not need the assumption
    a ────→ c
    a → b → c)");
  CHECK(report.admissible());
  check_witnesses(graph, report);
}

TEST_CASE("relaxed HNCA on a violating node is admissible with a note") {
  const Graph graph = skip_edge(Hnca{.assumption = Assumption::relaxed});
  const Report report = validate(graph);
  CHECK(to_string(report) ==
        R"(4 nodes, 4 edges, 1 reward: admissible, Assumption 1 is violated

  level  node  kind          Assumption 1  reward  estimator                   because
  0      x     input ×2      given
  1      a     Bernoulli ×3  violated      r       hnca(assumption=relaxed) *  unbiased without Assumption 1
  2      b     Bernoulli     holds         r       hnca                        Assumption 1 holds
  3      c     Categorical   holds         r       reinforce                   not hnca: the reward reads it and no child tells its effect
  * chosen by estimate_with; the others by Auto

note[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents of 'c'; credited by hnca(assumption=relaxed), which does not need the assumption
    a ────→ c
    a → b → c)");
  CHECK(report.admissible());
  CHECK(compile(graph).report().diagnostics.size() == 1);
}

TEST_CASE("a witness is drawn as long as its longer route") {
  // start ─→ b ─→ c ─→ end ─→ r
  // └───────────────────↗
  Graph graph;
  const NodeId start = graph.add("start", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {start});
  const NodeId c = graph.add("c", Bernoulli{}, {b});
  graph.reward("r", {graph.add("end", Bernoulli{}, {start, c})});
  graph.estimate_with(start, Hnca{});
  const Report report = validate(graph);
  REQUIRE(report.diagnostics.size() == 1);
  CHECK(
      to_string(report.diagnostics[0]) ==
      R"(error[assumption-1]: node 'start': Assumption 1 is violated: 'start' and its descendant 'c' are both parents of 'end' (policy)
    start ────────→ end
    start → b → c → end
  help: graph.estimate_with(start, Hnca{.assumption = Assumption::relaxed});   // unbiased on any DAG; for one reward, never more variance than REINFORCE
  help: graph.estimate_with(start, Reinforce{});   // unbiased everywhere, usually more variance
  help: or drop the edge start → end)");
  CHECK(report.diagnostics[0].witness == std::vector<Route>{{"start", "end"}, {"start", "b", "c", "end"}});
  check_witnesses(graph, report);
}

TEST_CASE("HNCA is refused as biased where the reward reads the node") {
  // a ─→ b ─→ r
  // └─────────↗
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  graph.reward("r", {a, b});
  graph.estimate_with(a, Hnca{});
  graph.estimate_with(b, Hnca{.assumption = Assumption::relaxed});
  const Report report = validate(graph);
  CHECK(to_string(report) ==
        R"(2 nodes, 1 edge, 1 reward: not admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator                   because
  0      a     Bernoulli  holds         r       hnca *                      the reward reads it, so its children tell only a part of its effect
  1      b     Bernoulli  holds         r       hnca(assumption=relaxed) *  the reward reads it and no child tells its effect
  * chosen by estimate_with; the others by Auto

error[reward-reads-node]: node 'a': hnca for reward 'r': the reward reads it, so its children tell only a part of its effect (biased)
    a → r
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
error[reward-reads-node]: node 'b': hnca(assumption=relaxed) for reward 'r': the reward reads it and no child tells its effect (biased)
    b → r
  help: graph.estimate_with(b, Reinforce{});   // unbiased everywhere, usually more variance)");
  check_witnesses(graph, report);
}

TEST_CASE("Auto takes HNCA where it may and REINFORCE elsewhere and says why") {
  // a ─→ b ─→ c ─→ r
  // └──────────────↗
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const NodeId c = graph.add("c", Bernoulli{}, {b});
  graph.reward("r", {a, c});
  CHECK(to_string(validate(graph)) ==
        R"(3 nodes, 2 edges, 1 reward: admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator  because
  0      a     Bernoulli  holds         r       reinforce  not hnca: the reward reads it, so its children tell only a part of its effect
  1      b     Bernoulli  holds         r       hnca       Assumption 1 holds
  2      c     Bernoulli  holds         r       reinforce  not hnca: the reward reads it and no child tells its effect)");
}

TEST_CASE("a node that no reward can reach is warned of") {
  // a ─→ b
  // └──→ c ─→ r
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  graph.add("b", Bernoulli{}, {a});
  graph.reward("r", {graph.add("c", Bernoulli{}, {a})});
  const Report report = validate(graph);
  CHECK(to_string(report) ==
        R"(3 nodes, 2 edges, 1 reward: admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator  because
  0      a     Bernoulli  holds         r       hnca       Assumption 1 holds
  1      b     Bernoulli  holds
  1      c     Bernoulli  holds         r       reinforce  not hnca: the reward reads it and no child tells its effect

warning[no-path-to-reward]: node 'b': no route leads from it to a reward; its gradient is zero and it will not learn
  help: let a reward, or a node that leads to one, read 'b', or leave it out)");
  CHECK(report.admissible());
}

TEST_CASE("an input that violates the assumption is named in strict mode only") {
  // x ─→ a ─→ b ─→ r
  // └─────────↗
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  graph.reward("r", {graph.add("b", Bernoulli{}, {a, x})});
  CHECK(to_string(validate(graph)) ==
        R"(3 nodes, 3 edges, 1 reward: admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator  because
  0      x     input ×2   given
  1      a     Bernoulli  holds         r       hnca       Assumption 1 holds
  2      b     Bernoulli  holds         r       reinforce  not hnca: the reward reads it and no child tells its effect)");
  const Report strict = validate(graph, {.strict = true});
  CHECK(to_string(strict) ==
        R"(3 nodes, 3 edges, 1 reward: admissible, Assumption 1 is violated

  level  node  kind       Assumption 1  reward  estimator  because
  0      x     input ×2   violated
  1      a     Bernoulli  holds         r       hnca       Assumption 1 holds
  2      b     Bernoulli  holds         r       reinforce  not hnca: the reward reads it and no child tells its effect

warning[assumption-1]: node 'x': Assumption 1 is violated: 'x' and its descendant 'a' are both parents of 'b'; harmless: an input is given, not credited
    x ────→ b
    x → a → b)");
  check_witnesses(graph, strict);
}

TEST_CASE("a violation between single units names the units") {
  // a[0] ─→ b[0] ─→ c[0] ─→ r
  // └───────────────↗
  // a[1] ─→ b[1]
  // └─────────────→ c[1] ─→ r
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {});
  const NodeId b = graph.add("b", Bernoulli{.units = 2}, {Edge{a, Pattern::pairs({{0, 0}, {1, 1}})}});
  graph.reward("r",
               {graph.add("c", Bernoulli{.units = 2},
                          {Edge{b, Pattern::pairs({{0, 0}})}, Edge{a, Pattern::pairs({{0, 0}, {1, 1}})}})});
  graph.estimate_with(a, Hnca{});
  const Report report = validate(graph);
  CHECK(to_string(report) ==
        R"(3 nodes, 3 edges, 1 reward: not admissible, Assumption 1 is violated

  level  node  kind          Assumption 1  reward  estimator  because
  0      a     Bernoulli ×2  violated      r       hnca *     Assumption 1 is violated
  1      b     Bernoulli ×2  holds         r       hnca       Assumption 1 holds
  2      c     Bernoulli ×2  holds         r       reinforce  not hnca: the reward reads it and no child tells its effect
  * chosen by estimate_with; the others by Auto

error[assumption-1]: node 'a': Assumption 1 is violated: 'a[0]' and its descendant 'b[0]' are both parents of 'c[0]' (policy)
    a[0] ───────→ c[0]
    a[0] → b[0] → c[0]
  help: graph.estimate_with(a, Hnca{.assumption = Assumption::relaxed});   // unbiased on any DAG; for one reward, never more variance than REINFORCE
  help: graph.estimate_with(a, Reinforce{});   // unbiased everywhere, usually more variance
  help: or drop the edge a[0] → c[0]
warning[no-path-to-reward]: node 'b': no route leads from 1 of its 2 units to a reward, the first being 'b[1]'; their gradient is zero and they will not learn
  help: let a reward, or a unit that leads to one, read 'b[1]', or leave it out)");
  check_witnesses(graph, report);
}

TEST_CASE("a violation of populations that no unit commits is none") {
  // a[0] ─→ b[0] ─→ c[0] ─→ r
  // a[1] ───────────↗
  // ├─────→ b[1]
  // └─────────────→ c[1] ─→ r
  const auto build = [](const Pattern& skip, const Pattern& step, const Pattern& last) {
    Graph graph;
    const NodeId a = graph.add("a", Bernoulli{.units = 2}, {});
    const NodeId b = graph.add("b", Bernoulli{.units = 2}, {Edge{a, step}});
    graph.reward("r", {graph.add("c", Bernoulli{.units = 2}, {Edge{b, last}, Edge{a, skip}})});
    graph.estimate_with(a, Hnca{});
    return graph;
  };
  CHECK(to_string(validate(build(Pattern::pairs({{1, 0}, {1, 1}}), Pattern::pairs({{0, 0}, {1, 1}}),
                                 Pattern::pairs({{0, 0}})))) ==
        R"(3 nodes, 3 edges, 1 reward: admissible, Assumption 1 holds everywhere

  level  node  kind          Assumption 1  reward  estimator  because
  0      a     Bernoulli ×2  holds         r       hnca *     Assumption 1 holds
  1      b     Bernoulli ×2  holds         r       hnca       Assumption 1 holds
  2      c     Bernoulli ×2  holds         r       reinforce  not hnca: the reward reads it and no child tells its effect
  * chosen by estimate_with; the others by Auto

warning[no-path-to-reward]: node 'b': no route leads from 1 of its 2 units to a reward, the first being 'b[1]'; their gradient is zero and they will not learn
  help: let a reward, or a unit that leads to one, read 'b[1]', or leave it out)");
  // The same populations, joined by all pairs of units, violate it.
  const Report dense = validate(build(Pattern::dense(), Pattern::dense(), Pattern::dense()));
  REQUIRE(dense.diagnostics.size() == 1);
  CHECK(dense.diagnostics[0].witness == std::vector<Route>{{"a", "c"}, {"a", "b", "c"}});
}

TEST_CASE("several rewards credit a node each in its own way") {
  // a ─→ b ─→ c ─→ task
  // │    └──→ half
  // └──→ effort
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const NodeId c = graph.add("c", Bernoulli{}, {b});
  const RewardId task = graph.reward("task", {c}), effort = graph.reward("effort", {a});
  graph.reward("half", {b});
  CHECK(to_string(validate(graph)) ==
        R"(3 nodes, 2 edges, 3 rewards: admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator  because
  0      a     Bernoulli  holds         task    hnca       Assumption 1 holds
                                        effort  reinforce  not hnca: the reward reads it, so its children tell only a part of its effect
                                        half    hnca       Assumption 1 holds
  1      b     Bernoulli  holds         task    hnca       Assumption 1 holds
                                        half    reinforce  not hnca: the reward reads it, so its children tell only a part of its effect
  2      c     Bernoulli  holds         task    reinforce  not hnca: the reward reads it and no child tells its effect)");
  graph.estimate_with(a, task, Reinforce{});
  graph.estimate_with(a, effort, Hnca{});
  CHECK(to_string(validate(graph)) ==
        R"(3 nodes, 2 edges, 3 rewards: not admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator    because
  0      a     Bernoulli  holds         task    reinforce *  unbiased for every node and reward
                                        effort  hnca *       the reward reads it, so its children tell only a part of its effect
                                        half    hnca         Assumption 1 holds
  1      b     Bernoulli  holds         task    hnca         Assumption 1 holds
                                        half    reinforce    not hnca: the reward reads it, so its children tell only a part of its effect
  2      c     Bernoulli  holds         task    reinforce    not hnca: the reward reads it and no child tells its effect
  * chosen by estimate_with; the others by Auto

error[reward-reads-node]: node 'a': hnca for reward 'effort': the reward reads it, so its children tell only a part of its effect (biased)
    a → effort
  help: graph.estimate_with(a, effort, Reinforce{});   // unbiased everywhere, usually more variance)");
}

TEST_CASE("a violation is reported once, however many rewards meet it") {
  Graph graph = skip_edge(Hnca{});
  graph.reward("second", {NodeId{3}});
  const Report report = validate(graph);
  REQUIRE(report.diagnostics.size() == 1);
  CHECK(report.diagnostics[0].code == "assumption-1");
  CHECK(report.diagnostics[0].reason == Reason::policy);
}

TEST_CASE("an empty graph is refused") {
  Graph graph;
  constexpr const char* expected =
      R"(error[empty-graph]: the graph has no stochastic nodes, so there is nothing to learn
  help: graph.add("a", Bernoulli{}, {});)";
  CHECK(to_string(validate(graph)) == expected);
  CHECK(refusal([&] { compile(graph); }) == expected);
  graph.reward("r", {graph.add("a", Bernoulli{}, {})});
  CHECK(compile(graph).parameters().size() == 1);
}

TEST_CASE("a graph without a reward is refused") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  constexpr const char* expected =
      R"(2 nodes, 1 edge, 0 rewards: not admissible, Assumption 1 holds everywhere

  level  node  kind       Assumption 1  reward  estimator  because
  0      x     input      given
  1      a     Bernoulli  holds

error[no-reward]: the graph has no reward, so there is nothing to learn from
  help: graph.reward("reward", {a});)";
  CHECK(to_string(validate(graph)) == expected);
  CHECK(refusal([&] { compile(graph); }) == expected);
  graph.reward("reward", {a});
  CHECK(compile(graph).parameters().size() == 2);
}

TEST_CASE("compile throws exactly the report that validate returns") {
  const Graph graph = skip_edge(Hnca{});
  const Report report = validate(graph);
  CHECK(refusal([&] { compile(graph); }) == to_string(report));
  CHECK(refusal([&] { compile<double>(graph, {.seed = 3}); }) == to_string(report));
  try {
    compile(graph);
  } catch (const Error& error) {
    REQUIRE(error.report().diagnostics.size() == 1);
    CHECK(error.report().diagnostics[0].witness == report.diagnostics[0].witness);
    CHECK(error.report().credits.size() == report.credits.size());
  }
}
