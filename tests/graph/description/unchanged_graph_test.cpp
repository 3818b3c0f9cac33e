// What a graph refuses leaves it as it was.
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/counts.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// The refusal of a call that changes the graph; all there is to say about the graph must stay the same.
template <class Call>
std::string refusal_of(const Graph& graph, const Call& call) {
  const Counts before = counts(graph);
  const std::string report = to_string(validate(graph));
  std::string text = refusal(call);
  CHECK(counts(graph) == before);
  CHECK(to_string(validate(graph)) == report);
  return text;
}

/// A node of the user's own whose shape is whatever the test wants.
struct Shaped {
  Shape wanted;
  Shape shape(std::span<const ParentShape>) const { return wanted; }
  template <class S>
  void log_probs(std::span<const S>, const Reading<S>&, std::span<S>) const {}
  template <class S>
  void accumulate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>) const {}
};

}  // namespace

TEST_CASE("an empty name is refused for inputs, nodes and rewards") {
  constexpr const char* expected =
      R"(error[empty-name]: a node or reward has an empty name; reports and parameters could not refer to it
  help: graph.add("hidden", …))";
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  CHECK(refusal_of(graph, [&] { graph.input("", 1); }) == expected);
  CHECK(refusal_of(graph, [&] { graph.add("", Bernoulli{}, {a}); }) == expected);
  CHECK(refusal_of(graph, [&] { graph.reward("", {a}); }) == expected);
  CHECK(graph.input("x", 1) == NodeId{1});
}

TEST_CASE("a name that would break paths or lines is refused") {
  Graph graph;
  CHECK(
      refusal_of(graph, [&] { graph.input("left/eye", 1); }) ==
      R"(error[bad-name]: the name "left/eye" holds a '/' or a control character; '/' separates a node from its parameters
  help: use letters, digits, '_', '.' or spaces)");
  CHECK(
      refusal_of(graph, [&] { graph.add("two\nlines", Bernoulli{}, {}); }) ==
      R"(error[bad-name]: the name "two\nlines" holds a '/' or a control character; '/' separates a node from its parameters
  help: use letters, digits, '_', '.' or spaces)");
  CHECK(
      refusal_of(graph, [&] { graph.add("red\x1b[31m", Bernoulli{}, {}); }) ==
      R"(error[bad-name]: the name "red\x1b[31m" holds a '/' or a control character; '/' separates a node from its parameters
  help: use letters, digits, '_', '.' or spaces)");
  CHECK(graph.name(graph.input("linkes Auge α.1", 1)) == "linkes Auge α.1");
}

TEST_CASE("a name is given once, whoever bears it") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  graph.reward("r", {a});
  CHECK(refusal_of(graph, [&] { graph.add("a", Categorical{}, {x}); }) ==
        R"(error[duplicate-name]: the name 'a' is taken by a Bernoulli node already
  help: give each node and reward a name of its own, e.g. "a_2")");
  CHECK(refusal_of(graph, [&] { graph.input("x", 2); }) ==
        R"(error[duplicate-name]: the name 'x' is taken by an input already
  help: give each node and reward a name of its own, e.g. "x_2")");
  CHECK(refusal_of(graph, [&] { graph.add("r", Bernoulli{}, {x}); }) ==
        R"(error[duplicate-name]: the name 'r' is taken by a reward already
  help: give each node and reward a name of its own, e.g. "r_2")");
  CHECK(refusal_of(graph, [&] { graph.reward("a", {a}); }) ==
        R"(error[duplicate-name]: the name 'a' is taken by a Bernoulli node already
  help: give each node and reward a name of its own, e.g. "a_2")");
  graph.add("a_2", Categorical{}, {x});
  graph.reward("r_2", {a});
  CHECK(counts(graph) == Counts{3, 2, 2, 3});
}

TEST_CASE("a parent that is not in the graph is refused") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  CHECK(
      refusal_of(graph,
                 [&] {
                   graph.add("a", Bernoulli{}, {x, NodeId{}});
                 }) ==
      R"(error[unknown-parent]: node 'a': its parent, node number -1, does not exist; the graph has 1 node so far
  help: add parents first and pass the NodeId that graph.add(…) or graph.input(…) returned)");
  CHECK(
      refusal_of(graph, [&] { graph.add("a", Bernoulli{}, {NodeId{-7}}); }) ==
      R"(error[unknown-parent]: node 'a': its parent, node number -7, does not exist; the graph has 1 node so far
  help: add parents first and pass the NodeId that graph.add(…) or graph.input(…) returned)");
  CHECK(
      refusal_of(graph, [&] { graph.add("a", Bernoulli{}, {NodeId{1}}); }) ==
      R"(error[unknown-parent]: node 'a': its parent, node number 1, does not exist; the graph has 1 node so far
  help: add parents first and pass the NodeId that graph.add(…) or graph.input(…) returned)");
  CHECK(graph.add("a", Bernoulli{}, {x}) == NodeId{1});
}

TEST_CASE("a population without units is refused") {
  Graph graph;
  CHECK(refusal_of(graph, [&] { graph.input("x", 0); }) ==
        R"(error[zero-units]: node 'x': it has 0 units; a population has at least 1
  help: .units = 1)");
  const NodeId x = graph.input("x", 1);
  CHECK(refusal_of(graph, [&] { graph.add("a", Bernoulli{.units = -3}, {x}); }) ==
        R"(error[zero-units]: node 'a': it has -3 units; a population has at least 1
  help: .units = 1)");
  CHECK(refusal_of(graph, [&] {
          graph.add("a", Categorical{.units = 0}, {Edge{x, Pattern::random(0.5, 1)}});
        }) == R"(error[zero-units]: node 'a': it has 0 units; a population has at least 1
  help: .units = 1)");
  CHECK(refusal_of(graph,
                   [&] {
                     graph.add("a", Table{.rows = {{0.5, 0.5}}, .units = -1}, {});
                   }) ==
        R"(error[zero-units]: node 'a': it has -1 units; a population has at least 1
  help: .units = 1)");
  graph.add("a", Bernoulli{.units = 3}, {x});
  CHECK(counts(graph) == Counts{2, 0, 1, 4});
}

TEST_CASE("more units than can be numbered are refused") {
  Graph graph;
  graph.input("x", std::numeric_limits<int>::max() - 1);
  CHECK(
      refusal_of(graph, [&] { graph.add("a", Bernoulli{.units = 2}, {}); }) ==
      R"(error[too-many-units]: node 'a': with its 2 units the graph would have 2147483648; 2147483647 is the most
  help: split the model into several graphs)");
  graph.add("a", Bernoulli{.units = 1}, {});
  CHECK(graph.unit_count() == 2147483647);
}

TEST_CASE("a parent that is listed twice is refused") {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  CHECK(refusal_of(graph, [&] {
          graph.add("a", Bernoulli{}, {Edge{x, Pattern::pairs({{0, 0}})}, Edge{x, Pattern::pairs({{1, 0}})}});
        }) == R"(error[duplicate-parent]: node 'a': it lists 'x' twice; one edge joins two nodes
  help: list each parent once; Pattern::pairs joins any set of units)");
  graph.add("a", Bernoulli{}, {Edge{x, Pattern::pairs({{0, 0}, {1, 0}})}});
  CHECK(counts(graph) == Counts{2, 0, 1, 3});
}

TEST_CASE("a pattern into a node that would not honour it is refused") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {});
  const Table table{.rows = {{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}, {0.1, 0.9}}};
  CHECK(
      refusal_of(graph,
                 [&] {
                   graph.add("b", table, {Edge{a, Pattern::random(0.5, 1)}});
                 }) ==
      R"(error[pattern-unread]: node 'b': a Table node reads all units of its parents; it cannot honour a pattern
  help: drop the pattern, or put it on an edge into a Bernoulli or Categorical node that this one reads)");
  CHECK(graph.children(a).empty());
  graph.add("b", table, {a});
  CHECK(counts(graph) == Counts{2, 0, 1, 3});
}

TEST_CASE("what a pattern refuses names the child") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {});
  CHECK(
      refusal_of(graph,
                 [&] {
                   graph.add("b", Bernoulli{.units = 3}, {Edge{a, Pattern::pairs({{2, 0}})}});
                 }) ==
      R"(error[pattern]: node 'b': the edge from 'a' joins unit 2 to unit 0, but 'a' has 2 units and the child 3
  help: keep pairs within (0 … 1, 0 … 2))");
  graph.add("b", Bernoulli{.units = 3}, {Edge{a, Pattern::pairs({{1, 0}})}});
  CHECK(counts(graph) == Counts{2, 0, 1, 5});
}

TEST_CASE("a reward that reads nothing, or nothing that exists, is refused") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  CHECK(refusal_of(graph, [&] { graph.reward("r", {}); }) ==
        R"(error[reward-reads-nothing]: reward 'r' reads no node, so nothing could be credited with it
  help: graph.reward("r", {output}))");
  CHECK(
      refusal_of(graph,
                 [&] {
                   graph.reward("r", {a, NodeId{5}});
                 }) ==
      R"(error[unknown-node]: reward 'r' reads node number 5, which does not exist; the graph has 1 node so far
  help: add what is read first and pass the NodeId that graph.add(…) or graph.input(…) returned)");
  CHECK(graph.reward("r", {a}) == RewardId{0});
}

TEST_CASE("an estimator for something that is not there is refused") {
  Graph graph;
  const NodeId x = graph.input("x", 1);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const RewardId r = graph.reward("r", {a});
  CHECK(
      refusal_of(graph, [&] { graph.estimate_with(x, Reinforce{}); }) ==
      R"(error[input-has-no-estimator]: node 'x': it is an input: it is given, not learned, and takes no estimator
  help: choose estimators for the nodes that graph.add(…) made)");
  CHECK(
      refusal_of(graph, [&] { graph.estimate_with(x, r, Reinforce{}); }) ==
      R"(error[input-has-no-estimator]: node 'x': it is an input: it is given, not learned, and takes no estimator
  help: choose estimators for the nodes that graph.add(…) made)");
  CHECK(refusal_of(graph, [&] { graph.estimate_with(NodeId{}, Reinforce{}); }) ==
        R"(error[unknown-node]: node number -1 does not exist; the graph has 2 nodes so far
  help: use the NodeId that graph.add(…) or graph.input(…) returned)");
  CHECK(refusal_of(graph, [&] { graph.estimate_with(NodeId{2}, r, Reinforce{}); }) ==
        R"(error[unknown-node]: node number 2 does not exist; the graph has 2 nodes so far
  help: use the NodeId that graph.add(…) or graph.input(…) returned)");
  CHECK(refusal_of(graph, [&] { graph.estimate_with(a, RewardId{}, Reinforce{}); }) ==
        R"(error[unknown-reward]: reward number -1 does not exist; the graph has 1 so far
  help: use the RewardId that graph.reward(…) returned)");
  CHECK(refusal_of(graph, [&] { graph.estimate_with(a, RewardId{1}, Reinforce{}); }) ==
        R"(error[unknown-reward]: reward number 1 does not exist; the graph has 1 so far
  help: use the RewardId that graph.reward(…) returned)");
  graph.estimate_with(a, r, Reinforce{});
  CHECK(graph.choice(a, r).chosen()->name() == "reinforce");
}

TEST_CASE("more parameters than can be counted are refused") {
  Graph graph;
  const std::int64_t many = std::int64_t{1} << 32;
  const Shape shape{.units = 1, .encoding = one_hot_encoding(2), .parameters = {{"w", many, many}}};
  CHECK(refusal_of(graph, [&] { graph.add("mine", Shaped{shape}, {}); }) ==
        R"(error[too-large]: node 'mine': its shape has 1.8e+19 parameters and more
  help: check the rows and columns of its parameter blocks)");
}

TEST_CASE("a node of the user's own with an impossible shape is refused") {
  const auto text = [](const Encoding& encoding) {
    Graph graph;
    std::string said =
        refusal_of(graph, [&] { graph.add("mine", Shaped{{.units = 1, .encoding = encoding}}, {}); });
    graph.add("mine", Shaped{{.units = 1, .encoding = one_hot_encoding(2)}}, {});
    CHECK(counts(graph) == Counts{1, 0, 0, 1});
    return said;
  };
  const std::string rest =
      R"(; at least 2 × 1 is needed, with as many finite values or, for one-hot, none
  help: return Shape{.units = 1, .encoding = scalar_encoding({-1, 1})} or one_hot_encoding(outcome_count) from shape())";
  const std::string start = "error[bad-shape]: node 'mine': its encoding is ";
  CHECK(text({}) == start + "0 × 0 (outcomes × numbers for the children) with 0 values" + rest);
  CHECK(text(scalar_encoding({1})) ==
        start + "1 × 1 (outcomes × numbers for the children) with 1 values" + rest);
  CHECK(text({.outcome_count = 3, .width = 2}) ==
        start + "3 × 2 (outcomes × numbers for the children) with 0 values" + rest);
  CHECK(text({.outcome_count = 2, .width = 2, .values = {0, 1, 2}}) ==
        start + "2 × 2 (outcomes × numbers for the children) with 3 values" + rest);
  CHECK(text({.outcome_count = -2, .width = -1, .values = {0, 1}}) ==
        start + "-2 × -1 (outcomes × numbers for the children) with 2 values" + rest);
  CHECK(text(scalar_encoding({0, std::numeric_limits<double>::infinity()})) ==
        start + "2 × 1 (outcomes × numbers for the children) with 2 values, not all finite" + rest);
}

TEST_CASE("a question about something that is not in the graph is refused") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const RewardId r = graph.reward("r", {a});
  constexpr const char* unassigned =
      R"(error[unknown-node]: node number -1 does not exist; the graph has 1 node so far
  help: use the NodeId that graph.add(…) or graph.input(…) returned)";
  CHECK(refusal_of(graph, [&] { graph.name(NodeId{}); }) == unassigned);
  CHECK(refusal_of(graph, [&] { graph.is_input(NodeId{}); }) == unassigned);
  CHECK(refusal_of(graph, [&] { graph.kind(NodeId{}); }) == unassigned);
  CHECK(refusal_of(graph, [&] { graph.shape(NodeId{}); }) == unassigned);
  CHECK(refusal_of(graph, [&] { graph.node(NodeId{}); }) == unassigned);
  CHECK(refusal_of(graph, [&] { graph.parents(NodeId{}); }) == unassigned);
  CHECK(refusal_of(graph, [&] { graph.children(NodeId{}); }) == unassigned);
  CHECK(refusal_of(graph, [&] { graph.choice(NodeId{}, r); }) == unassigned);
  CHECK(refusal_of(graph, [&] { graph.chosen_baseline(NodeId{}); }) == unassigned);
  CHECK(refusal_of(graph, [&] { graph.chosen_baseline(NodeId{}, r); }) == unassigned);
  CHECK(refusal_of(graph, [&] { graph.name(NodeId{1}); }) ==
        R"(error[unknown-node]: node number 1 does not exist; the graph has 1 node so far
  help: use the NodeId that graph.add(…) or graph.input(…) returned)");
  CHECK(refusal_of(graph, [&] { graph.name(RewardId{}); }) ==
        R"(error[unknown-reward]: reward number -1 does not exist; the graph has 1 so far
  help: use the RewardId that graph.reward(…) returned)");
  constexpr const char* no_second_reward =
      R"(error[unknown-reward]: reward number 1 does not exist; the graph has 1 so far
  help: use the RewardId that graph.reward(…) returned)";
  CHECK(refusal_of(graph, [&] { graph.reads(RewardId{1}); }) == no_second_reward);
  CHECK(refusal_of(graph, [&] { graph.chosen_baseline(RewardId{1}); }) == no_second_reward);
  CHECK(refusal_of(graph, [&] { graph.chosen_baseline(a, RewardId{1}); }) == no_second_reward);
  CHECK(graph.chosen_baseline(a, r) == nullptr);
  CHECK(graph.name(a) == "a");
  CHECK(graph.name(r) == "r");
}
