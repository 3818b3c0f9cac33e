#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <hindsight/hindsight.hpp>

#include "tool/batches.hpp"
#include "tool/dataset.hpp"
#include "tool/network.hpp"

namespace hindsight::tool {

inline constexpr double usual_momentum = 0.9;

struct TrainingOptions {
  double rate = 0.0625;
  std::string optimizer = "sgd";        ///< or momentum, or adam
  std::optional<double> momentum = {};  ///< how much of its velocity momentum keeps; none: usual_momentum
  int batch = 16;
  std::uint64_t seed = 0;
  int threads = 1;
  int test_passes = 1;  ///< times that every test image is classified after an epoch
  std::optional<InstructionSet> instructions = {};
};

/// How many of the test images are classified rightly.
struct TestAccuracy {
  double sampled = 0;  ///< the class drawn by the network, over all passes
  double mean = 0;     ///< the likeliest class, its probability averaged over the passes
};

/// One reward per sample: 1 where the class that the network chose is right. Each label may have several
/// samples, side by side.
Eigen::VectorXf reward_right_classes(MatrixView<const Outcome> chosen,
                                     const Eigen::Ref<const Eigen::ArrayXi>& labels);

/// What one epoch came to.
struct EpochMetrics {
  double train_reward = 0;           ///< mean over the epoch's samples, as they were drawn
  double test_accuracy_sampled = 0;  ///< as TestAccuracy::sampled
  double test_accuracy_mean = 0;     ///< as TestAccuracy::mean
  double samples_per_s = 0;          ///< of training alone
};

/// Whether an error says that numbers have grown beyond all bounds, and not that something is wrong.
bool is_divergence(const Error& problem);

/// Everything that a run has come to be: what it takes to go on bit by bit as if it had never stopped.
struct TrainingState {
  std::vector<float> parameters;
  std::vector<double> baselines;  ///< what they remember
  Momentum::State momentum;
  Adam::State adam;
  StreamPosition stream;
  DataPosition data;
  double reward_sum = 0;  ///< of the epoch that is running
  std::vector<EpochMetrics> metrics;
};

/// One network learning one data set, batch by batch. Refers to both.
class Training {
 public:
  Training(const Network& network, const Dataset& data, const TrainingOptions& options);

  /// One batch. Throws Error if learning has diverged.
  void step();
  bool epoch_is_complete() const { return batches_.position().batch == batches_per_epoch(); }
  /// Closes the epoch: classifies the test images and remembers the metrics.
  void finish_epoch(double samples_per_s);

  /// Classifies the test images so many times each, with random numbers that training does not use.
  TestAccuracy test(int passes);

  std::uint32_t batches_per_epoch() const { return static_cast<std::uint32_t>(batches_.per_epoch()); }
  int completed_epochs() const { return static_cast<int>(metrics_.size()); }
  std::span<const EpochMetrics> metrics() const { return metrics_; }
  /// Of the epoch that is running.
  double mean_reward() const;
  std::uint64_t samples_of_epoch() const;
  DataPosition position() const { return batches_.position(); }
  const Model& model() const { return model_; }
  /// Of the numbers that its baselines remember.
  std::size_t baseline_count() const { return run_.baselines().size(); }

  TrainingState state() const;
  void restore(TrainingState state);

 private:
  const Network& network_;
  const Dataset& data_;
  int test_passes_;
  Model model_;
  Workspace run_, test_run_;
  std::variant<Sgd, Momentum, Adam> optimizer_;
  Batches batches_;
  Pixels test_pixels_;
  Eigen::ArrayXi test_labels_;
  double reward_sum_ = 0;
  std::vector<EpochMetrics> metrics_;
};

}  // namespace hindsight::tool
