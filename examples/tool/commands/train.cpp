#include "tool/train.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "progress_bar.hpp"
#include "tool/atomic_file.hpp"
#include "tool/console.hpp"
#include "tool/figures.hpp"
#include "tool/file_names.hpp"
#include "tool/folder_lock.hpp"
#include "tool/interrupt.hpp"
#include "tool/plain_text.hpp"
#include "tool/stopwatch.hpp"

namespace hindsight::tool {
namespace {

/// The shortest text that reads back as the same number.
std::string metrics_line(int epoch, const EpochMetrics& metrics) {
  return fmt::format(
      "{{\"epoch\":{},\"train_reward\":{},\"test_accuracy_sampled\":{},\"test_accuracy_mean\":{},"
      "\"samples_per_s\":{:.0f}}}\n",
      epoch, metrics.train_reward, metrics.test_accuracy_sampled, metrics.test_accuracy_mean,
      metrics.samples_per_s);
}

/// The files of one run and when they were written.
class RunFolder {
 public:
  RunFolder(std::filesystem::path folder, double checkpoint_seconds)
      : folder_(std::move(folder)), checkpoint_seconds_(checkpoint_seconds) {}

  std::filesystem::path checkpoint() const { return folder_ / "checkpoint.safetensors"; }
  std::filesystem::path picture() const { return folder_ / "learning_curve"; }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all = figure_files(picture());
    all.insert(all.end(), {checkpoint(), metrics_file(), lock_file(folder_)});
    return all;
  }

  /// Keeps other runs out from here on. Until the folder is made, there is nothing to keep them out of.
  void lock() {
    if (!lock_ && std::filesystem::exists(folder_)) lock_.emplace(folder_);
  }
  void refuse_if_used() const {
    if (is_there(checkpoint()))
      refuse({.code = "run-exists",
              .message = fmt::format("{} holds a run already", folder_.string()),
              .help = {"--resume   # to go on with it", "--out other   # to start anew and keep it"}});
  }

  void keep(const RunDescription& run, const Training& training) {
    write_checkpoint(checkpoint(), run, training);
    since_kept_ = {};
  }
  bool is_time_to_keep() const { return since_kept_.seconds() >= checkpoint_seconds_; }

  void write_metrics(std::span<const EpochMetrics> metrics) const {
    std::string lines;
    for (std::size_t i = 0; i < metrics.size(); ++i)
      lines += metrics_line(static_cast<int>(i) + 1, metrics[i]);
    write_atomically(metrics_file(), lines);
  }

  void append_metrics(int epoch, const EpochMetrics& metrics) const {
    const std::string line = metrics_line(epoch, metrics);
    std::FILE* const file = std::fopen(metrics_file().c_str(), "ab");
    const bool written = file && std::fwrite(line.data(), 1, line.size(), file) == line.size();
    if (!file || std::fclose(file) != 0 || !written)
      refuse({.code = "file-not-written",
              .message =
                  fmt::format("{}: the metrics of epoch {} cannot be added", metrics_file().string(), epoch),
              .help = {"make room on the disk, then go on with --resume"}});
  }

 private:
  std::filesystem::path metrics_file() const { return folder_ / "metrics.jsonl"; }

  std::filesystem::path folder_;
  std::optional<FolderLock> lock_;
  double checkpoint_seconds_;
  Stopwatch since_kept_;
};

/// Times that every test image is classified when all is done.
constexpr int final_passes = 16;

void say_result(const RunFolder& folder, Training& training, const std::string& title) {
  const TestAccuracy accuracy = training.test(final_passes);
  const std::span<const EpochMetrics> metrics = training.metrics();
  print_result("\n  test accuracy   {:.2f} %  of classes drawn by the network, {} times each\n",
               100 * accuracy.sampled, final_passes);
  print_result("                  {:.2f} %  of the likeliest class, its probability averaged over them\n",
               100 * accuracy.mean);
  LearningCurve curve{.title = title};
  for (const EpochMetrics& epoch : metrics) {
    curve.train_reward.push_back(epoch.train_reward);
    curve.test_accuracy_sampled.push_back(epoch.test_accuracy_sampled);
    curve.test_accuracy_mean.push_back(epoch.test_accuracy_mean);
  }
  try {
    draw_learning_curve(curve, folder.picture());
    print_result("  learning curve  {}.svg and .png\n", printable(folder.picture().string()));
  } catch (const Error& problem) {
    print_remark("  no picture: {}\n", printable(problem.report().diagnostics.front().message));
  }
}

/// Batches until the epoch is complete. False: interrupted.
bool run_epoch(Training& training, const RunDescription& run, RunFolder& folder, ProgressBar& bar) {
  const Stopwatch watch;
  const std::uint64_t before = training.samples_of_epoch();
  const auto rate = [&] {
    return static_cast<double>(training.samples_of_epoch() - before) / std::max(watch.seconds(), 1e-9);
  };
  const auto advance = [&](int epoch, double reward) {
    bar.advance([&] {
      return fmt::format("epoch {}  reward {:.3f}  {:.0f}k samples/s", epoch, reward, rate() / 1000);
    });
  };
  while (!training.epoch_is_complete()) {
    if (was_interrupted()) return false;
    training.step();
    if (!training.epoch_is_complete()) advance(training.completed_epochs() + 1, training.mean_reward());
    if (folder.is_time_to_keep()) folder.keep(run, training);
  }
  // The last step of an epoch counts when the test images have been classified, too.
  training.finish_epoch(rate());
  advance(training.completed_epochs(), training.metrics().back().train_reward);
  return true;
}

}  // namespace

TrainEnd train(TrainCommand command) {
  RunFolder folder(command.out, command.checkpoint_seconds);
  const auto keep_apart = [&] {
    std::vector<std::filesystem::path> read = files_of_dataset(command.run.data);
    read.emplace_back(command.graph);
    keep_files_apart(read, folder.files());
  };
  keep_apart();
  folder.lock();
  std::optional<Checkpoint> checkpoint;
  if (command.resume) {
    checkpoint.emplace(folder.checkpoint());
    const int threads = command.run.training.threads;
    command.run = checkpoint->run();
    command.run.training.threads = threads;
    if (command.more_epochs) command.run.epochs = *command.more_epochs;
    keep_apart();
  } else {
    folder.refuse_if_used();
  }
  if (!command.graph.empty()) command.run.network.graph = to_dot(read_graph(command.graph));
  const Dataset data = load_dataset(command.run.data);
  if (checkpoint && checkpoint->run().data_checksum != checksum(data))
    refuse({.code = "checkpoint-mismatch",
            .message = fmt::format("the images of '{}' are not those that the run in {} learned from",
                                   command.run.data, command.out.string()),
            .help = {"bring the same data back, or start a new run: --out other"}});
  command.run.data_checksum = checksum(data);
  const Network network = make_network(command.run.network, data.train.features(), data.train.classes);
  Training training(network, data, command.run.training);
  if (checkpoint) checkpoint->restore(training);
  make_folder(command.out);
  folder.lock();
  if (!checkpoint) folder.refuse_if_used();  // another run may have been quicker
  folder.write_metrics(training.metrics());
  folder.keep(command.run, training);

  const std::int64_t batches = training.batches_per_epoch();
  ProgressBar bar(printable(command.run.network.method), command.run.epochs * batches,
                  training.completed_epochs() * batches + training.position().batch);
  try {
    while (training.completed_epochs() < command.run.epochs) {
      if (!run_epoch(training, command.run, folder, bar)) {
        folder.keep(command.run, training);
        print_remark("\n\ninterrupted; nothing is lost. To go on:\n  hindsight train --resume --out {}\n",
                     printable(command.out.string()));
        return TrainEnd::interrupted;
      }
      folder.append_metrics(training.completed_epochs(), training.metrics().back());
      if (folder.is_time_to_keep()) folder.keep(command.run, training);
    }
  } catch (const Error& problem) {
    if (!is_divergence(problem)) throw;
    print_remark("\n{}\n", printable_lines(problem.what()));
    return TrainEnd::diverged;
  }
  folder.keep(command.run, training);
  say_result(folder, training, fmt::format("{} on {}", command.run.network.method, command.run.data));
  return TrainEnd::finished;
}

}  // namespace hindsight::tool
