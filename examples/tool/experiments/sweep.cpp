#include "tool/sweep.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "progress_bar.hpp"
#include "tool/atomic_file.hpp"
#include "tool/console.hpp"
#include "tool/folder_lock.hpp"
#include "tool/interrupt.hpp"
#include "tool/methods.hpp"
#include "tool/plain_text.hpp"
#include "tool/statistics.hpp"
#include "tool/stopwatch.hpp"
#include "tool/training.hpp"
#include "tool/workers.hpp"

namespace hindsight::tool {
namespace {

Network network_of(const RunSettings& settings, const Dataset& data) {
  return make_network({.hidden = std::vector(static_cast<std::size_t>(settings.depth), settings.units),
                       .topology = settings.topology,
                       .method = settings.method,
                       .values = settings.values},
                      data.train.features(), data.train.classes);
}

TrainingOptions options_of(const RunSettings& settings) {
  return {.rate = std::ldexp(1.0, settings.rate_exponent),
          .optimizer = settings.optimizer,
          .batch = settings.batch,
          .seed = static_cast<std::uint64_t>(settings.seed),
          .test_passes = 4};
}

/// The same refusal, with what it is about.
[[noreturn]] void refuse_again(const Error& problem, const std::string& place, const std::string& about) {
  Report report = problem.report();
  if (report.diagnostics.empty()) throw Error(problem);
  Diagnostic& said = report.diagnostics.front();
  said.place = place;
  said.message = fmt::format("{}: {}", about, said.message);
  throw Error(std::move(report));
}

std::string described(const RunSettings& settings) {
  return fmt::format("{} on {}", settings.method, NetworkKey{settings.depth, settings.topology}.label());
}

/// Whatever else is wrong with a network is refused now, not hours later: it is made just as a run will make
/// it.
bool admits_its_method(const RunSettings& settings, const Dataset& data, const PlanSource& source) {
  try {
    const Network network = network_of(settings, data);
    const Training training(network, data, options_of(settings));
    return true;
  } catch (const Error& problem) {
    if (!is_inadmissible_method(problem))
      refuse_again(problem, source.place(settings.topology.empty() ? "depths" : "topologies"),
                   described(settings));
    fmt::print(stderr, "left out on {}: {}\n", NetworkKey{settings.depth, settings.topology}.label(),
               problem.report().diagnostics.front().message);
    return false;
  }
}

Dataset data_of(const SweepPlan& plan) {
  try {
    return load_dataset(plan.data);
  } catch (const Error& problem) {
    refuse_again(problem, plan.source.place("data"), "'data'");
  }
}

/// One whole run; none if it was interrupted.
std::optional<RunResult> execute(const RunSettings& settings, const Dataset& data,
                                 const std::function<void(int epochs)>& progress) {
  const Stopwatch watch;
  const Network network = network_of(settings, data);
  Training training(network, data, options_of(settings));
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
    if (!is_divergence(problem)) refuse_again(problem, "", described(settings));
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

/// What took hours must not go because a disk is full or a folder was removed.
void keep(const RunResult& result, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / file_name(result.settings);
  const std::string line = to_json_line(result);
  try {
    write_atomically(file, line + "\n");
  } catch (const Error&) {
    fmt::print(
        stderr,
        "\n{} cannot be written. Its run is finished, and this is the result; put the line into a file "
        "kept.jsonl and go on with --known kept.jsonl:\n{}\n",
        file.string(), line);
    throw;
  }
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
    print_remark("{}: {} of {} runs are there already\n", label, runs.size() - missing.size(), runs.size());
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
    keep(*result, options.results);
    const std::lock_guard lock(mutex);
    ++done;
  });
  return !was_interrupted();
}

}  // namespace

bool run_sweep(const SweepPlan& plan, const SweepOptions& options) {
  check(plan);
  const Dataset data = data_of(plan);
  std::vector<RunSettings> usable = combinations(plan);
  std::erase_if(usable,
                [&](const RunSettings& settings) { return !admits_its_method(settings, data, plan.source); });
  if (usable.empty())
    refuse({.code = "sweep-plan",
            .message = "nothing is left to run: no network admits its methods",
            .help = {"methods = [\"hnca\", \"reinforce\"]   # on any network with hidden units"},
            .place = plan.source.place("methods")});
  const std::vector<RunResult> known =
      options.known.empty() ? std::vector<RunResult>() : read_results(options.known);
  make_folder(options.results);
  const FolderLock lock(options.results);
  for (const RunResult& result : known)
    if (const auto file = options.results / file_name(result.settings); !std::filesystem::exists(file))
      write_atomically(file, to_json_line(result) + "\n");
  const std::vector<RunSettings> explored = exploration(plan, usable);
  if (!run_missing("explore", explored, data, options)) return false;
  if (plan.best_seeds == 0 && plan.neighbour_seeds == 0) return true;
  std::vector<RunResult> results;
  for (const RunSettings& settings : explored) results.push_back(read_result(settings, options.results));
  return run_missing("refine", refinement(plan, usable, results), data, options);
}

}  // namespace hindsight::tool
