//  x ─→ a ─→ c ─→ d ─→ payoff      two routes of unequal length meet in d:
//  └──→ b ────────↗                no layering exists
//
// Build a graph, let the validator read it, sample from it, and take one step along the estimated gradient.
#include <cmath>

#include <hindsight/hindsight.hpp>

using namespace hindsight;

int main() {
  Graph graph;
  const NodeId x = graph.input("x", 3);
  const NodeId a = graph.add("a", Bernoulli{.units = 4}, {x});                      // children see -1 and +1
  const NodeId b = graph.add("b", Bernoulli{.units = 2, .values = zero_one}, {x});  // children see 0 and 1
  const NodeId c =
      graph.add("c", Bernoulli{.units = 2}, {Edge{a, Pattern::pairs({{0, 0}, {1, 0}, {2, 1}, {3, 1}})}});
  const NodeId d = graph.add("d", Categorical{.classes = 3}, {c, b});
  const RewardId payoff = graph.reward("payoff", {d});

  fmt::print("{}\n\n", validate(graph));

  Model model = compile(graph, {.seed = 1});
  Workspace run = model.workspace(4);
  const Eigen::MatrixXf features{{0.2F, -1.0F, 0.5F},  // a row per sample
                                 {1.0F, 0.3F, -0.7F},
                                 {0.0F, 0.9F, 0.4F},
                                 {-0.6F, 0.1F, 1.2F}};
  model.forward(run, {{x, features}});

  // Class 1 is worth having; the model is told the value and nothing else.
  const Eigen::VectorXf paid = (as_eigen(run.outcomes(d)).array() == 1).cast<float>();
  model.backward(run, {{payoff, paid}});

  for (int sample = 0; sample < run.samples(); ++sample)
    fmt::print("sample {}: d = {}, P(d = 1) was {:.3f}, paid {}\n", sample, run.outcomes(d)(sample),
               std::exp(run.log_probs(d)(sample, 1)), paid(sample));

  as_eigen(model.parameters()) += as_eigen(run.gradient());
  fmt::print("after one step the bias of d's class 1 is {:+.3f}\n", model.parameters("d/bias")(1));
}
