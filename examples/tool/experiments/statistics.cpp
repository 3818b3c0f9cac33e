#include "tool/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hindsight/core/report.hpp>

#include "tool/methods.hpp"

namespace hindsight::tool {
namespace {

/// The chance that |t| stays below √ν·tan θ, by the finite sums for whole ν (Abramowitz and
/// Stegun, 26.7.3-4).
double central_probability(double angle, int degrees_of_freedom) {
  const double cosine = std::cos(angle);
  const bool odd = degrees_of_freedom % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = 0;
  for (int i = odd ? 1 : 0; i < degrees_of_freedom - 1; i += 2) {
    sum += term;
    term *= cosine * cosine * (i + 1) / (i + 2);
  }
  const double scaled = std::sin(angle) * sum;
  return odd ? (angle + scaled) * 2 / std::numbers::pi : scaled;
}

void require_same(const RunSettings& first, const RunSettings& other) {
  const auto require = [&](const char* name, const auto& left, const auto& right) {
    if (left != right)
      refuse({.code = "results-mixed",
              .message = fmt::format("results of {} with {} differ in {}: '{}' and '{}'", first.method,
                                     NetworkKey{first.depth, first.topology}.label(), name, left, right),
              .help = {
                  fmt::format("keep the results of one choice of {}, and show the other by itself", name)}});
  };
  require("method", first.method, other.method);
  require("depth", first.depth, other.depth);
  require("topology", first.topology, other.topology);
  require("data", first.data, other.data);
  require("values", first.values, other.values);
  require("optimizer", first.optimizer, other.optimizer);
  require("units", first.units, other.units);
  require("batch", first.batch, other.batch);
}

/// The longest runs, once it is sure that they belong to one experiment.
std::vector<RunResult> runs_of_one_experiment(std::span<const RunResult> results) {
  for (const RunResult& result : results) require_same(results.front().settings, result.settings);
  return longest_runs(results);
}

int last_epoch(std::span<const RunResult> results) {
  int last = 0;
  for (const RunResult& result : results) last = std::max(last, result.settings.epochs);
  return last;
}

const std::vector<double>& measured(const RunResult& result, Measure measure) {
  switch (measure) {
    case Measure::train_reward:
      return result.train_reward;
    case Measure::test_accuracy_mean:
      return result.test_accuracy_mean;
    case Measure::test_accuracy_sampled:
      break;
  }
  return result.test_accuracy_sampled;
}

/// The methods of the paper, whether or not they occur, then those that are not among them.
std::vector<Method> methods_of(std::span<const RunResult> results) {
  std::vector<Method> methods = known_methods();
  std::set<std::string> others;
  for (const RunResult& result : results) others.insert(result.settings.method);
  for (const Method& known : methods) others.erase(known.name);
  for (const std::string& name : others) methods.push_back({name, name});
  return methods;
}

std::vector<RunResult> runs_at_rate(std::span<const RunResult> results, int exponent) {
  std::vector<RunResult> runs;
  for (const RunResult& result : results)
    if (result.settings.rate_exponent == exponent) runs.push_back(result);
  return runs;
}

/// Those whose rate was tried with the most seeds, of all that were asked for that epoch: a rate that one
/// lucky seed explored does not compete with one that was taken further.
std::vector<RunResult> runs_with_most_seeds(std::span<const RunResult> results, int epoch) {
  std::map<int, int> seeds;
  int most = 0;
  for (const RateScore& score : rate_scores(results, epoch))
    most = std::max(most, seeds[score.exponent] = score.summary.count);
  std::vector<RunResult> runs;
  for (const RunResult& result : results)
    if (seeds[result.settings.rate_exponent] == most) runs.push_back(result);
  return runs;
}

}  // namespace

double student_t(int degrees_of_freedom) {
  if (degrees_of_freedom < 1)
    refuse({.code = "statistics",
            .message =
                fmt::format("Student's t needs at least 1 degree of freedom, found {}", degrees_of_freedom),
            .help = {"give at least two values"}});
  double low = 0;
  double high = std::numbers::pi / 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (central_probability(middle, degrees_of_freedom) < 0.95 ? low : high) = middle;
  }
  return std::sqrt(degrees_of_freedom) * std::tan(low);
}

Summary summarise(std::span<const double> values) {
  Summary summary{.count = static_cast<int>(values.size())};
  if (values.empty()) return summary;
  for (const double value : values) summary.mean += value / summary.count;
  if (values.size() == 1) return summary;
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.standard_error = std::sqrt(squares / (summary.count - 1) / summary.count);
  summary.half_width = student_t(summary.count - 1) * summary.standard_error;
  return summary;
}

std::vector<RunResult> longest_runs(std::span<const RunResult> results) {
  std::map<RunSettings, const RunResult*> longest;
  for (const RunResult& result : results) {
    RunSettings key = result.settings;
    key.epochs = 0;
    const auto [at, is_new] = longest.emplace(std::move(key), &result);
    if (!is_new && result.settings.epochs > at->second->settings.epochs) at->second = &result;
  }
  std::vector<RunResult> runs;
  runs.reserve(longest.size());
  for (const auto& [key, run] : longest) runs.push_back(*run);
  return runs;
}

std::optional<double> accuracy_at(const RunResult& result, int epoch) {
  if (epoch < 1 || epoch > result.settings.epochs) return std::nullopt;
  const std::vector<double>& accuracies = result.test_accuracy_sampled;
  // A list that is too short belongs to a run that diverged.
  return static_cast<std::size_t>(epoch) <= accuracies.size() ? accuracies[epoch - 1] : 0;
}

std::vector<RateScore> rate_scores(std::span<const RunResult> results, int epoch) {
  std::map<int, RateScore> scores;
  for (const RunResult& run : runs_of_one_experiment(results))
    if (const std::optional<double> accuracy = accuracy_at(run, epoch))
      scores[run.settings.rate_exponent].accuracies.push_back(*accuracy);
  std::vector<RateScore> list;
  for (auto& [exponent, score] : scores) {
    score.exponent = exponent;
    score.summary = summarise(score.accuracies);
    list.push_back(std::move(score));
  }
  return list;
}

std::optional<BestRate> best_rate(std::span<const RunResult> results, int epoch) {
  // Less than any digit of an accuracy, more than what rounding does to a sum of them.
  constexpr double rounding = 1e-9;
  const std::vector<RateScore> scores = rate_scores(results, epoch);
  if (scores.empty()) return std::nullopt;
  Summary best = scores.front().summary;
  for (const RateScore& score : scores)
    if (score.summary.mean >= best.mean - rounding) best = score.summary;
  const auto chosen = std::find_if(scores.rbegin(), scores.rend(), [&](const RateScore& score) {
    return score.summary.mean >= best.mean - best.standard_error - rounding;
  });
  return BestRate{chosen->exponent, chosen->summary.mean, chosen->summary.standard_error,
                  chosen->summary.count};
}

std::vector<Summary> mean_curve(std::span<const RunResult> results, Measure measure) {
  std::vector<RunResult> runs = runs_of_one_experiment(results);
  if (runs.empty()) return {};
  for (const RunResult& run : runs)
    if (run.settings.rate_exponent != runs.front().settings.rate_exponent)
      refuse(
          {.code = "results-mixed",
           .message = fmt::format("a curve over seeds needs runs of one learning rate, found 2^{} and 2^{}",
                                  runs.front().settings.rate_exponent, run.settings.rate_exponent),
           .help = {"keep the runs of one rate, for example that of best_rate(results, epoch)"}});
  const int epochs = last_epoch(runs);
  std::erase_if(runs, [&](const RunResult& run) { return run.settings.epochs < epochs; });
  std::vector<Summary> curve;
  std::vector<double> values(runs.size());
  for (std::size_t epoch = 0; epoch < static_cast<std::size_t>(epochs); ++epoch) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::vector<double>& by_epoch = measured(runs[i], measure);
      values[i] = epoch < by_epoch.size() ? by_epoch[epoch] : 0;
    }
    curve.push_back(summarise(values));
  }
  return curve;
}

std::optional<int> epochs_to(std::span<const RunResult> results, double reward) {
  const std::vector<Summary> curve = mean_curve(results, Measure::train_reward);
  const auto reached =
      std::find_if(curve.begin(), curve.end(), [&](const Summary& epoch) { return epoch.mean >= reward; });
  if (reached == curve.end()) return std::nullopt;
  return static_cast<int>(reached - curve.begin()) + 1;
}

Experiment evaluate(std::span<const RunResult> results) {
  const std::vector<RunResult> runs = longest_runs(results);
  if (runs.empty()) return {};
  const RunSettings& any = runs.front().settings;
  Experiment experiment{
      .common_epoch = any.epochs, .lowest_rate = any.rate_exponent, .highest_rate = any.rate_exponent};
  const std::vector<Method> methods = methods_of(runs);
  std::map<std::pair<NetworkKey, std::size_t>, std::vector<RunResult>> groups;
  for (const RunResult& run : runs) {
    const auto method = std::find_if(methods.begin(), methods.end(),
                                     [&](const Method& one) { return one.name == run.settings.method; });
    groups[{NetworkKey{run.settings.depth, run.settings.topology},
            static_cast<std::size_t>(method - methods.begin())}]
        .push_back(run);
    experiment.common_epoch = std::min(experiment.common_epoch, run.settings.epochs);
    experiment.lowest_rate = std::min(experiment.lowest_rate, run.settings.rate_exponent);
    experiment.highest_rate = std::max(experiment.highest_rate, run.settings.rate_exponent);
  }
  for (const auto& [key, group] : groups) {
    const auto& [network, method] = key;
    MethodOutcome outcome{.method = method, .label = methods[method].label};
    outcome.scores = rate_scores(group, experiment.common_epoch);
    const int last = last_epoch(group);
    outcome.best = best_rate(runs_with_most_seeds(group, last), last).value_or(BestRate{});
    const std::vector<RunResult> best_runs = runs_at_rate(group, outcome.best.exponent);
    outcome.curve = mean_curve(best_runs, Measure::test_accuracy_sampled);
    outcome.reward = mean_curve(best_runs, Measure::train_reward).back();
    outcome.epochs_to_90 = epochs_to(best_runs, 0.9);
    experiment.labels.emplace(method, outcome.label);
    experiment.epochs = std::max(experiment.epochs, outcome.curve.size());
    experiment.lowest_end = std::min(experiment.lowest_end, outcome.curve.back().mean);
    experiment.by_network[network].push_back(std::move(outcome));
  }
  return experiment;
}

std::string NetworkKey::label() const {
  return topology.empty() ? fmt::format("{} hidden layer{}", depth, depth == 1 ? "" : "s") : topology;
}

std::vector<std::string> panel_labels(std::span<const NetworkKey> networks) {
  struct Parts {
    std::string name;
    std::vector<std::string> options;
  };
  std::vector<Parts> all;
  std::map<std::string, int> called;                             // networks, by name
  std::map<std::pair<std::string, std::string>, int> called_so;  // by name and one of the options
  for (const NetworkKey& network : networks) {
    const std::string label = network.label();
    Parts& parts = all.emplace_back();
    std::size_t end = std::min(label.find(':'), label.size());
    parts.name = label.substr(0, end);
    while (end < label.size()) {  // at the colon, later at a comma
      const std::size_t begin = end + 1;
      end = std::min(label.find(',', begin), label.size());
      parts.options.push_back(label.substr(begin, end - begin));
    }
    ++called[parts.name];
    for (const std::string& option : parts.options) ++called_so[{parts.name, option}];
  }
  std::vector<std::string> labels;
  for (Parts& parts : all) {
    std::erase_if(parts.options, [&](const std::string& option) {
      return called_so[{parts.name, option}] == called[parts.name];
    });
    labels.push_back(
        fmt::format("{}{}{}", parts.name, parts.options.empty() ? "" : ":", fmt::join(parts.options, ",")));
  }
  return labels;
}

namespace {

/// A single value has no interval.
std::string percent(const Summary& summary) {
  std::string text = fmt::format("{:.2f}", 100 * summary.mean);
  if (summary.count > 1) text += fmt::format(" ± {:.2f}", 100 * summary.half_width);
  return text;
}

}  // namespace

std::string results_table(std::span<const RunResult> results) {
  const Experiment experiment = evaluate(results);
  const bool layers = std::all_of(experiment.by_network.begin(), experiment.by_network.end(),
                                  [](const auto& entry) { return entry.first.topology.empty(); });
  std::string table = fmt::format(
      "| {} | method | best rate | seeds | epochs | final accuracy (%) | epochs to 90 % reward |\n"
      "|{}|:---|---:|---:|---:|---:|---:|\n",
      layers ? "hidden layers" : "network", layers ? "---:" : ":---");
  for (const auto& [network, methods] : experiment.by_network)
    for (const MethodOutcome& outcome : methods) {
      const Summary& last = outcome.curve.back();
      table += fmt::format("| {} | {} | 2^{} | {} | {} | {} | {} |\n",
                           layers ? std::to_string(network.depth) : network.label(), outcome.label,
                           outcome.best.exponent, last.count, outcome.curve.size(), percent(last),
                           outcome.epochs_to_90 ? std::to_string(*outcome.epochs_to_90) : "not reached");
    }
  return table;
}

std::string rewards_table(std::span<const RunResult> results) {
  const Experiment experiment = evaluate(results);
  std::string table = "| reward (%) |", line = "|:---|";
  for (const auto& [method, label] : experiment.labels) {
    table += fmt::format(" {} |", label);
    line += "---:|";
  }
  table += "\n" + line + "\n";
  for (const auto& [network, outcomes] : experiment.by_network) {
    table += fmt::format("| {} |", network.label());
    auto outcome = outcomes.begin();
    for (const auto& [method, label] : experiment.labels) {
      const bool has_runs = outcome != outcomes.end() && outcome->method == method;
      table += fmt::format(" {} |", has_runs ? percent((outcome++)->reward) : "–");
    }
    table += "\n";
  }
  return table;
}

}  // namespace hindsight::tool
