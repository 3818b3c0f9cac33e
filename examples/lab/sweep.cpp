#include "lab/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "lab/atomic_file.hpp"
#include "lab/interrupt.hpp"
#include "lab/methods.hpp"
#include "lab/statistics.hpp"
#include "lab/stopwatch.hpp"
#include "lab/training.hpp"
#include "lab/workers.hpp"
#include "progress_bar.hpp"

namespace hindsight::lab {
namespace {

/// FNV-1a.
std::uint64_t sum_of(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const char letter : text) sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return sum;
}

void add_seeds(std::vector<RunSettings>& runs, RunSettings run, int rate, int seeds, int epochs) {
  run.rate_exponent = rate;
  run.epochs = epochs;
  for (run.seed = 0; run.seed < seeds; ++run.seed) runs.push_back(run);
}

Network network_of(const RunSettings& settings, const Dataset& data) {
  return make_network({.hidden = std::vector(static_cast<std::size_t>(settings.depth), settings.units),
                       .topology = settings.topology,
                       .method = settings.method,
                       .values = settings.values},
                      data.train.features(), data.train.classes);
}

/// Whatever else is wrong with a network is refused now, not hours later.
bool admits_its_method(const RunSettings& settings, const Dataset& data) {
  try {
    network_of(settings, data);
    return true;
  } catch (const Error& problem) {
    if (!is_inadmissible_method(problem)) throw;
    fmt::print(stderr, "left out on {}: {}\n", NetworkKey{settings.depth, settings.topology}.label(),
               problem.report().diagnostics.front().message);
    return false;
  }
}

/// One whole run; none if it was interrupted.
std::optional<RunResult> execute(const RunSettings& settings, const Dataset& data,
                                 const std::function<void(int epochs)>& progress) {
  const Stopwatch watch;
  const Network network = network_of(settings, data);
  Training training(network, data,
                    {.rate = std::ldexp(1.0, settings.rate_exponent),
                     .optimizer = settings.optimizer,
                     .batch = settings.batch,
                     .seed = static_cast<std::uint64_t>(settings.seed),
                     .test_passes = 4});
  RunResult result{.settings = settings};
  try {
    while (training.completed_epochs() < settings.epochs) {
      while (!training.epoch_is_complete()) {
        if (was_interrupted()) return std::nullopt;
        training.step();
      }
      training.finish_epoch(0);
      progress(1);
    }
  } catch (const Error& problem) {
    if (!is_divergence(problem)) throw;
    result.diverged = true;
    progress(settings.epochs - training.completed_epochs());
  }
  for (const EpochMetrics& epoch : training.metrics()) {
    result.train_reward.push_back(epoch.train_reward);
    result.test_accuracy_sampled.push_back(epoch.test_accuracy_sampled);
    result.test_accuracy_mean.push_back(epoch.test_accuracy_mean);
  }
  result.seconds = watch.seconds();
  return result;
}

RunResult read_result(const RunSettings& settings, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / file_name(settings);
  return parse_result(read_file(file), file.string());
}

/// A file of that name counts only if it holds that very run.
bool is_there(const RunSettings& settings, const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / file_name(settings))) return false;
  if (read_result(settings, folder).settings == settings) return true;
  refuse(
      {.code = "results-mixed",
       .message = fmt::format("{} holds the result of another run", (folder / file_name(settings)).string()),
       .help = {"give each sweep a folder of its own: --out other"}});
}

/// Does the runs that the folder lacks. False: interrupted.
bool run_missing(const std::string& label, const std::vector<RunSettings>& runs, const Dataset& data,
                 const SweepOptions& options) {
  std::vector<RunSettings> missing;
  std::int64_t epochs = 0;
  for (const RunSettings& settings : runs)
    if (!is_there(settings, options.results)) {
      missing.push_back(settings);
      epochs += settings.epochs;
    }
  if (missing.size() < runs.size())
    fmt::print("{}: {} of {} runs are there already\n", label, runs.size() - missing.size(), runs.size());
  ProgressBar bar(label, epochs);
  std::mutex mutex;
  int done = 0;
  share_out(static_cast<int>(missing.size()), worker_count(options.workers), [&](int item) {
    const RunSettings& settings = missing[static_cast<std::size_t>(item)];
    const auto result = execute(settings, data, [&](int some) {
      const std::lock_guard lock(mutex);
      bar.advance([&] { return fmt::format("{} of {} runs", done, missing.size()); }, some);
    });
    if (!result) return;
    write_atomically(options.results / file_name(settings), to_json_line(*result) + "\n");
    const std::lock_guard lock(mutex);
    ++done;
  });
  return !was_interrupted();
}

}  // namespace

std::string file_name(const RunSettings& settings) {
  const std::string network =
      settings.topology.empty() ? fmt::format("d{}-u{}", settings.depth, settings.units) : settings.topology;
  std::string name = fmt::format("{}-{}-{}-{}-{}-b{}-lr{}-s{}-e{}", settings.data, settings.method,
                                 settings.values, settings.optimizer, network, settings.batch,
                                 settings.rate_exponent, settings.seed, settings.epochs);
  // Of two names in which letters were replaced or left out, the sums differ.
  constexpr std::size_t longest = 200;
  if (settings.method.find_first_of(" ()+") != std::string::npos || name.size() > longest)
    name = fmt::format("{}-{:016x}", name.substr(0, longest), sum_of(name));
  constexpr std::string_view unsafe = "/: ()+";
  for (char& letter : name)
    if (unsafe.find(letter) != std::string_view::npos) letter = '_';
  return name + ".json";
}

std::vector<RunSettings> combinations(const SweepPlan& plan) {
  std::vector<std::string> methods;
  for (const std::string& method : plan.methods)
    if (std::string name = canonical_method(method);
        std::find(methods.begin(), methods.end(), name) == methods.end())
      methods.push_back(std::move(name));
  std::vector<RunSettings> all;
  const auto add = [&](const std::string& topology, int depth, int units) {
    for (const std::string& method : methods)
      all.push_back({.data = plan.data,
                     .method = method,
                     .values = plan.values,
                     .optimizer = plan.optimizer,
                     .topology = topology,
                     .depth = depth,
                     .units = units,
                     .batch = plan.batch});
  };
  if (plan.topologies.empty())
    for (const int depth : plan.depths) add("", depth, plan.units);
  for (const std::string& topology : plan.topologies) add(topology, 1, 1);
  return all;
}

std::vector<RunSettings> exploration(const SweepPlan& plan, const std::vector<RunSettings>& combinations) {
  std::vector<RunSettings> runs;
  for (const RunSettings& settings : combinations)
    for (const int rate : plan.rates) add_seeds(runs, settings, rate, plan.seeds, plan.epochs);
  return runs;
}

std::vector<RunSettings> refinement(const SweepPlan& plan, const std::vector<RunSettings>& combinations,
                                    const std::vector<RunResult>& explored) {
  std::vector<RunSettings> runs;
  for (const RunSettings& settings : combinations) {
    std::vector<RunResult> group;
    for (const RunResult& result : explored)
      if (result.settings.depth == settings.depth && result.settings.topology == settings.topology &&
          result.settings.method == settings.method && result.settings.epochs == plan.epochs &&
          result.settings.seed < plan.seeds)
        group.push_back(result);
    const auto best = best_rate(group, plan.epochs);
    if (!best)
      refuse({.code = "sweep-incomplete",
              .message = fmt::format("{} with {} has not been explored", settings.method,
                                     NetworkKey{settings.depth, settings.topology}.label()),
              .help = {"run the sweep again: finished runs are not repeated"}});
    add_seeds(runs, settings, best->exponent, plan.best_seeds, plan.best_epochs);
    for (const int neighbour : {best->exponent - 1, best->exponent + 1})
      add_seeds(runs, settings, neighbour, plan.neighbour_seeds, plan.neighbour_epochs);
  }
  return runs;
}

bool run_sweep(const SweepPlan& plan, const SweepOptions& options) {
  make_folder(options.results);
  if (!options.known.empty())
    for (const RunResult& result : read_results(options.known))
      if (const auto file = options.results / file_name(result.settings); !std::filesystem::exists(file))
        write_atomically(file, to_json_line(result) + "\n");
  std::vector<RunSettings> usable = combinations(plan);
  for (const RunSettings& settings : exploration(plan, usable)) check(settings, "the sweep");
  const Dataset data = load_dataset(plan.data);
  std::erase_if(usable, [&](const RunSettings& settings) { return !admits_its_method(settings, data); });
  const std::vector<RunSettings> explored = exploration(plan, usable);
  if (!run_missing("explore", explored, data, options)) return false;
  if (plan.best_seeds == 0 && plan.neighbour_seeds == 0) return true;
  std::vector<RunResult> results;
  for (const RunSettings& settings : explored) results.push_back(read_result(settings, options.results));
  return run_missing("refine", refinement(plan, usable, results), data, options);
}

}  // namespace hindsight::lab
