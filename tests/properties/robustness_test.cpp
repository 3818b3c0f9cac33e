// What careless or unusual use must not break: large cardinalities, inherited comparisons, inconsistent user
// types.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// REINFORCE times a factor, comparable only through its base.
struct Scaled : Reinforce {
  double scale = 1;
  std::string name() const { return "scaled"; }
  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
    for (int unit = 0; unit < view.units; ++unit)
      for (int i = 0; i < view.samples; ++i)
        credit(unit, view.outcome(unit, i), i) += static_cast<S>(scale) * view.signal[i];
  }
};

/// HNCA as one would first write it: posterior times signal, with no eye for signals of 0.
struct PlainPosterior {
  Needs needs() const { return {.hindsight_steps = 1}; }
  Verdict admissible(const Facts&) const { return {}; }
  std::string name() const { return "posterior"; }
  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
    for (int unit = 0; unit < view.units; ++unit)
      for (int i = 0; i < view.samples; ++i) {
        S total = 0;
        for (int k = 0; k < view.outcome_count; ++k)
          total += std::exp(view.log_prob(unit, k, i) + view.evidence_of(unit, k, i));
        for (int k = 0; k < view.outcome_count; ++k)
          credit(unit, k, i) +=
              std::exp(view.log_prob(unit, k, i) + view.evidence_of(unit, k, i)) / total * view.signal[i];
      }
  }
};

/// A fair coin with every way of getting its shape or its blocks wrong.
struct OddCoin {
  static constexpr bool reads_patterns = true;
  Shape made;
  bool fickle = false;

  Shape shape(std::span<const ParentShape> parents) const {
    Shape answer = made;
    if (fickle && parents[0].connectivity) answer.units += 1;
    return answer;
  }
  template <class S>
  void log_probs(std::span<const S>, const Reading<S>&, std::span<S> out) const {
    for (S& value : out) value = std::log(S(0.5));
  }
  template <class S>
  void accumulate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>) const {}
};

const Shape coin{.units = 1, .encoding = scalar_encoding({0, 1})};

struct Unlowered : OddCoin {
  template <class S>
  static Blocks<S> lower(std::span<const Member<Unlowered>>) {
    return {};
  }
};

struct ThrowingLower : OddCoin {
  template <class S>
  static Blocks<S> lower(std::span<const Member<ThrowingLower>>) {
    throw std::runtime_error("no blocks today");
  }
};

}  // namespace

TEST_CASE("estimators that compare equal only through a base are not taken for one another") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {});
  const RewardId reward = graph.reward("r", {a, b});
  Scaled once, hundredfold;
  hundredfold.scale = 100;
  graph.estimate_with(a, once);
  graph.estimate_with(b, hundredfold);
  const auto model = compile<double>(graph);
  auto run = model.workspace(1);
  const std::vector<Outcome> on{1};
  model.forward(run, {}, {.clamp = {{a, on}, {b, on}}});
  model.backward(run, {{reward, std::vector<double>{1}}});
  CHECK(run.gradient("b/bias")(0) == doctest::Approx(100 * run.gradient("a/bias")(0)));
}

TEST_CASE("the last of a hundred thousand equal classes is drawn when its turn comes") {
  Graph graph;
  const NodeId a = graph.add("a", Categorical{.classes = 100000}, {});
  graph.reward("r", {a});
  const Model model = compile(graph, {.seed = 3});
  // A step whose uniform lies in the last ten classes; a float sum over the classes would be past 1 long
  // before.
  StreamPosition position;
  float uniform = 0;
  while (uniform < 0.9999F) {
    ++position.step;
    draw_uniforms(3, position, 0, std::span(&uniform, 1));
  }
  auto run = model.workspace(1);
  run.seek(position);
  model.forward(run, {});
  CHECK(std::abs(static_cast<double>(run.outcomes(a)(0)) - 1e5 * static_cast<double>(uniform)) <= 2);
}

TEST_CASE("a fair table of twenty thousand outcomes is no unnormalised one") {
  Graph graph;
  const NodeId a = graph.add("a", Table{.rows = {std::vector<double>(20000, 1.0 / 20000)}}, {});
  graph.reward("r", {a});
  const Model model = compile(graph);
  auto run = model.workspace(1);
  CHECK_NOTHROW(model.forward(run, {}));
}

TEST_CASE("impossible states do not reach estimators that look at evidence") {
  Graph graph;
  const NodeId a = graph.add("a", Table{.rows = {{0.25, 0.75, 0}}}, {});
  const NodeId b = graph.add("b", Table{.rows = {{1, 0}, {0.5, 0.5}, {0, 1}}}, {a});
  const NodeId c = graph.add("c", Table{.rows = {{0, 1}, {0.3, 0.7}}}, {b});
  const RewardId reward = graph.reward("r", {c});
  graph.estimate_with(a, PlainPosterior{});
  graph.estimate_with(b, PlainPosterior{});
  const auto model = compile<double>(graph);
  const std::vector<RewardFunction> value{
      {reward, [=](const JointOutcome& o) { return o(c) == 0 ? 1.0 : 0.0; }}};
  const Enumeration exact = enumerate(model, {}, value);
  for (std::size_t i = 0; i < exact.gradient.size(); ++i)
    CHECK(exact.estimate[i] == doctest::Approx(exact.gradient[i]).epsilon(1e-12).scale(1));
}

TEST_CASE("what the padding of a batch would have drawn cannot spoil the gradient") {
  //  a ─→ b with a weight near the largest float: where a's padding lanes differ, b's logit overflows
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const RewardId reward = graph.reward("r", {b});
  Model model = compile(graph, {.seed = 1});
  model.parameters("b/weights/a")(0, 0) = 3e38F;
  model.parameters("b/weights/a")(0, 1) = -3e38F;
  auto run = model.workspace(1);
  const std::vector<Outcome> same{1, 1};
  for (int step = 0; step < 20; ++step) {
    model.forward(run, {}, {.clamp = {{a, MatrixView<const Outcome>(same.data(), 1, 2)}}});
    model.backward(run, {{reward, std::vector<float>{1}}});
    for (const float g : run.gradient()) CHECK(std::isfinite(g));
  }
}

TEST_CASE("a graph without inputs runs batches of any size that fits") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  graph.reward("r", {a});
  const Model model = compile(graph);
  auto run = model.workspace(100);
  model.forward(run, {}, {.samples = 7});
  CHECK(run.samples() == 7);
  CHECK(run.outcomes(a).rows() == 7);
  model.forward(run, {});
  CHECK(run.samples() == 100);
  CHECK(refusal([&] { model.forward(run, {}, {.samples = 101}); }) ==
        "error[batch-size]: 101 samples were asked for; this workspace runs 1 to 100\n"
        "  help: auto run = model.workspace(101);");
}

TEST_CASE("a random pattern belongs to the units it joins, however they are gathered") {
  Graph population, neurons;
  const NodeId x = population.input("x", 40), y = neurons.input("x", 40);
  const NodeId all = population.add("a", Bernoulli{.units = 6}, {Edge{x, Pattern::random(0.3, 1)}});
  const NodeId more = population.add("b", Bernoulli{.units = 6}, {Edge{x, Pattern::random(0.3, 1)}});
  const auto read = [](const Graph& graph, NodeId node, int unit) {
    const auto units = graph.parents(node)[0].connectivity->parents_of(unit);
    return std::vector<int>(units.begin(), units.end());
  };
  int different = 0;
  for (int unit = 0; unit < 6; ++unit) {
    const NodeId one =
        neurons.add("a" + std::to_string(unit), Bernoulli{}, {Edge{y, Pattern::random(0.3, 1)}});
    CHECK(read(neurons, one, 0) == read(population, all, unit));
    different += read(population, all, unit) != read(population, more, unit) ? 1 : 0;
  }
  CHECK(different == 6);  // another edge with the same seed is another draw
}

TEST_CASE("shapes that contradict themselves are refused") {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  Shape odd = coin;
  odd.logits = -3;
  CHECK(refusal([&] { graph.add("odd", OddCoin{odd}, {x}); }) ==
        "error[bad-shape]: node 'odd': its shape says that a unit forms -3 logits; it forms at least 1\n"
        "  help: .logits = 1");
  odd = coin;
  odd.parameters = {{"p", 1}, {"p", 2}};
  CHECK(refusal([&] { graph.add("odd", OddCoin{odd}, {x}); }) ==
        "error[bad-shape]: node 'odd': its shape has two parameter blocks called 'p', or one without a name\n"
        "  help: .parameters = {{\"weights\", 3}, {\"bias\", 1}}   // names of their own");
  for (const int rows : {-1, std::numeric_limits<int>::min()}) {
    odd.parameters = {{"p", rows, 2L}};
    CHECK(refusal([&] { graph.add("odd", OddCoin{odd}, {x}); }) ==
          "error[bad-shape]: node 'odd': its parameter block 'p' has fewer than 0 rows or columns\n"
          "  help: .parameters = {{\"weights\", 3}, {\"bias\", 1}}   // rows, and columns if there are "
          "several");
  }
  CHECK(refusal([&] {
          graph.add("odd", OddCoin{coin, true}, {Edge{x, Pattern::pairs({{0, 0}})}});
        }) ==
        "error[bad-shape]: node 'odd': its shape has 1 units when its parents are dense and 2 when they are "
        "not\n"
        "  help: let shape() give the same number of units whatever ParentShape::connectivity is");
  CHECK(graph.node_count() == 1);
}

TEST_CASE("a lower that gives nothing or throws is refused") {
  const auto compiled = [](AnyNode node) {
    return refusal([&] {
      Graph graph;
      const NodeId bad = graph.add("bad", std::move(node), {});
      graph.reward("r", {bad});
      compile(graph);
    });
  };
  CHECK(compiled(Unlowered{{coin}}) ==
        "error[nothing-lowered]: node 'bad': the lower of its type (custom) gave no block, or one that is "
        "null\n"
        "  help: return blocks that cover every member of the group, or leave lower out");
  CHECK(compiled(ThrowingLower{{coin}}) ==
        "error[node-threw]: node 'bad': its lower threw: no blocks today\n"
        "  help: let it answer whatever it is asked; to refuse with a reason of its own, let it throw Error");
}

TEST_CASE("an empty report thrown by admissible does not bring validate down") {
  struct Silent : Reinforce {
    Verdict admissible(const Facts&) const { throw Error(Report{}); }
  };
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  graph.reward("r", {a});
  graph.estimate_with(a, Silent{});
  CHECK(validate(graph).diagnostics.at(0).message ==
        "reinforce for reward 'r': its admissible threw: an empty report");
  CHECK_THROWS_AS(compile(graph), Error);
}

TEST_CASE("a report with very many findings stays readable") {
  //  n0 ─→ n1 ─→ … ─→ n49, and each skips one ahead; a long way round for the last
  Graph graph;
  std::vector<NodeId> nodes{graph.add("n0", Bernoulli{}, {})};
  for (int i = 1; i < 50; ++i) {
    std::vector<Edge> parents{nodes.back()};
    if (i > 1) parents.emplace_back(nodes[nodes.size() - 2]);
    nodes.push_back(graph.add("n" + std::to_string(i), Bernoulli{}, parents));
  }
  graph.reward("r", {nodes.back()});
  const Report report = validate(graph);
  CHECK(report.count("assumption-1") == 48);
  CHECK(report.diagnostics.size() == shown_per_code);
  REQUIRE(report.further.size() == 1);
  CHECK(report.further[0].nodes.front() == "n20");
  CHECK(report.further[0].nodes.back() == "n47");
  const std::string text = to_string(report);
  CHECK(text.find("… and 10 more rows") != std::string::npos);
  CHECK(text.find("… and 28 more note[assumption-1]") != std::string::npos);

  Graph ring;
  std::vector<NodeId> chain{ring.add("c0", Bernoulli{}, {})};
  for (int i = 1; i < 30; ++i) {
    std::vector<Edge> parents{chain.back()};
    if (i == 29) parents.emplace_back(chain.front());
    chain.push_back(ring.add("c" + std::to_string(i), Bernoulli{}, parents));
  }
  ring.reward("r", {chain.back()});
  CHECK(to_string(validate(ring)).find("c0 → c1 → c2 → c3 → c4 → (20 more) → c25 → c26 → c27 → c28 → c29") !=
        std::string::npos);
}
