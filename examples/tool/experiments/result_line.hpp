#pragma once

#include <compare>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::tool {

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

/// What the numbers of settings may be, ends included.
struct Bounds {
  int lowest = 0, highest = 0;

  constexpr bool contain(int number) const { return number >= lowest && number <= highest; }
};
inline constexpr Bounds depth_bounds{1, 1000}, units_bounds{1, 1'000'000}, batch_bounds{1, 1'000'000},
    rate_bounds{-100, 100}, seed_bounds{0, std::numeric_limits<int>::max()}, epoch_bounds{1, 10'000};
/// And how many bytes a text may have.
inline constexpr std::size_t longest_text = 200;

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

bool is_utf8(const std::string& text);

/// Refuses what is no result (code "result-format"); `where` opens the message.
[[noreturn]] void refuse_format(const std::string& where, const std::string& what);

/// Refuses settings whose result could not be written; `where` opens the message.
void check(const RunSettings&, const std::string& where);

/// One line of JSON without its end. Rewards and accuracies are rounded to 5 digits, seconds to 3; what
/// `parse_result` would refuse is refused here, before it reaches a file. The last key, "crc", is the CRC-32
/// of the line without it.
std::string to_json_line(const RunResult&);

/// Reads what `to_json_line` writes, and what it wrote before lines had checksums, and nothing else. `where`
/// opens the messages: "file:line".
RunResult parse_result(std::string_view line, const std::string& where);

}  // namespace hindsight::tool
