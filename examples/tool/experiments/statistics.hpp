#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tool/results.hpp"

namespace hindsight::tool {

/// A sample in brief. One value has no spread to estimate: its errors are 0, as are those of no value at all.
struct Summary {
  int count = 0;
  double mean = 0;
  double standard_error = 0;
  double half_width = 0;  ///< of the 95 % interval by Student's t
};

Summary summarise(std::span<const double> values);

/// The 0.975 quantile of Student's t, for at least 1 degree of freedom; to double precision.
double student_t(int degrees_of_freedom);

/// One run for each choice of settings, epochs aside: the longest, since it repeats the shorter ones bit by
/// bit. Ordered by settings.
std::vector<RunResult> longest_runs(std::span<const RunResult>);

/// Test accuracy with drawn outcomes at an epoch, counted from 1; 0 once the run has diverged; none beyond
/// the epochs that the run was asked for.
std::optional<double> accuracy_at(const RunResult&, int epoch);

/// All that is known of one learning rate at some epoch.
struct RateScore {
  int exponent = 0;
  std::vector<double> accuracies = {};  ///< one per seed
  Summary summary = {};
};

/// By exponent, upwards. Runs that were not asked for that epoch are left out. The runs may differ in nothing
/// but rate, seed and epochs; code "results-mixed" otherwise, here and below.
std::vector<RateScore> rate_scores(std::span<const RunResult>, int epoch);

struct BestRate {
  int exponent = 0;
  double mean = 0;
  double standard_error = 0;
  int seeds = 0;
};

/// The paper's rule: the highest rate whose mean is no more than one standard error (that of the best mean)
/// below the best mean. Of rates that share the best mean the highest lends its standard error; that of a
/// single seed is 0. None if no run was asked for that epoch.
std::optional<BestRate> best_rate(std::span<const RunResult>, int epoch);

enum class Measure { train_reward, test_accuracy_sampled, test_accuracy_mean };

/// By epoch over the seeds of one rate. Only runs asked for the most epochs count, so that no step in the
/// curve comes from a change of seeds; a run that diverged counts as 0 from there on.
std::vector<Summary> mean_curve(std::span<const RunResult>, Measure);

/// The first epoch whose mean training reward over seeds reaches `reward`, counted from 1.
std::optional<int> epochs_to(std::span<const RunResult>, double reward);

/// What a figure and a table say of one method on one network. Curve and best rate are taken at the last
/// epoch that any of its runs was asked for, where the rates that were tried that long, and with the most
/// seeds, compete.
struct MethodOutcome {
  std::size_t method = 0;              ///< its place in `known_methods`, or after those
  std::string label = {};              ///< its name for people
  std::vector<RateScore> scores = {};  ///< at the epoch that the whole experiment has in common
  BestRate best = {};
  std::vector<Summary> curve = {};  ///< test accuracy with drawn outcomes, at the best rate
  Summary reward = {};              ///< in training, there, over the last epoch
  std::optional<int> epochs_to_90 = {};
};

/// Networks in the order of columns and rows: by hidden layers, or by topology.
struct NetworkKey {
  int depth = 1;
  std::string topology = {};

  /// "2 hidden layers", or the topology with its options.
  std::string label() const;
  auto operator<=>(const NetworkKey&) const = default;
};

/// Labels for panels side by side, in the order given: topologies without their options, but for those that
/// tell several of one name apart.
std::vector<std::string> panel_labels(std::span<const NetworkKey>);

/// All that a set of results says, and the ranges that panels share so that they can be compared.
struct Experiment {
  /// Methods in the order of `known_methods`, then all others by name.
  std::map<NetworkKey, std::vector<MethodOutcome>> by_network = {};
  std::map<std::size_t, std::string> labels = {};  ///< of the methods that occur, by their place there
  int common_epoch = 0;                            ///< the last that every run was asked for
  int lowest_rate = 0, highest_rate = 0;           ///< as exponents
  std::size_t epochs = 0;                          ///< of the longest curve
  double lowest_end = 1;                           ///< of all curves
};

Experiment evaluate(std::span<const RunResult>);

/// Those outcomes as a table in Markdown, every line ended.
std::string results_table(std::span<const RunResult>);

/// The rewards in training alone: a row for each network, a column for each method.
std::string rewards_table(std::span<const RunResult>);

}  // namespace hindsight::tool
