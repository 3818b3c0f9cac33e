//  x ─→ a ─→ c ─→ action ─→ reward      two routes of unequal length meet in `action`:
//  └──→ b ────────↗                     no layering exists
//
// A contextual bandit whose best possible reward is known. The context is 32 random signs of which six
// matter; one of four actions is right. The right action pays 1 with probability 0.9, any other with
// probability 0.1: the optimum is 0.9 and guessing earns 0.3. Nobody tells the network which action would
// have been right.
//
// Batches are small and there is no baseline on purpose: that is where the variance of the gradient decides.
// With batches of 16 the same program ends at 0.890 for HNCA and 0.878 for REINFORCE, and single seeds go
// either way.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <hindsight/hindsight.hpp>

#include "progress_bar.hpp"

using namespace hindsight;

constexpr int signs = 32, actions = 4, batch = 4, steps = 3000;
constexpr double optimum = 0.9, guessing = (0.9 + 3 * 0.1) / actions;

struct Net {
  Graph graph;
  NodeId x, action;
  RewardId reward;
};

Net build() {
  Net net;
  Graph& graph = net.graph;
  net.x = graph.input("x", signs);
  const NodeId a = graph.add("a", Bernoulli{.units = 16}, {net.x});
  const NodeId b = graph.add("b", Bernoulli{.units = 8, .values = zero_one}, {net.x});
  const NodeId c = graph.add("c", Bernoulli{.units = 16}, {Edge{a, Pattern::random(0.25, 2)}});
  net.action = graph.add("action", Categorical{.classes = actions}, {c, b});
  net.reward = graph.reward("reward", {net.action});
  return net;
}

/// The same contexts and the same luck for whoever asks in the same order.
class Bandit {
 public:
  explicit Bandit(std::uint64_t seed) : seed_(seed), contexts_(batch, signs), luck_(batch) {}

  const Eigen::MatrixXf& next_contexts() {
    for (std::uint32_t i = 0; i < batch; ++i)
      for (std::uint32_t j = 0; j < signs; j += 4) {
        const auto words = philox(seed_, {0, round_, i, j});
        for (std::uint32_t k = 0; k < 4; ++k) contexts_(i, j + k) = words[k] & 1U ? 1.0F : -1.0F;
      }
    for (std::uint32_t i = 0; i < batch; ++i)
      luck_(i) = to_uniform<float>(philox(seed_, {1, round_, i, 0})[0]);
    ++round_;
    return contexts_;
  }

  bool is_right(int sample, Outcome action) const {
    const auto most_of = [](const auto& three_signs) {
      return (three_signs.array() > 0).count() >= 2 ? 1 : 0;
    };
    const auto context = contexts_.row(sample);
    return action == 2 * most_of(context.segment(0, 3)) + most_of(context.segment(3, 3));
  }

  float pay(int sample, Outcome action) const {
    return luck_(sample) < (is_right(sample, action) ? 0.9F : 0.1F) ? 1.0F : 0.0F;
  }

 private:
  std::uint64_t seed_;
  std::uint32_t round_ = 0;
  Eigen::MatrixXf contexts_;
  Eigen::VectorXf luck_;
};

/// Trains on the same samples whichever estimators the graph asks for.
Model train(const Net& net, std::uint64_t seed, ProgressBar& bar) {
  Model model = compile(net.graph, {.seed = seed});
  Workspace run = model.workspace(batch);
  const Sgd sgd{{.rate = 0.5}};
  Bandit bandit(seed + 1000);
  Eigen::VectorXf paid(batch);
  double running = guessing;
  for (int step = 0; step < steps; ++step) {
    model.forward(run, {{net.x, bandit.next_contexts()}});
    for (int i = 0; i < batch; ++i) paid(i) = bandit.pay(i, run.outcomes(net.action)(i));
    model.backward(run, {{net.reward, paid}});
    sgd.step(model.parameters(), run.gradient());
    for (const float reward : paid) running += 0.002 * (reward - running);
    bar.advance(fmt::format("seed {}, running reward {:.3f}", seed, running));
  }
  return model;
}

/// Expected reward of the trained network on contexts it has not seen.
double evaluate(const Net& net, const Model& model) {
  Workspace run = model.workspace(batch);
  Bandit bandit(99);
  int right = 0;
  constexpr int rounds = 4000;
  for (int round = 0; round < rounds; ++round) {
    model.forward(run, {{net.x, bandit.next_contexts()}});
    for (int i = 0; i < batch; ++i) right += bandit.is_right(i, run.outcomes(net.action)(i)) ? 1 : 0;
  }
  return 0.1 + 0.8 * right / (rounds * batch);
}

double mean_over_seeds(const Net& net, int seeds, const std::string& label) {
  ProgressBar bar(label, seeds * steps);
  double mean = 0;
  for (int seed = 1; seed <= seeds; ++seed) mean += evaluate(net, train(net, seed, bar)) / seeds;
  return mean;
}

/// 06_bandit [seeds]
int main(int argc, char** argv) {
  const int seeds = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 20;
  const Net net = build();
  const Report report = validate(net.graph);
  if (isatty(STDOUT_FILENO) == 1)
    fmt::print("{:c}\n\n", report);
  else
    fmt::print("{}\n\n", report);

  Net all_reinforce = net;
  for (const NodeId node : net.graph.nodes())
    if (!net.graph.is_input(node)) all_reinforce.graph.estimate_with(node, Reinforce{});

  const double hnca = mean_over_seeds(net, seeds, "HNCA");
  const double reinforce = mean_over_seeds(all_reinforce, seeds, "REINFORCE");
  fmt::print("\n  expected reward after {} samples, mean of {} seed{}\n", steps * batch, seeds,
             seeds == 1 ? "" : "s");
  fmt::print("    best possible            {:.3f}\n", optimum);
  fmt::print("    HNCA                     {:.3f}\n", hnca);
  fmt::print("    REINFORCE, same samples  {:.3f}\n", reinforce);
  fmt::print("    guessing                 {:.3f}\n", guessing);
}
