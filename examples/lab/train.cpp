#include "lab/train.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "lab/atomic_file.hpp"
#include "lab/figures.hpp"
#include "lab/interrupt.hpp"
#include "progress_bar.hpp"

namespace hindsight::lab {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The shortest text that reads back as the same number.
std::string metrics_line(int epoch, const EpochMetrics& metrics) {
  return fmt::format(
      "{{\"epoch\":{},\"train_reward\":{},\"test_accuracy_sampled\":{},\"test_accuracy_mean\":{},"
      "\"samples_per_s\":{:.0f}}}\n",
      epoch, metrics.train_reward, metrics.test_accuracy_sampled, metrics.test_accuracy_mean,
      metrics.samples_per_s);
}

bool is_divergence(const Error& problem) {
  constexpr std::array<std::string_view, 4> codes{"parameter-not-finite", "log-probs-not-finite",
                                                  "weights-not-finite", "value-not-a-number"};
  const auto& said = problem.report().diagnostics;
  return !said.empty() && std::find(codes.begin(), codes.end(), said.front().code) != codes.end();
}

/// The files of one run and when they were written.
class RunFolder {
 public:
  RunFolder(std::filesystem::path folder, double checkpoint_seconds)
      : folder_(std::move(folder)), checkpoint_seconds_(checkpoint_seconds) {}

  void make() const {
    std::error_code problem;
    std::filesystem::create_directories(folder_, problem);
    if (problem)
      refuse({.code = "file-not-written",
              .message = fmt::format("the folder {} cannot be made: {}", folder_.string(), problem.message()),
              .help = {"--out a folder that can be written"}});
  }

  std::filesystem::path checkpoint() const { return folder_ / "checkpoint.safetensors"; }
  std::filesystem::path picture() const { return folder_ / "learning_curve"; }

  void keep(const RunDescription& run, const Training& training) {
    write_checkpoint(checkpoint(), run, training);
    kept_ = Clock::now();
  }
  bool is_time_to_keep() const { return seconds_since(kept_) >= checkpoint_seconds_; }

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
  double checkpoint_seconds_;
  Clock::time_point kept_ = Clock::now();
};

/// Times that every test image is classified when all is done.
constexpr int final_passes = 16;

void say_result(const RunFolder& folder, Training& training, const std::string& title) {
  const TestAccuracy accuracy = training.test(final_passes);
  const std::span<const EpochMetrics> metrics = training.metrics();
  fmt::print("\n  test accuracy   {:.2f} %  of classes drawn by the network, {} times each\n",
             100 * accuracy.sampled, final_passes);
  fmt::print("                  {:.2f} %  of the likeliest class, its probability averaged over them\n",
             100 * accuracy.mean);
  LearningCurve curve{.title = title};
  for (const EpochMetrics& epoch : metrics) {
    curve.train_reward.push_back(epoch.train_reward);
    curve.test_accuracy_sampled.push_back(epoch.test_accuracy_sampled);
    curve.test_accuracy_mean.push_back(epoch.test_accuracy_mean);
  }
  try {
    draw_learning_curve(curve, folder.picture());
    fmt::print("  learning curve  {}.svg and .png\n", folder.picture().string());
  } catch (const Error& problem) {
    fmt::print("  no picture: {}\n", problem.report().diagnostics.front().message);
  }
}

/// Batches until the epoch is complete. False: interrupted.
bool run_epoch(Training& training, const RunDescription& run, RunFolder& folder, ProgressBar& bar) {
  const Clock::time_point began = Clock::now();
  const std::uint64_t before = training.samples_of_epoch();
  const auto rate = [&] {
    return static_cast<double>(training.samples_of_epoch() - before) / std::max(seconds_since(began), 1e-9);
  };
  while (!training.epoch_is_complete()) {
    if (was_interrupted()) return false;
    training.step();
    bar.advance([&] {
      return fmt::format("epoch {}  reward {:.3f}  {:.0f}k samples/s", training.completed_epochs() + 1,
                         training.mean_reward(), rate() / 1000);
    });
    if (folder.is_time_to_keep()) folder.keep(run, training);
  }
  training.finish_epoch(rate());
  return true;
}

}  // namespace

TrainEnd train(TrainCommand command) {
  RunFolder folder(command.out, command.checkpoint_seconds);
  std::optional<Checkpoint> checkpoint;
  if (command.resume) {
    checkpoint.emplace(folder.checkpoint());
    const int threads = command.run.training.threads;
    command.run = checkpoint->run();
    command.run.training.threads = threads;
  } else if (std::filesystem::exists(folder.checkpoint())) {
    refuse({.code = "run-exists",
            .message = fmt::format("{} holds a run already", command.out.string()),
            .help = {"--resume   # to go on with it", "--out other   # to start anew and keep it"}});
  }
  if (!command.resume) folder.make();
  const Dataset data = load_dataset(command.run.data);
  if (checkpoint && checkpoint->run().data_checksum != checksum(data))
    refuse({.code = "checkpoint-mismatch",
            .message = fmt::format("the images of '{}' are not those that the run in {} learned from",
                                   command.run.data, command.out.string()),
            .help = {"bring the same data back, or start a new run: --out other"}});
  command.run.data_checksum = checksum(data);
  const Network network = layered_network(command.run.network, data.train.features(), data.train.classes);
  Training training(network, data, command.run.training);
  if (checkpoint) checkpoint->restore(training);
  folder.write_metrics(training.metrics());
  folder.keep(command.run, training);

  const std::int64_t batches = training.batches_per_epoch();
  ProgressBar bar(command.run.network.method, command.epochs * batches,
                  training.completed_epochs() * batches + training.state().data.batch);
  try {
    while (training.completed_epochs() < command.epochs) {
      if (!run_epoch(training, command.run, folder, bar)) {
        folder.keep(command.run, training);
        fmt::print(
            "\n\ninterrupted; nothing is lost. To go on:\n  hindsight train --resume --out {} --epochs {}\n",
            command.out.string(), command.epochs);
        return TrainEnd::interrupted;
      }
      folder.append_metrics(training.completed_epochs(), training.metrics().back());
      if (folder.is_time_to_keep()) folder.keep(command.run, training);
    }
  } catch (const Error& problem) {
    if (!is_divergence(problem)) throw;
    fmt::print(stderr, "\n{}\n", problem.what());
    return TrainEnd::diverged;
  }
  folder.keep(command.run, training);
  say_result(folder, training, fmt::format("{} on {}", command.run.network.method, command.run.data));
  return TrainEnd::finished;
}

}  // namespace hindsight::lab
