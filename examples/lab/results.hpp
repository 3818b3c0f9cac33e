#pragma once

#include <compare>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::lab {

/// What one run was asked to do: runs of equal settings give the same numbers on one instruction set.
struct RunSettings {
  std::string data = {};
  std::string method = {};  ///< as canonical_method calls it
  std::string values = {};  ///< what children see of an outcome: "-1,1" or "0,1"
  std::string optimizer = {};
  std::string topology = {};  ///< as make_topology understands it; empty: hidden layers
  int depth = 1;              ///< hidden layers
  int units = 64;
  int batch = 16;
  int rate_exponent = 0;  ///< the learning rate is 2 to this power
  int seed = 0;
  int epochs = 1;

  auto operator<=>(const RunSettings&) const = default;
};

/// What one run gave, by epoch. The three lists have equal lengths: that of `settings.epochs`, or less if the
/// run diverged.
struct RunResult {
  RunSettings settings = {};
  bool diverged = false;
  std::vector<double> train_reward = {};
  std::vector<double> test_accuracy_sampled = {};  ///< outcomes drawn, as in training
  std::vector<double> test_accuracy_mean = {};     ///< the likeliest class, averaged over passes
  double seconds = 0;

  bool operator==(const RunResult&) const = default;
};

/// Refuses settings whose result could not be written; `where` opens the message.
void check(const RunSettings&, const std::string& where);

/// One line of JSON without its end. Rewards and accuracies are rounded to 5 digits, seconds to 3; what
/// `parse_result` would refuse is refused here, before it reaches a file.
std::string to_json_line(const RunResult&);

/// Reads what `to_json_line` writes and nothing else. `where` opens the messages: "file:line".
RunResult parse_result(std::string_view line, const std::string& where);

/// All results of a folder (every *.json in it, of one line each, by name), or of a .jsonl or .jsonl.gz file.
std::vector<RunResult> read_results(const std::filesystem::path&);

}  // namespace hindsight::lab
