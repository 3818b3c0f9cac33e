#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

using namespace hindsight;

TEST_CASE("levels are longest routes, and only nodes that lead to a reward are upstream of it") {
  //  x ─→ a ─→ b ─→ c        d is read by nobody
  //  └──→ d    └────────→ r
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  graph.add("c", Bernoulli{}, {x, b});
  graph.add("d", Bernoulli{}, {x});
  const RewardId reward = graph.reward("r", {b});
  CHECK(levels(graph) == std::vector{0, 1, 2, 3, 1});
  CHECK(upstream_of(graph, reward) == std::vector{true, true, true, false, false});
}
