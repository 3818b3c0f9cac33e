#include <algorithm>
#include <map>
#include <set>

#include <doctest/doctest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/transitive_reduction.hpp>

#include "support/random_graphs.hpp"
#include "support/violations.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

std::set<std::pair<int, int>> edges_of(const Graph& graph) {
  std::set<std::pair<int, int>> edges;
  for (const NodeId child : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(child)) edges.emplace(parent.node.index, child.index);
  return edges;
}

std::set<std::pair<int, int>> reduced_by_boost(const Graph& graph) {
  using Digraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  const auto count = static_cast<std::size_t>(graph.node_count());
  Digraph digraph(count), reduced;
  for (const auto& [from, to] : edges_of(graph))
    boost::add_edge(static_cast<std::size_t>(from), static_cast<std::size_t>(to), digraph);
  std::map<std::size_t, std::size_t> to_reduced;
  std::vector<std::size_t> index(count);
  for (std::size_t i = 0; i < count; ++i) index[i] = i;
  boost::transitive_reduction(digraph, reduced, boost::make_assoc_property_map(to_reduced), index.data());
  std::set<std::pair<int, int>> edges;
  for (const auto& [from, to] : edges_of(graph))
    if (boost::edge(to_reduced.at(static_cast<std::size_t>(from)),
                    to_reduced.at(static_cast<std::size_t>(to)), reduced)
            .second)
      edges.emplace(from, to);
  return edges;
}

std::vector<std::string> text(const Reduction& reduction) {
  std::vector<std::string> lines;
  for (const RemovedEdge& edge : reduction.removed) {
    std::string line = edge.parent + " → " + edge.child;
    for (const auto& [from, to] : edge.pairs) line += " " + std::to_string(from) + ">" + std::to_string(to);
    lines.push_back(line + (edge.whole ? "" : " (a part)"));
  }
  for (const KeptViolation& kept : reduction.kept)
    lines.push_back("kept " + kept.node + " → " + kept.child + ": " + kept.why);
  return lines;
}

using Lines = std::vector<std::string>;

const std::string shared = ": each edge of a deterministic route between them also serves others";
const std::string needed = ": the child's kind cannot do without the edge";

}  // namespace

TEST_CASE("a graph of single units with its inputs checked is reduced as Boost reduces it") {
  std::size_t removed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    Graph graph;
    for (int i = 0; i < 14; ++i) {
      std::vector<Edge> parents;
      for (int p = 0; p < i; ++p)
        if (dice.chance(0.3)) parents.emplace_back(NodeId{p});
      const std::string name = "n" + std::to_string(i);
      if (i < 2)
        graph.input(name, 1);
      else
        graph.add(name, Bernoulli{}, parents);
    }
    const Reduction reduction = reduce(graph, InputPolicy::checked);
    CAPTURE(seed);
    CHECK(edges_of(reduction.graph) == reduced_by_boost(graph));
    CHECK(edges_of(graph).size() == edges_of(reduction.graph).size() + reduction.removed.size());
    CHECK(reduction.kept.empty());
    removed += reduction.removed.size();
  }
  CHECK(removed > 1000);
}

TEST_CASE(
    "a reduced graph keeps every descendant and every parent that is not at fault, and violates nothing") {
  std::size_t pairs = 0, kept = 0, removed = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    RandomGraph random = random_graph(seed, {.nodes = 5 + static_cast<int>(seed % 4),
                                             .sparse = seed % 2 == 0,
                                             .custom = seed % 5 == 0,
                                             .functions = seed % 3 != 0,
                                             .most_states = 1e12});
    const InputPolicy inputs = seed % 7 == 0 ? InputPolicy::checked : InputPolicy::exempt;
    const Graph& graph = random.graph;
    const Reduction reduction = reduce(graph, inputs);
    const Graph& after = reduction.graph;
    const ViolationReference before_by_definition(graph, inputs), after_by_definition(after, inputs);
    CAPTURE(seed);
    REQUIRE(after.node_count() == graph.node_count());
    std::set<std::pair<std::string, std::string>> at_fault, left;
    for (const auto& triple : before_by_definition.triples())
      at_fault.emplace(to_string(graph, triple.node), to_string(graph, triple.child));
    for (const auto& triple : after_by_definition.triples())
      left.emplace(to_string(after, triple.node), to_string(after, triple.child));
    std::set<std::pair<std::string, std::string>> said;
    for (const KeptViolation& violation : reduction.kept) said.emplace(violation.node, violation.child);
    // Where no pattern is near, populations are named; all their units are meant.
    const auto is_said = [&](const UnitRef& from, const UnitRef& to) {
      return said.contains({to_string(graph, from), to_string(graph, to)}) ||
             said.contains({graph.name(from.node), graph.name(to.node)});
    };
    // A reduced graph may have lost all patterns, and is then judged by populations.
    if (before_by_definition.vertices().size() == after_by_definition.vertices().size()) {
      CHECK(left.empty() == said.empty());
      for (const UnitRef& from : before_by_definition.vertices())
        for (const UnitRef& to : before_by_definition.vertices()) {
          if (graph.is_deterministic(from.node) || graph.is_deterministic(to.node)) continue;
          CHECK(after_by_definition.reaches(from, to) == before_by_definition.reaches(from, to));
          const std::pair edge{to_string(graph, from), to_string(graph, to)};
          CHECK(after_by_definition.is_contracted_edge(from, to) ==
                (before_by_definition.is_contracted_edge(from, to) &&
                 (!at_fault.contains(edge) || is_said(from, to))));
          CHECK(left.contains(edge) == (at_fault.contains(edge) && is_said(from, to)));
        }
    }
    if (reduction.kept.empty()) CHECK(find_violations(after, inputs).empty());
    if (!random.functions.empty() || seed % 5 == 0)
      kept += reduction.kept.size();
    else
      CHECK(reduction.kept.empty());
    for (const NodeId node : graph.nodes()) {
      CHECK(after.name(node) == graph.name(node));
      CHECK(after.kind(node) == graph.kind(node));
      CHECK(after.shape(node).units == graph.shape(node).units);
      if (!graph.is_deterministic(node)) CHECK(after.parents(node).empty() == graph.parents(node).empty());
    }
    for (const RemovedEdge& edge : reduction.removed) pairs += edge.pairs.size();
    removed += reduction.removed.size();
    CHECK(reduce(after, inputs).removed.empty());
  }
  CHECK(removed > 500);
  CHECK(pairs > 300);
  CHECK(kept > 20);
}

//  x ─→ a ─→ b ─→ c ─→ r      a → c goes; the input's x → c stays unless inputs are checked
//  │    └─────────↗
//  └──────────────↗
TEST_CASE("a reduction keeps order, names, kinds, rewards and every choice of an estimator") {
  Graph graph;
  const NodeId x = graph.input("x", 3), a = graph.add("a", Bernoulli{.units = 2}, {x}),
               b = graph.add("b", Categorical{.classes = 3}, {a}),
               c = graph.add("c", Bernoulli{.units = 2, .values = zero_one}, {x, a, b});
  const RewardId r = graph.reward("r", {c}), s = graph.reward("s", {b, c});
  graph.estimate_with(a, Hnca{});
  graph.estimate_with(b, Reinforce{});
  graph.estimate_with(b, r, Hnca{.assumption = Assumption::relaxed});
  CHECK_FALSE(validate(graph).admissible());
  const Reduction reduction = reduce(graph);
  CHECK(text(reduction) == Lines{"a → c"});
  CHECK(text(reduce(graph, InputPolicy::checked)) == Lines{"x → c", "a → c"});
  const Graph& after = reduction.graph;
  CHECK(edges_of(after) == std::set<std::pair<int, int>>{{0, 1}, {0, 3}, {1, 2}, {2, 3}});
  CHECK(after.choice(a, r).chosen()->name() == "hnca");
  CHECK(after.choice(a, s).chosen()->name() == "hnca");
  CHECK(after.choice(b, s).chosen()->name() == "reinforce");
  CHECK(after.choice(b, r).chosen()->name() == "hnca(assumption=relaxed)");
  CHECK_FALSE(after.choice(c, r).chosen());
  CHECK(std::vector(after.reads(s).begin(), after.reads(s).end()) == std::vector{b, c});
  CHECK(after.shape(c).encoding == graph.shape(c).encoding);
  CHECK(validate(after).assumption_1_holds());
  CHECK(compile(after).report().admissible());
}

//  a ─→ b ─→ c      a → c goes
//  └─────────↗
TEST_CASE("a reduction keeps known rewards, and every baseline of a reward, a node or a pair of them") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a}),
               c = graph.add("c", Bernoulli{}, {a, b});
  const RewardId black_box = graph.reward("black box", {c}),
                 known = graph.reward("known", {b, c},
                                      [b, c](const JointOutcome&joint) { return 3.0 * joint(b) + joint(c); });
  graph.baseline(known, RunningMean{.decay = 0.5});
  graph.baseline(b, RunningMean{.decay = 0.6});
  graph.baseline(c, NoBaseline{});
  graph.baseline(c, known, RunningMean{.decay = 0.7});
  graph.estimate_with(c, black_box, Reinforce{});
  const Reduction reduction = reduce(graph);
  const Graph& after = reduction.graph;
  CHECK(text(reduction) == Lines{"a → c"});

  CHECK_FALSE(after.is_known(black_box));
  REQUIRE(after.is_known(known));
  const Model model = compile(after);
  Workspace run = model.workspace(64);
  model.forward(run, {}, {.samples = 64});
  model.backward(run, {{black_box, std::vector<float>(64, 0)}});
  for (int sample = 0; sample < 64; ++sample)
    CHECK(run.rewards(known)[static_cast<std::size_t>(sample)] ==
          3 * run.outcomes(b)(sample, 0) + run.outcomes(c)(sample, 0));

  CHECK(after.chosen_baseline(black_box) == nullptr);
  REQUIRE(after.chosen_baseline(known) != nullptr);
  CHECK(after.chosen_baseline(known)->chosen()->name() == "running-mean(decay=0.5)");
  CHECK(after.chosen_baseline(a) == nullptr);
  REQUIRE(after.chosen_baseline(b) != nullptr);
  CHECK(after.chosen_baseline(b)->chosen()->name() == "running-mean(decay=0.6)");
  REQUIRE(after.chosen_baseline(c) != nullptr);
  CHECK_FALSE(after.chosen_baseline(c)->chosen());
  REQUIRE(after.chosen_baseline(c, known) != nullptr);
  CHECK(after.chosen_baseline(c, known)->chosen()->name() == "running-mean(decay=0.7)");
  CHECK(after.chosen_baseline(b, known) == nullptr);
  CHECK(after.chosen_baseline(c, black_box) == nullptr);
  CHECK(after.has_own_choice(c, black_box));
  CHECK_FALSE(after.has_own_choice(c, known));
}

TEST_CASE("a graph without violations is its own reduction") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  graph.reward("r", {a, graph.add("b", Bernoulli{}, {a})});
  const Reduction reduction = reduce(graph);
  CHECK(text(reduction).empty());
  CHECK(edges_of(reduction.graph) == edges_of(graph));
  CHECK(reduction.graph.reads(RewardId{0}).size() == 2);
}

// a[0] ─→ b[0] ─→ c[0]      c reads all of a: only a[0] → c[0] is at fault
// a[1] ─→ b[1]    c[1]
TEST_CASE("of an edge between populations only the pairs at fault go") {
  Graph graph;
  const Pattern straight = Pattern::pairs({{0, 0}, {1, 1}});
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {}),
               b = graph.add("b", Bernoulli{.units = 2}, {Edge{a, straight}}),
               c = graph.add("c", Bernoulli{.units = 2}, {a, Edge{b, Pattern::pairs({{0, 0}})}});
  graph.reward("r", {c});
  const Reduction reduction = reduce(graph);
  CHECK(text(reduction) == Lines{"a → c 0>0 (a part)"});
  const Graph& after = reduction.graph;
  CHECK(after.parents(c)[0].connectivity->parents_of(0).size() == 1);
  CHECK(after.parents(c)[0].connectivity->parents_of(1).size() == 2);
  CHECK(after.parents(b)[0].connectivity->pairs() == 2);
  CHECK(validate(after).assumption_1_holds());

  Graph sparse;
  sparse.add("a", Bernoulli{.units = 2}, {});
  sparse.add("b", Bernoulli{.units = 2}, {Edge{a, straight}});
  sparse.add("c", Bernoulli{.units = 2}, {Edge{a, straight}, Edge{b, straight}});
  CHECK(text(reduce(sparse)) == Lines{"a → c 0>0 1>1"});
}

//  a ─→ f ─→ c      f → c goes, the last edge of the route at fault; f is left without a child
//  └──→ b ──↗
TEST_CASE("a deterministic route at fault loses its last edge") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), f = graph.add("f", Tanh{}, {a}),
               b = graph.add("b", Bernoulli{}, {a});
  graph.reward("r", {graph.add("c", Bernoulli{}, {f, b})});
  const Reduction reduction = reduce(graph);
  CHECK(text(reduction) == Lines{"f → c"});
  CHECK(validate(reduction.graph).assumption_1_holds());
}

//  a ─→ f ─→ c      b reads a, and f reads b too: f → c also serves b, so a → f goes
//  └─→ b ─↗
TEST_CASE("a deterministic node that others need loses the parent at fault") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a}),
               f = graph.add("f", Tanh{}, {a, b});
  graph.reward("r", {graph.add("c", Bernoulli{}, {f})});
  CHECK(text(reduce(graph)) == Lines{"a → f"});

  // A reward that follows from f needs a → f.
  Graph rewarded;
  rewarded.add("a", Bernoulli{}, {});
  rewarded.add("b", Bernoulli{}, {a});
  rewarded.add("f", Tanh{}, {a, b});
  rewarded.add("c", Bernoulli{}, {f});
  rewarded.reward("r", {f});
  CHECK(text(reduce(rewarded)) == Lines{"kept a → c" + shared});
}

//  a ─→ f ─→ c      b, a child of a, leads to c only: a → f is needed for d, and f → c for b
//  └─→ b ─↗└→ d ←─ e
TEST_CASE("a violation that shares all its edges with others is kept and said to be") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a}),
               f = graph.add("f", Tanh{}, {a}), g = graph.add("g", Tanh{}, {f, b});
  graph.add("c", Bernoulli{}, {g});
  graph.add("d", Bernoulli{}, {f});
  CHECK(text(reduce(graph)) == Lines{"f → g"});

  Graph knotted;
  knotted.add("a", Bernoulli{}, {});
  knotted.add("b", Bernoulli{}, {a});
  knotted.add("f", Tanh{}, {a});
  knotted.add("c", Bernoulli{}, {f, b});
  knotted.add("e", Bernoulli{}, {});
  knotted.add("h", Tanh{}, {f, NodeId{4}});
  knotted.add("d", Bernoulli{}, {NodeId{5}, NodeId{1}});
  knotted.add("i", Bernoulli{}, {NodeId{5}});
  const Reduction reduction = reduce(knotted);
  CHECK(text(reduction) == Lines{"f → c", "kept a → d" + shared});
  CHECK(find_violations(reduction.graph).edge_count() == 1);
  (void)g;
}

TEST_CASE("an edge that the child's kind cannot do without is kept and said to be") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a});
  graph.add("t", Table{.rows = {{0.5, 0.5}, {0.4, 0.6}, {0.3, 0.7}, {0.2, 0.8}}}, {a, b});
  graph.add("c", Bernoulli{}, {a, b});
  const Reduction reduction = reduce(graph);
  CHECK(text(reduction) == Lines{"a → c", "kept a → t" + needed});
  CHECK(reduction.graph.parents(NodeId{2}).size() == 2);
}
