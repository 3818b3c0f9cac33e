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
#include "tool/file_names.hpp"
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

std::string network_label(const RunSettings& settings) {
  return NetworkKey{settings.depth, settings.topology}.label();
}

/// The same refusal, with the run that it is about.
[[noreturn]] void refuse_run(const Error& problem, const RunSettings& settings, const PlanSource& source) {
  refuse_again(problem, source, settings.topology.empty() ? "depths" : "topologies",
               fmt::format("{} on {}: ", settings.method, network_label(settings)));
}

/// Whatever else is wrong with a network is refused now, not hours later: it is made just as a run will make
/// it.
bool admits_its_method(const RunSettings& settings, const Dataset& data, const PlanSource& source) {
  try {
    const Network network = network_of(settings, data);
    const Training training(network, data, options_of(settings));
    return true;
  } catch (const Error& problem) {
    if (!is_inadmissible_method(problem)) refuse_run(problem, settings, source);
    print_remark("left out on {}: {}\n", printable(network_label(settings)),
                 printable(problem.report().diagnostics.front().message));
    return false;
  }
}

Dataset data_of(const SweepPlan& plan) {
  try {
    return load_dataset(plan.data);
  } catch (const Error& problem) {
    refuse_again(problem, plan.source, "data");
  }
}

/// One whole run; none if it was interrupted. Tells after every epoch but the last, which counts when the
/// result is kept.
std::optional<RunResult> execute(const RunSettings& settings, const Dataset& data, const PlanSource& source,
                                 const std::function<void()>& tell_progress) {
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
      if (training.completed_epochs() < settings.epochs) tell_progress();
    }
  } catch (const Error& problem) {
    if (!is_divergence(problem)) refuse_run(problem, settings, source);
    result.diverged = true;
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
void keep(const RunResult& result, const std::filesystem::path& folder, std::mutex& console) {
  const std::filesystem::path file = folder / file_name(result.settings);
  const std::string line = to_json_line(result);
  try {
    write_atomically(file, line + "\n");
  } catch (const Error&) {
    const std::lock_guard lock(console);
    print_remark(
        "\n{} cannot be written. Its run is finished, and this is the result; put the line into a file "
        "kept.jsonl and go on with --known kept.jsonl:\n{}\n",
        printable(file.string()), line);
    throw;
  }
}

std::vector<std::filesystem::path> files_of(const std::vector<RunSettings>& runs,
                                            const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const RunSettings& settings : runs) files.push_back(folder / file_name(settings));
  return files;
}

std::vector<std::filesystem::path> files_read(const SweepPlan& plan, const SweepOptions& options) {
  std::vector<std::filesystem::path> files = files_of_dataset(plan.data);
  files.insert(files.end(), {plan.source.file, options.known});
  return files;
}

std::int64_t epochs_of(const std::vector<RunSettings>& runs) {
  std::int64_t epochs = 0;
  for (const RunSettings& settings : runs) epochs += settings.epochs;
  return epochs;
}

/// One of the two parts of a sweep.
struct Phase {
  const char* name;
  std::vector<RunSettings> missing;  ///< that the folder lacks
};

Phase make_phase(const char* name, const std::vector<RunSettings>& runs,
                 const std::filesystem::path& folder) {
  Phase phase{name, {}};
  for (const RunSettings& settings : runs)
    if (!is_there(settings, folder)) phase.missing.push_back(settings);
  if (phase.missing.size() < runs.size())
    print_remark("{}: {} of {} runs are there already\n", name, runs.size() - phase.missing.size(),
                 runs.size());
  return phase;
}

/// False: interrupted.
bool run_all(const Phase& phase, const SweepPlan& plan, const Dataset& data, const SweepOptions& options,
             ProgressBar& bar) {
  std::mutex console;
  int done = 0;
  const auto advance = [&](int epochs) {
    bar.advance([&] { return fmt::format("{}: {} of {} runs", phase.name, done, phase.missing.size()); },
                epochs);
  };
  share_out(static_cast<int>(phase.missing.size()), worker_count(options.workers), [&](int item) {
    const RunSettings& settings = phase.missing[static_cast<std::size_t>(item)];
    int told = 0;
    const auto result = execute(settings, data, plan.source, [&] {
      const std::lock_guard lock(console);
      ++told;
      advance(1);
    });
    if (!result) return;
    keep(*result, options.results, console);
    const std::lock_guard lock(console);
    ++done;
    advance(settings.epochs - told);
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
            .message = "'methods': nothing is left to run, for no network admits one of them",
            .help = {"methods = [\"hnca\", \"reinforce\"]   # on any network with hidden units"},
            .place = plan.source.place("methods")});
  const std::vector<RunResult> known =
      options.known.empty() ? std::vector<RunResult>() : read_results(options.known);
  const std::vector<RunSettings> explored = exploration(plan, usable);
  std::vector<std::filesystem::path> written = files_of(explored, options.results);
  written.push_back(lock_file(options.results));
  keep_files_apart(files_read(plan, options), written);
  make_folder(options.results);
  const FolderLock lock(options.results);
  for (const RunResult& result : known)
    if (const auto file = options.results / file_name(result.settings); !std::filesystem::exists(file))
      write_atomically(file, to_json_line(result) + "\n");
  const Phase explore = make_phase("explore", explored, options.results);
  const std::int64_t epochs_to_refine = refinement_epochs(plan) * std::ssize(usable);
  ProgressBar bar("sweep", epochs_of(explore.missing) + epochs_to_refine);
  if (!run_all(explore, plan, data, options, bar)) return false;
  if (epochs_to_refine == 0) return true;
  std::vector<RunResult> results;
  for (const RunSettings& settings : explored) results.push_back(read_result(settings, options.results));
  const std::vector<RunSettings> refined = refinement(plan, usable, results);
  keep_files_apart(files_read(plan, options), files_of(refined, options.results));
  const Phase refine = make_phase("refine", refined, options.results);
  if (const std::int64_t saved = epochs_to_refine - epochs_of(refine.missing); saved > 0)
    bar.advance("refine", saved);
  return run_all(refine, plan, data, options, bar);
}

}  // namespace hindsight::tool
