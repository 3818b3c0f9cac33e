#include "lab/gradient_variance.hpp"

#include <map>

#include <fmt/format.h>

#include "lab/stopwatch.hpp"

namespace hindsight::lab {
namespace {

/// Per parameter, over the batches.
struct Scatter {
  std::vector<double> variance;
  double samples_per_s = 0;
};

Network network_with(const VarianceOptions& options, const std::string& method, const Dataset& data) {
  NetworkOptions network = options.network;
  network.method = method;
  return make_network(network, data.train.features(), data.train.classes);
}

Scatter scatter(const Network& network, std::span<const float> parameters, const VarianceOptions& options,
                const Dataset& data) {
  Model model = compile(network.graph, {.seed = options.training.seed});
  std::copy(parameters.begin(), parameters.end(), model.parameters().begin());
  Workspace run =
      model.workspace(options.training.batch * model.plan().replicas, {.threads = options.training.threads});
  Batches batches(data.train, options.training.batch, options.training.seed + 1);
  std::vector<float> rewards;
  // By Welford: what is summed is no larger than the answer.
  std::vector<double> mean(parameters.size()), squares(parameters.size());
  double seconds = 0;
  std::size_t samples = 0;
  for (int i = 1; i <= options.batches; ++i) {
    if (batches.position().batch == static_cast<std::uint32_t>(batches.per_epoch()))
      batches.seek({batches.position().epoch + 1, 0});
    batches.next();
    const Stopwatch watch;
    model.forward(run, {{network.input, batches.pixels()}});
    reward_right_classes(run.outcomes(network.output), batches.labels(), rewards);
    model.backward(run, {{network.reward, rewards}});
    seconds += watch.seconds();
    samples += rewards.size();
    const std::span<const float> gradient = run.gradient();
    for (std::size_t p = 0; p < mean.size(); ++p) {
      const double off = gradient[p] - mean[p];
      mean[p] += off / i;
      squares[p] += off * (gradient[p] - mean[p]);
    }
  }
  for (double& square : squares) square /= options.batches - 1;
  return {std::move(squares), static_cast<double>(samples) / seconds};
}

}  // namespace

GradientVariance gradient_variance(const VarianceOptions& options, const Dataset& data) {
  const Network hnca = network_with(options, "hnca", data),
                reinforce = network_with(options, "reinforce", data);
  Training training(hnca, data, options.training);
  while (training.completed_epochs() < options.epochs) {
    while (!training.epoch_is_complete()) training.step();
    training.finish_epoch(0);
  }
  const std::span<const float> parameters = training.model().parameters();
  const Scatter with_hnca = scatter(hnca, parameters, options, data),
                with_reinforce = scatter(reinforce, parameters, options, data);

  std::map<int, GradientVariance::Level> by_level;
  const std::vector<int> level = levels(hnca.graph);
  std::size_t parameter = 0;  // they lie in the order in which nodes were added
  for (int i = 0; i < hnca.graph.node_count(); ++i) {
    const std::size_t count = hnca.graph.shape({i}).parameter_count();
    if (count == 0) continue;
    GradientVariance::Level& sums = by_level[level[static_cast<std::size_t>(i)]];
    sums.level = level[static_cast<std::size_t>(i)];
    sums.weights += count;
    for (const std::size_t end = parameter + count; parameter < end; ++parameter) {
      sums.hnca += with_hnca.variance[parameter];
      sums.reinforce += with_reinforce.variance[parameter];
    }
  }
  GradientVariance result{.levels = {},
                          .reinforce_samples_per_s = with_reinforce.samples_per_s,
                          .hnca_samples_per_s = with_hnca.samples_per_s};
  for (const auto& [number, sums] : by_level) result.levels.push_back(sums);
  return result;
}

std::vector<GradientVariance::Band> in_bands(const GradientVariance& variance, std::size_t most) {
  // The last level is the output's, which REINFORCE credits in either case: it stands alone.
  const std::size_t hidden = variance.levels.size() - 1, count = std::min(hidden, most - 1);
  std::vector<GradientVariance::Band> bands;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = hidden * i / count, end = hidden * (i + 1) / count;
    GradientVariance::Band band{variance.levels[first].level, variance.levels[end - 1]};
    for (std::size_t k = first; k + 1 < end; ++k) {
      band.sums.weights += variance.levels[k].weights;
      band.sums.reinforce += variance.levels[k].reinforce;
      band.sums.hnca += variance.levels[k].hnca;
    }
    bands.push_back(band);
  }
  bands.push_back({variance.levels.back().level, variance.levels.back()});
  return bands;
}

std::string to_table(const GradientVariance& variance) {
  std::string table =
      "| level | weights | REINFORCE | HNCA | HNCA / REINFORCE |\n|---:|---:|---:|---:|---:|\n";
  for (const auto& [first, sums] : in_bands(variance, 8))
    table += fmt::format(
        "| {} | {} | {:.3g} | {:.3g} | {:.2g} |\n",
        first == sums.level ? fmt::format("{}", first) : fmt::format("{} … {}", first, sums.level),
        sums.weights, sums.reinforce, sums.hnca, sums.hnca / sums.reinforce);
  return table + fmt::format("| samples/s | | {:.0f} k | {:.0f} k | {:.2f} |\n",
                             variance.reinforce_samples_per_s / 1000, variance.hnca_samples_per_s / 1000,
                             variance.hnca_samples_per_s / variance.reinforce_samples_per_s);
}

}  // namespace hindsight::lab
