#include "tool/overview.hpp"

#include <algorithm>

#include <doctest/doctest.h>
#include <hindsight/hindsight.hpp>

#include "support/picture_graphs.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using namespace hindsight::testing;

TEST_CASE("an overview has nodes and rewards with captions, levels and marks") {
  const Graph graph = five_nodes();
  const Report report = validate(graph);
  const Overview view = overview(graph, report);
  REQUIRE(view.items.size() == 6);
  CHECK(view.levels == 4);
  CHECK(caption(view.items[0]) == "input ×2");
  CHECK(caption(view.items[4]) == "Categorical");
  CHECK(caption(view.items[5]) == "reward");
  CHECK(view.items[5].level == 4);
  CHECK(assumption(view.items[0]) == "given");
  CHECK(assumption(view.items[1]) == "violated");
  CHECK(assumption(view.items[2]) == "holds");
  CHECK(assumption(view.items[3]) == "computed");
  REQUIRE(view.items[1].marks.size() == 1);
  CHECK(view.marks[static_cast<std::size_t>(view.items[1].marks[0])].name == "hnca");
  CHECK(headline(graph, report) == "5 nodes, 6 edges, 1 reward: not admissible, Assumption 1 is violated");
}

TEST_CASE("the routes of a violation are marked on the links they use and no others") {
  const Graph graph = five_nodes();
  const Report report = validate(graph);
  const Overview view = overview(graph, report);
  REQUIRE(view.proofs.size() == 1);
  CHECK(view.proofs[0].node == 1);
  CHECK(view.proofs[0].child == 4);
  CHECK(view.proofs[0].edge == std::vector<int>{1, 4});
  CHECK(view.proofs[0].route == std::vector<int>{1, 2, 4});
  CHECK(view.proofs[0].route_names.size() == 3);
  for (const ItemLink& link : view.links) {
    CHECK(link.on_edge == (link.from == 1 && link.to == 4));
    CHECK(link.on_route == ((link.from == 1 && link.to == 2) || (link.from == 2 && link.to == 4)));
    CHECK(link.sparse == (link.from == 2 && link.to == 4));
    if (link.sparse) {
      CHECK(link.pairs == 2);
      CHECK(link.all_pairs == 4);
    }
  }
}

TEST_CASE("inputs show violations only where the validator looked at them") {
  //  x → a → b, x → b
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  graph.reward("r", {graph.add("b", Bernoulli{}, {x, a})});
  CHECK(overview(graph, validate(graph)).proofs.empty());
  CHECK(overview(graph, validate(graph, {.strict = true})).proofs.size() == 1);
}

TEST_CASE("a level view counts every node, edge and violation once") {
  const Graph graph = single_neurons(2000, 100);
  const Report report = validate(graph);
  const LevelView view = level_view(graph, report);
  std::size_t nodes = 0, violating = 0, edges = 0, rewards = 0;
  for (const Group& group : view.groups) {
    (group.look == Look::reward ? rewards : nodes) += group.nodes;
    violating += group.violating;
    CHECK(group.first_level == group.last_level);
    CHECK(group.examples.size() <= 20);
  }
  for (const GroupLink& link : view.links) edges += link.edges;
  CHECK(nodes == 2000);
  CHECK(rewards == 1);
  CHECK(view.bands.size() == 20);
  CHECK(violating > 0);
  CHECK(violating == static_cast<std::size_t>(std::count_if(report.nodes.begin(), report.nodes.end(),
                                                            [](const auto& n) { return !n.assumption_1; })));
  CHECK(edges == graph.edge_count() + 6);  // the reward reads six
}

TEST_CASE("a level view of a very deep graph puts neighbouring levels together") {
  Graph graph;
  NodeId last = graph.input("x", 1);
  for (int i = 0; i < 1000; ++i) last = graph.add("n" + std::to_string(i), Bernoulli{}, {last});
  graph.reward("r", {last});
  const LevelView view = level_view(graph, validate(graph));
  CHECK(view.bands.size() <= 24);
  CHECK(view.bands.front() == std::pair(0, 0));
  CHECK(view.bands.back().second == 1000);
  for (std::size_t i = 1; i < view.bands.size(); ++i)
    CHECK(view.bands[i].first == view.bands[i - 1].second + 1);
  CHECK(level_caption(view.bands[1]).starts_with("levels 1–"));
}

TEST_CASE("an empty graph has an empty overview and an empty level view") {
  const Graph graph;
  const Report report = validate(graph);
  CHECK(overview(graph, report).items.empty());
  CHECK(level_view(graph, report).groups.empty());
  CHECK(headline(graph, report) == "0 nodes, 0 edges, 0 rewards: not admissible");
  CHECK(counted(1234567, "node") == "1,234,567 nodes");
}

//  x → n0 → n1 → …, and every second node reads x too
TEST_CASE("a graph does not fit if its links pass too many levels, however few they are") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  NodeId last = x;
  std::size_t passed = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<Edge> parents{last};
    if (i % 2 == 1) {
      parents.emplace_back(x);
      passed += static_cast<std::size_t>(i);
    }
    last = graph.add("n" + std::to_string(i), Bernoulli{}, parents);
  }
  graph.reward("r", {last, x});
  passed += 100;
  CHECK(fits(graph, {.items = 102, .links = 152, .passed = passed}));
  CHECK_FALSE(fits(graph, {.items = 102, .links = 152, .passed = passed - 1}));
  CHECK_FALSE(fits(graph, {.items = 102, .links = 151, .passed = passed}));
  CHECK_FALSE(fits(graph, {.items = 101, .links = 152, .passed = passed}));
}

// Every node reads the one before and another from anywhere before: more lines than are drawn.
TEST_CASE("lines are left out of a level view by their weight, but no group is left alone") {
  Graph graph;
  Dice dice(3);
  std::vector<NodeId> nodes{graph.input("x", 1)};
  for (int i = 0; i < 600; ++i) {
    const NodeId other = nodes[static_cast<std::size_t>(dice.below(static_cast<int>(nodes.size())))];
    std::vector<Edge> parents{nodes.back()};
    if (other != nodes.back()) parents.emplace_back(other);
    nodes.push_back(graph.add("n" + std::to_string(i), Bernoulli{}, parents));
  }
  graph.reward("r", {nodes.back()});
  const LevelView view = level_view(graph, validate(graph));
  CHECK(view.links_left_out > 0);
  std::vector<int> lines(view.groups.size());
  for (const GroupLink& each : view.links) {
    ++lines[static_cast<std::size_t>(each.from)];
    ++lines[static_cast<std::size_t>(each.to)];
  }
  CHECK(std::find(lines.begin(), lines.end(), 0) == lines.end());
}
