// What another project does with the library: every folder is used, so a header or symbol that is not
// installed shows.
#include <vector>

#include <hindsight/hindsight.hpp>

using namespace hindsight;

//  x ─→ a ─→ t ─→ reward
//  └──→ b ────────↗
int main() {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {x});
  const NodeId b = graph.add("b", Categorical{.classes = 3}, {Edge{x, Pattern::random(0.9, 1)}});
  const NodeId t = graph.add("t", Table{.rows = {{0.9, 0.1}, {0.5, 0.5}, {0.5, 0.5}, {0, 1}}}, {a});
  const RewardId reward = graph.reward("reward", {t, b});
  graph.estimate_with(a, Hnca{});

  auto model = compile<double>(graph, {.seed = 1});
  auto run = model.workspace(1);
  const Eigen::RowVector2d features{0.5, -1.0};  // Eigen comes with the library
  model.forward(run, {{x, features}});
  model.backward(run, {{reward, as_eigen(run.outcomes(t)).cast<double>()}});
  as_eigen(model.parameters()) += 0.1 * as_eigen(run.gradient());
  Sgd{{.rate = 0.1}}.step(model.parameters(), run.gradient());

  const std::vector<RewardFunction> value{{reward, [=](const JointOutcome& o) { return o(t) + 0.5 * o(b); }}};
  const Enumeration exact = enumerate(model, {{x, features}}, value);
  fmt::print("{}\n\nused from another project: {} joint outcomes, expected reward {:.3f}\n", validate(graph),
             exact.states, exact.rewards[0]);
}
