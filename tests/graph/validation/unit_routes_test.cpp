// Whether units lead to a reward, patterns followed unit by unit.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/graph/unit_routes.hpp>
#include <hindsight/hindsight.hpp>

#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

std::string warnings(const Graph& graph) {
  std::string text;
  for (const Diagnostic& found : validate(graph).diagnostics)
    if (found.code == "no-path-to-reward") text += to_string(found) + "\n";
  return text;
}

/// Per unit of the node: is it read by something from which a route leads to a reward? By definition, step by
/// step.
bool leads_to_reward(const Graph& graph, const UnitRef& unit) {
  for (const RewardId reward : graph.rewards())
    for (const NodeId node : graph.reads(reward))
      if (node == unit.node) return true;
  for (const NodeId child : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(child)) {
      if (parent.node != unit.node) continue;
      for (int reader = 0; reader < graph.shape(child).units; ++reader) {
        bool reads = !parent.connectivity;
        if (parent.connectivity)
          for (const int read : parent.connectivity->parents_of(reader)) reads = reads || read == unit.unit;
        if (reads && leads_to_reward(graph, {child, reader})) return true;
      }
    }
  return false;
}

}  // namespace

//  a(4) ⇢ b(2) ─→ r      nobody reads a[1] and a[3]
TEST_CASE("units that a pattern leaves unread are warned of") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 4}, {});
  graph.reward("r", {graph.add("b", Bernoulli{.units = 2}, {Edge{a, Pattern::pairs({{0, 0}, {2, 1}})}})});
  CHECK(
      warnings(graph) ==
      R"(warning[no-path-to-reward]: node 'a': no route leads from 2 of its 4 units to a reward, the first being 'a[1]'; their gradient is zero and they will not learn
  help: let a reward, or a unit that leads to one, read 'a[1]', or leave it out
)");
}

//  a(2) ⇢ t(2) ⇢ c ─→ r      t[0] is all that reads a, t[1] all that c reads
TEST_CASE("a route between populations that no unit can take is none") {
  for (const bool deterministic : {false, true}) {
    Graph graph;
    const NodeId a = graph.add("a", Bernoulli{.units = 2}, {});
    const std::vector<Edge> read{Edge{a, Pattern::pairs({{0, 0}, {1, 0}})}};
    const NodeId t =
        deterministic ? graph.add("t", Tanh{2}, read) : graph.add("t", Bernoulli{.units = 2}, read);
    const NodeId c = graph.add("c", Bernoulli{}, {Edge{t, Pattern::pairs({{1, 0}})}});
    const RewardId r = graph.reward("r", {c});
    CHECK(
        warnings(graph) ==
        R"(warning[no-path-to-reward]: node 'a': no route leads from any of its units to a reward; its gradient is zero and it will not learn
  help: let a reward, or a unit that leads to one, read 'a', or leave it out
warning[no-path-to-reward]: node 't': no route leads from 1 of its 2 units to a reward, the first being 't[0]'; their gradient is zero and they will not learn
  help: let a reward, or a unit that leads to one, read 't[0]', or leave it out
)");
    // It is true: nothing that a does changes the mean of the reward.
    const auto model = random_model<double>(graph, 3);
    const std::vector<RewardFunction> rewards{{r, [=](const JointOutcome& at) { return 1.0 + at(c); }}};
    const Enumeration exact = enumerate<double>(model, {}, rewards, {.variance = false});
    const ParameterRange of_a = model.range(a);
    for (std::size_t i = 0; i < of_a.count; ++i) CHECK(std::abs(exact.gradient[of_a.first + i]) < 1e-14);
  }
}

TEST_CASE("units without a route are found on random graphs as by definition") {
  int some = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomGraph random = random_graph(
        seed, {.nodes = 4 + static_cast<int>(seed % 4), .functions = seed % 2 == 0, .most_states = 1e12});
    const auto found = internal::units_without_route(random.graph);
    for (const NodeId node : random.graph.nodes()) {
      std::vector<int> lost;
      const int units = random.graph.shape(node).units;
      for (int unit = 0; unit < units; ++unit)
        if (!leads_to_reward(random.graph, {node, unit})) lost.push_back(unit);
      const internal::LostUnits& at = found[static_cast<std::size_t>(node.index)];
      CAPTURE(seed);
      CAPTURE(random.graph.name(node));
      REQUIRE(at.count == static_cast<int>(lost.size()));
      if (lost.empty()) continue;
      CHECK(at.first == lost.front());
      (at.count == units ? all : some) += 1;
    }
  }
  CHECK(some > 20);
  CHECK(all > 20);
}
