#include "lab/results.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hindsight/core/report.hpp>
#include <nlohmann/json.hpp>

#include "lab/methods.hpp"

namespace hindsight::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_epochs = 10'000;
constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr std::size_t most_bytes = std::size_t{64} << 20;

/// Only networks that are no layers have it.
constexpr const char* topology_key = "topology";

struct TextField {
  const char* key;
  std::string RunSettings::*member;
};
constexpr std::array text_fields = {
    TextField{"data", &RunSettings::data}, TextField{"method", &RunSettings::method},
    TextField{"values", &RunSettings::values}, TextField{"optimizer", &RunSettings::optimizer}};

struct NumberField {
  const char* key;
  int RunSettings::*member;
  int lowest, highest;
};
constexpr std::array number_fields = {
    NumberField{"depth", &RunSettings::depth, 1, 1000},
    NumberField{"units", &RunSettings::units, 1, 1'000'000},
    NumberField{"batch", &RunSettings::batch, 1, 1'000'000},
    NumberField{"rate_exponent", &RunSettings::rate_exponent, -100, 100},
    NumberField{"seed", &RunSettings::seed, 0, std::numeric_limits<int>::max()},
    NumberField{"epochs", &RunSettings::epochs, 1, most_epochs}};

struct CurveField {
  const char* key;
  std::vector<double> RunResult::*member;
};
constexpr std::array curve_fields = {CurveField{"train_reward", &RunResult::train_reward},
                                     CurveField{"test_accuracy_sampled", &RunResult::test_accuracy_sampled},
                                     CurveField{"test_accuracy_mean", &RunResult::test_accuracy_mean}};

[[noreturn]] void refuse_format(const std::string& where, const std::string& what) {
  refuse({.code = "result-format",
          .message = fmt::format("{}: {}", where, what),
          .help = {"remove that result and run the experiment again; it is written anew"}});
}

[[noreturn]] void refuse_missing(const std::filesystem::path& path, const std::string& what) {
  refuse({.code = "results-missing",
          .message = fmt::format("'{}' {}", path.string(), what),
          .help = {"name the folder, or the .jsonl or .jsonl.gz file, that an experiment wrote"}});
}

/// Found values are quoted in messages, but never by the page.
std::string shortened(const Json& value) {
  constexpr std::size_t shown = 120;
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= shown ? text : text.substr(0, shown) + "…";
}

void check_choice(const std::string& where, const char* key, const std::string& found,
                  const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), found) == choices.end())
    refuse_format(where, fmt::format("'{}' must be one of \"{}\", found {}", key,
                                     fmt::join(choices, "\", \""), shortened(found)));
}

/// By any other name it would count as another method.
void check_method(const std::string& where, const std::string& found) {
  std::string name;
  try {
    name = canonical_method(found);
  } catch (const Error&) {
    refuse_format(where, fmt::format("'method' must be one of \"{}\", or an estimator by its name, found {}",
                                     fmt::join(method_names(), "\", \""), shortened(found)));
  }
  if (name != found)
    refuse_format(where, fmt::format("'method' must be written as \"{}\", found {}", name, shortened(found)));
}

}  // namespace

void check(const RunSettings& settings, const std::string& where) {
  constexpr std::size_t longest_text = 200;
  for (const auto& [key, member] : text_fields)
    if (const std::string& text = settings.*member; text.empty() || text.size() > longest_text)
      refuse_format(where,
                    fmt::format("'{}' must be 1 to {} bytes long, found {}", key, longest_text, text.size()));
  if (settings.topology.size() > longest_text)
    refuse_format(where, fmt::format("'topology' must be at most {} bytes long, found {}", longest_text,
                                     settings.topology.size()));
  check_method(where, settings.method);
  check_choice(where, "values", settings.values, {"-1,1", "0,1"});
  for (const auto& [key, member, lowest, highest] : number_fields)
    if (const int number = settings.*member; number < lowest || number > highest)
      refuse_format(where, fmt::format("'{}' must be from {} to {}, found {}", key, lowest, highest, number));
}

namespace {

/// The rules that hold for a result however it came about.
void check(const RunResult& result, const std::string& where) {
  check(result.settings, where);
  const auto epochs = static_cast<std::size_t>(result.settings.epochs);
  for (const auto& [key, member] : curve_fields) {
    const std::vector<double>& curve = result.*member;
    if (result.diverged ? curve.size() >= epochs : curve.size() != epochs)
      refuse_format(where, fmt::format("'{}' must have {} {} numbers{}, found {}", key,
                                       result.diverged ? "fewer than" : "exactly", epochs,
                                       result.diverged ? " as the run diverged" : "", curve.size()));
    if (curve.size() != result.train_reward.size())
      refuse_format(where, fmt::format("'{}' has {} numbers, but 'train_reward' {}", key, curve.size(),
                                       result.train_reward.size()));
    for (const double value : curve)
      if (!(value >= 0 && value <= 1))
        refuse_format(where, fmt::format("'{}' must be from 0 to 1, found {}", key, value));
  }
  if (!(result.seconds >= 0 && result.seconds <= 1e9))
    refuse_format(where, fmt::format("'seconds' must be from 0 to 1e9, found {}", result.seconds));
}

double rounded(double value, double per_unit) { return std::round(value * per_unit) / per_unit; }

bool is_known(const std::string& key) {
  const auto has_key = [&](const auto& field) { return key == field.key; };
  return std::any_of(text_fields.begin(), text_fields.end(), has_key) ||
         std::any_of(number_fields.begin(), number_fields.end(), has_key) ||
         std::any_of(curve_fields.begin(), curve_fields.end(), has_key) || key == "diverged" ||
         key == "seconds" || key == topology_key;
}

/// Parsing with an eye on what the library lets pass: unknown keys, a key given twice, lists within lists.
Json parse_flat_object(std::string_view line, const std::string& where) {
  std::set<std::string> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth >= 2 &&
        (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start))
      refuse_format(where, "expected numbers, texts and lists of numbers, found lists within lists");
    if (event != Json::parse_event_t::key) return true;
    if (!is_known(parsed.get<std::string>()))
      refuse_format(where, fmt::format("unknown key {}", shortened(parsed)));
    if (!keys.insert(parsed.get<std::string>()).second)
      refuse_format(where, fmt::format("the key {} is given twice", shortened(parsed)));
    return true;
  };
  try {
    Json object = Json::parse(line.begin(), line.end(), watch);
    if (!object.is_object())
      refuse_format(where, fmt::format("expected an object of JSON, found {}", shortened(object)));
    return object;
  } catch (const Json::exception& problem) {
    // What stands before the bracket is the library's own numbering.
    const std::string_view reason = problem.what();
    refuse_format(
        where, fmt::format("expected one line of JSON: {}", shortened(reason.substr(reason.find("] ") + 2))));
  }
}

/// Hands out the members of an object, each once and only if it has the type expected.
class Members {
 public:
  Members(std::string_view line, const std::string& where)
      : object_(parse_flat_object(line, where)), where_(where) {}

  bool has(const char* key) const { return object_.contains(key); }
  Json take(const char* key, bool (Json::*has_type)() const noexcept, const char* expected) {
    const auto at = object_.find(key);
    if (at == object_.end()) refuse_format(where_, fmt::format("the key '{}' is missing", key));
    if (!(at.value().*has_type)()) refuse_value(key, expected, at.value());
    return std::move(at.value());
  }
  int take(const NumberField& field) {
    const Json value = take(field.key, &Json::is_number_integer, "a whole number");
    // As a double, a number beyond every integer type is still beyond the limit.
    if (const auto size = value.get<double>(); size < field.lowest || size > field.highest)
      refuse_value(field.key, fmt::format("from {} to {}", field.lowest, field.highest), value);
    return value.get<int>();
  }
  std::vector<double> take(const CurveField& field) {
    const Json values = take(field.key, &Json::is_array, "a list of numbers");
    for (const Json& value : values)
      if (!value.is_number()) refuse_value(field.key, "a list of numbers", value);
    return values.get<std::vector<double>>();
  }

 private:
  [[noreturn]] void refuse_value(const char* key, std::string_view expected, const Json& found) const {
    refuse_format(where_, fmt::format("'{}' must be {}, found {}", key, expected, shortened(found)));
  }

  Json object_;
  const std::string& where_;
};

/// Adds the results of a file, plain or compressed, line by line; `bytes_left` counts down over all files.
void read_file(const std::filesystem::path& path, std::size_t& bytes_left, std::vector<RunResult>& results) {
  std::error_code unreadable;
  // Anything else, a pipe above all, might keep us waiting for ever.
  if (!std::filesystem::is_regular_file(path, unreadable))
    refuse_missing(path, "is neither a folder nor a file that can be read");
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) refuse_missing(path, "cannot be opened: " + std::generic_category().message(errno));
  std::string line;
  std::size_t number = 1;
  const auto where = [&] { return fmt::format("{}:{}", path.string(), number); };
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const int count = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    int status = Z_OK;
    const char* const reason = gzerror(file.get(), &status);
    if (count < 0 || (status != Z_OK && status != Z_STREAM_END))
      refuse_format(where(), fmt::format("the file is damaged or cut short: {}", reason));
    if (count == 0) break;
    if (static_cast<std::size_t>(count) > bytes_left)
      refuse_format(where(), fmt::format("expected at most {} MiB of results", most_bytes >> 20));
    bytes_left -= static_cast<std::size_t>(count);
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(count))) {
      if (c == '\n') {
        results.push_back(parse_result(line, where()));
        line.clear();
        ++number;
      } else {
        if (line.size() == longest_line)
          refuse_format(where(), fmt::format("expected at most {} bytes in a line", longest_line));
        line += c;
      }
    }
  }
  if (!line.empty()) results.push_back(parse_result(line, where()));
}

std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code unreadable;
  std::filesystem::directory_iterator at(folder, unreadable);
  for (; !unreadable && at != std::filesystem::directory_iterator(); at.increment(unreadable))
    if (at->path().extension() == ".json") files.push_back(at->path());
  if (unreadable) refuse_missing(folder, "cannot be listed: " + unreadable.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string to_json_line(const RunResult& result) {
  const std::string where = "a result to be written";
  check(result, where);
  Json object;
  for (const auto& [key, member] : text_fields) object[key] = result.settings.*member;
  if (!result.settings.topology.empty()) object[topology_key] = result.settings.topology;
  for (const NumberField& field : number_fields) object[field.key] = result.settings.*field.member;
  object["diverged"] = result.diverged;
  object["seconds"] = rounded(result.seconds, 1e3);
  for (const auto& [key, member] : curve_fields) {
    Json& list = object[key] = Json::array();
    for (const double value : result.*member) list.push_back(rounded(value, 1e5));
  }
  try {
    return object.dump();
  } catch (const Json::exception&) {
    refuse_format(where, "'data' and 'optimizer' must be UTF-8");
  }
}

RunResult parse_result(std::string_view line, const std::string& where) {
  Members members(line, where);
  RunResult result;
  for (const auto& [key, member] : text_fields)
    result.settings.*member = members.take(key, &Json::is_string, "a text").get<std::string>();
  if (members.has(topology_key))
    result.settings.topology = members.take(topology_key, &Json::is_string, "a text").get<std::string>();
  for (const NumberField& field : number_fields) result.settings.*field.member = members.take(field);
  result.diverged = members.take("diverged", &Json::is_boolean, "true or false").get<bool>();
  result.seconds = members.take("seconds", &Json::is_number, "a number").get<double>();
  for (const CurveField& field : curve_fields) result.*field.member = members.take(field);
  check(result, where);
  return result;
}

std::vector<RunResult> read_results(const std::filesystem::path& path) {
  std::error_code unreadable;
  std::size_t bytes_left = most_bytes;
  std::vector<RunResult> results;
  if (!std::filesystem::exists(path, unreadable)) refuse_missing(path, "does not exist");
  if (std::filesystem::is_directory(path, unreadable)) {
    for (const std::filesystem::path& file : json_files(path)) {
      const std::size_t before = results.size();
      read_file(file, bytes_left, results);
      if (results.size() != before + 1)
        refuse_format(file.string(), fmt::format("expected one line, found {}", results.size() - before));
    }
    if (results.empty()) refuse_missing(path, "has no file that ends in .json");
    return results;
  }
  const std::string name = path.filename().string();
  if (!name.ends_with(".jsonl") && !name.ends_with(".jsonl.gz"))
    refuse_missing(path, "is neither a folder nor a file that ends in .jsonl or .jsonl.gz");
  read_file(path, bytes_left, results);
  if (results.empty()) refuse_missing(path, "has no line");
  return results;
}

}  // namespace hindsight::lab
