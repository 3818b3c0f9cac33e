//  x ─→ a ─→ b ─→ tidy         two rewards: `tidy` reads b only,
//       └──→ c ─→ fast         `fast` reads c and, directly, a as well
//       └────────↗
//
// Estimators and verdicts belong to a (node, reward) pair. `a` may be credited by HNCA for `tidy`, but not
// for `fast`, which sees a's outcome itself; nodes are credited only by rewards downstream of them.
#include <vector>

#include <hindsight/hindsight.hpp>

using namespace hindsight;

int main() {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const NodeId c = graph.add("c", Categorical{.classes = 3}, {a});
  const RewardId tidy = graph.reward("tidy", {b});
  const RewardId fast = graph.reward("fast", {c, a});

  graph.estimate_with(a, Hnca{});  // for every reward: too much to ask
  fmt::print("{}\n\n", validate(graph));

  graph.estimate_with(a, fast, Reinforce{});  // for one reward
  fmt::print("{}\n\n", validate(graph));

  const Model model = compile(graph, {.seed = 2});
  Workspace run = model.workspace(1);
  const Eigen::RowVector2f features{1.0F, -0.5F};
  model.forward(run, {{x, features}});
  const auto gradient_at_a = [&](float tidiness, float speed) {
    model.backward(run, {{tidy, std::vector<float>{tidiness}}, {fast, std::vector<float>{speed}}});
    return run.gradient("a/bias")(0);
  };
  fmt::print("a's bias moves by {:+.4f} for tidy, {:+.4f} for fast, {:+.4f} for both\n", gradient_at_a(1, 0),
             gradient_at_a(0, 1), gradient_at_a(1, 1));
}
