#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hindsight/graph/microscope.hpp>

namespace hindsight::internal {

/// Independent random streams of one comparison.
enum class Stream : std::uint32_t { contenders = 0, reference = 1, warm_up = 2 };

/// Some rows of the inputs, drawn with equal chances. Refers to the inputs.
class DrawnRows {
 public:
  DrawnRows(std::span<const InputValues<float>> inputs, int batch, std::uint64_t seed);

  /// What they take.
  static double bytes(std::span<const InputValues<float>> inputs, int batch);

  void draw(Stream stream, std::uint32_t number);
  std::span<const int> rows() const { return rows_; }
  std::span<const InputValues<float>> inputs() const { return drawn_; }

 private:
  std::span<const InputValues<float>> all_;
  std::uint64_t seed_;
  std::vector<int> rows_;
  std::vector<std::vector<float>> values_;  ///< per input
  std::vector<InputValues<float>> drawn_;
};

/// Takes gradients of one model, none of which teaches it anything.
class GradientSampler {
 public:
  /// Refers to the reward functions.
  GradientSampler(Model model, std::span<const RewardFunction> rewards, int batch);
  /// What one takes.
  static double bytes(const Model& model, int batch);

  /// Lets the baselines learn what they will remember from then on.
  void warm_up(DrawnRows& rows, int batches);
  /// One gradient; the same stream and number draw the same outcomes in any model of the same seed.
  std::span<const float> sample(const DrawnRows& rows, Stream stream, std::uint32_t number);
  /// Forward and backward of the last gradient.
  double seconds() const { return seconds_; }

  const Model& model() const { return model_; }
  const Workspace& run() const { return run_; }
  std::span<const double> baselines() const { return baselines_; }

 private:
  void ask_rewards(std::span<const int> rows);

  Model model_;
  std::span<const RewardFunction> functions_;
  std::vector<std::string> subjects_;  ///< how a failing reward function is called
  Workspace run_;
  std::vector<std::vector<float>> values_;  ///< per function
  std::vector<double> baselines_;
  double seconds_ = 0;
};

/// How far hindsight is from knowing what a node's outcomes were.
class Doubt {
 public:
  /// Of all stochastic nodes.
  explicit Doubt(const Model& model);

  void add(const Workspace& run);
  /// Mean of 1 - π(sampled outcome).
  double prior(NodeId node) const;
  /// Mean of 1 - P(sampled outcome | what the estimators know), over the rewards that hindsight credits the
  /// node by. None: there are none.
  std::optional<double> posterior(NodeId node) const;

 private:
  struct Entry {
    NodeId node;
    int outcome_count = 0;
    std::vector<RewardId> rewards;
    double prior = 0, posterior = 0;
  };
  const Entry* find(NodeId node) const;

  std::vector<Entry> entries_;  ///< by node
  int batches_ = 0;
};

}  // namespace hindsight::internal
