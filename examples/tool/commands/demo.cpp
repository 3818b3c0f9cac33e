#include "tool/demo.hpp"

#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "progress_bar.hpp"
#include "tool/console.hpp"
#include "tool/figures.hpp"
#include "tool/graph_commands.hpp"
#include "tool/interrupt.hpp"
#include "tool/methods.hpp"
#include "tool/plain_text.hpp"
#include "tool/training.hpp"
#include "tool/workers.hpp"

namespace hindsight::tool {
namespace {

constexpr double demo_rate = 0.25;

//  x ─→ a ─→ b ─→ output ─→ correct      routes of unequal length meet in the output, and some pixels
//  ├─────────↗    ↑                      skip a on their way to b: no layering exists
//  └──→ c ────────┘
Network non_layered(int features, int classes) {
  Network network;
  Graph& graph = network.graph;
  const NodeId x = network.input = graph.input("x", features);
  const NodeId a = graph.add("a", Bernoulli{.units = 40}, {x});
  const NodeId b = graph.add("b", Bernoulli{.units = 32}, {a, Edge{x, Pattern::random(0.1, 1)}});
  const NodeId c = graph.add("c", Bernoulli{.units = 20, .values = zero_one}, {x});
  network.output = graph.add("output", Categorical{.classes = classes}, {b, c});
  network.reward = graph.reward("correct", {network.output});
  return network;
}

struct Contestant {
  std::string graph, method;
  Network network;
  std::vector<std::vector<EpochMetrics>> runs = {};  ///< per seed
};

std::size_t weights(const Network& network) { return compile(network.graph).parameters().size(); }

/// The layered network of two equal layers whose number of weights comes nearest.
Network layered_twin(const Network& of, int features, int classes) {
  const auto wanted = static_cast<double>(weights(of));
  int best = 1;
  double nearest = wanted;
  for (int units = 1; units < 256; ++units) {
    const double count = (features + 1.0) * units + (units + 1.0) * units + (units + 1.0) * classes;
    if (std::abs(count - wanted) < nearest) {
      nearest = std::abs(count - wanted);
      best = units;
    }
  }
  return make_network({.hidden = {best, best}}, features, classes);
}

std::vector<double> per_seed(const Contestant& contestant, double EpochMetrics::*metric, std::size_t epoch) {
  std::vector<double> values;
  for (const auto& run : contestant.runs) values.push_back(run[epoch].*metric);
  return values;
}

void print_table(const std::vector<Contestant>& contestants) {
  print_result("\n  {:<12} {:<10} {:>8}  {:>16}  {:>16}\n", "graph", "method", "weights",
               "reward, last epoch", "test accuracy");
  for (const Contestant& contestant : contestants) {
    const std::size_t last = contestant.runs.front().size() - 1;
    const Summary reward = summarise(per_seed(contestant, &EpochMetrics::train_reward, last)),
                  accuracy = summarise(per_seed(contestant, &EpochMetrics::test_accuracy_sampled, last));
    print_result("  {:<12} {:<10} {:>8}  {:>10.3f} ± {:.3f}  {:>7.1f} % ± {:>4.1f}\n", contestant.graph,
                 contestant.method, weights(contestant.network), reward.mean, reward.half_width,
                 100 * accuracy.mean, 100 * accuracy.half_width);
  }
}

NamedCurve curve_of(const Contestant& contestant) {
  NamedCurve curve{.label = contestant.graph + ", " + contestant.method};
  for (std::size_t epoch = 0; epoch < contestant.runs.front().size(); ++epoch) {
    const Summary reward = summarise(per_seed(contestant, &EpochMetrics::train_reward, epoch));
    curve.positions.push_back(static_cast<double>(epoch) + 1);
    curve.mean.push_back(reward.mean);
    curve.half_width.push_back(reward.half_width);
  }
  return curve;
}

}  // namespace

bool run_demo(const DemoOptions& options) {
  const Dataset data = load_dataset("sample");
  const Network dag = non_layered(data.train.features(), data.train.classes),
                twin = layered_twin(dag, data.train.features(), data.train.classes);
  std::vector<Contestant> contestants;
  for (const auto& [name, network] : {std::pair{"non-layered", dag}, std::pair{"layered", twin}}) {
    contestants.push_back({name, "HNCA", network});
    contestants.push_back({name, "REINFORCE", network});
    credit_by(contestants.back().network.graph, parse_credit_method("reinforce"));
  }
  for (Contestant& contestant : contestants) contestant.runs.resize(static_cast<std::size_t>(options.seeds));
  const Report report = validate(contestants.front().network.graph);
  print_report(report);

  const int runs = static_cast<int>(contestants.size()) * options.seeds;
  print_remark("\nlearning {} digits from rewards alone, {} epochs, {} seeds, batches of 16, rate {}\n\n",
               data.train.count(), options.epochs, options.seeds, demo_rate);
  ProgressBar bar("learning", static_cast<std::int64_t>(runs) * options.epochs);
  std::mutex mutex;
  share_out(runs, worker_count(0), [&](int item) {
    Contestant& contestant = contestants[static_cast<std::size_t>(item) % contestants.size()];
    const std::size_t seed = static_cast<std::size_t>(item) / contestants.size();
    Training training(contestant.network, data, {.rate = demo_rate, .seed = seed + 1});
    while (training.completed_epochs() < options.epochs && !was_interrupted()) {
      while (!training.epoch_is_complete()) training.step();
      training.finish_epoch(0);
      const std::lock_guard lock(mutex);
      bar.advance([&] {
        return fmt::format("{}, {}: reward {:.3f}", contestant.graph, contestant.method,
                           training.metrics().back().train_reward);
      });
    }
    contestant.runs[seed].assign(training.metrics().begin(), training.metrics().end());
  });
  if (was_interrupted()) return false;

  print_table(contestants);
  std::vector<NamedCurve> curves;
  for (const Contestant& contestant : contestants) curves.push_back(curve_of(contestant));
  compare_curves(curves, {.title = "Digits from rewards alone", .y_label = "mean reward of the epoch"},
                 options.out);
  print_result("\n  mean over seeds ± 95 %; the learning curves are in {0}.svg and {0}.png\n",
               printable(options.out.string()));
  return true;
}

}  // namespace hindsight::tool
