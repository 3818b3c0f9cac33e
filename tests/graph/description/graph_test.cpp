#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/counts.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

TEST_CASE("a graph tells what was added to it") {
  // x ─→ a ─→ b ─→ r
  // └─────────↗
  Graph graph;
  const NodeId x = graph.input("x", 3);
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {x});
  const NodeId b = graph.add("b", Categorical{.classes = 4}, {a, x});
  const RewardId r = graph.reward("r", {b});

  CHECK(counts(graph) == Counts{3, 1, 3, 6});
  CHECK(graph.name(a) == "a");
  CHECK(graph.name(r) == "r");
  CHECK(graph.is_input(x));
  CHECK_FALSE(graph.is_input(a));
  CHECK(graph.kind(x) == "input");
  CHECK(graph.kind(b) == "Categorical");
  CHECK(graph.shape(x).units == 3);
  CHECK(graph.shape(b).outcome_count() == 4);
  CHECK(graph.parents(x).empty());
  REQUIRE(graph.parents(b).size() == 2);
  CHECK(graph.parents(b)[0].node == a);
  CHECK(graph.parents(b)[1].node == x);
  CHECK_FALSE(graph.parents(b)[0].connectivity);
  CHECK(std::vector(graph.children(x).begin(), graph.children(x).end()) == std::vector{a, b});
  CHECK(graph.children(b).empty());
  CHECK(std::vector(graph.reads(r).begin(), graph.reads(r).end()) == std::vector{b});
}

TEST_CASE("nodes and rewards are listed in order of addition, as many as there are") {
  Graph graph;
  CHECK(graph.nodes().empty());
  CHECK(graph.rewards().empty());
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const RewardId r = graph.reward("r", {b});
  const RewardId s = graph.reward("s", {a});

  std::vector<NodeId> nodes;
  for (const NodeId node : graph.nodes()) nodes.push_back(node);
  CHECK(nodes == std::vector{x, a, b});
  std::vector<RewardId> rewards;
  for (const RewardId reward : graph.rewards()) rewards.push_back(reward);
  CHECK(rewards == std::vector{r, s});
  const auto listed = graph.nodes();
  CHECK(listed.size() == 3);
  graph.add("c", Bernoulli{}, {});
  CHECK(listed.size() == 3);
  CHECK(graph.nodes().size() == 4);
}

TEST_CASE("a name leads to its node or its reward, and not to the other") {
  Graph graph;
  const NodeId x = graph.input("x", 3);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const RewardId r = graph.reward("r", {a});
  CHECK(graph.find("x") == x);
  CHECK(graph.find(std::string_view("abc").substr(0, 1)) == a);  // a part of a text needs no copy
  CHECK_FALSE(graph.find("r"));
  CHECK_FALSE(graph.find("b"));
  CHECK_FALSE(graph.find(""));
  CHECK(graph.find_reward("r") == r);
  CHECK_FALSE(graph.find_reward("a"));
  CHECK_FALSE(graph.find_reward("b"));

  // What was refused, or added to a copy, is not to be found.
  Graph copy = graph;
  CHECK(copy.find("b") == std::nullopt);
  const NodeId b = copy.add("b", Bernoulli{}, {a});
  CHECK(refusal([&] { graph.add("b", Categorical{.classes = 1}, {a}); }).starts_with("error[one-class]"));
  CHECK(copy.find("b") == b);
  CHECK_FALSE(graph.find("b"));
}

TEST_CASE("a reward that lists a node twice reads it once") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {});
  const RewardId r = graph.reward("r", {b, a, b});
  CHECK(std::vector(graph.reads(r).begin(), graph.reads(r).end()) == std::vector{a, b});
}

TEST_CASE("the choice for one reward goes before the choice for all, whichever was made first") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const RewardId r = graph.reward("r", {a});
  graph.estimate_with(a, r, Reinforce{});
  graph.estimate_with(a, Hnca{});
  const RewardId later = graph.reward("later", {a});
  CHECK(graph.choice(a, r).chosen()->name() == "reinforce");
  CHECK(graph.choice(a, later).chosen()->name() == "hnca");
  graph.estimate_with(a, Auto{});
  CHECK_FALSE(graph.choice(a, later).chosen());
}

TEST_CASE("a copy of a graph grows by itself") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  Graph copy = graph;
  copy.reward("r", {copy.add("b", Bernoulli{}, {a})});
  CHECK(counts(graph) == Counts{1, 0, 0, 1});
  CHECK(counts(copy) == Counts{2, 1, 1, 2});
  CHECK(graph.children(a).empty());
}
