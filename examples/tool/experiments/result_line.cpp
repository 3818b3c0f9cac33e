#include "tool/result_line.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hindsight/core/report.hpp>
#include <nlohmann/json.hpp>

#include "tool/methods.hpp"

namespace hindsight::tool {
namespace {

using Json = nlohmann::ordered_json;

/// Only networks that are no layers have it.
constexpr const char* topology_key = "topology";

constexpr const char* checksum_key = "crc";
constexpr std::string_view checksum_begin = ",\"crc\":\"", checksum_end = "\"}";

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
  Bounds bounds;
};
constexpr std::array number_fields = {NumberField{"depth", &RunSettings::depth, depth_bounds},
                                      NumberField{"units", &RunSettings::units, units_bounds},
                                      NumberField{"batch", &RunSettings::batch, batch_bounds},
                                      NumberField{"rate_exponent", &RunSettings::rate_exponent, rate_bounds},
                                      NumberField{"seed", &RunSettings::seed, seed_bounds},
                                      NumberField{"epochs", &RunSettings::epochs, epoch_bounds}};

struct CurveField {
  const char* key;
  std::vector<double> RunResult::*member;
};
constexpr std::array curve_fields = {CurveField{"train_reward", &RunResult::train_reward},
                                     CurveField{"test_accuracy_sampled", &RunResult::test_accuracy_sampled},
                                     CurveField{"test_accuracy_mean", &RunResult::test_accuracy_mean}};

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

void check_encoding(const std::string& where, const char* key, const std::string& found) {
  if (!is_utf8(found)) refuse_format(where, fmt::format("'{}' must be UTF-8", key));
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

bool is_utf8(const std::string& text) {
  try {
    [[maybe_unused]] const std::string written = Json(text).dump();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

void refuse_format(const std::string& where, const std::string& what) {
  refuse({.code = "result-format",
          .message = fmt::format("{}: {}", where, what),
          .help = {"remove that result and run the experiment again; it is written anew"}});
}

void check(const RunSettings& settings, const std::string& where) {
  for (const auto& [key, member] : text_fields)
    if (const std::string& text = settings.*member; text.empty() || text.size() > longest_text)
      refuse_format(where,
                    fmt::format("'{}' must be 1 to {} bytes long, found {}", key, longest_text, text.size()));
  if (settings.topology.size() > longest_text)
    refuse_format(where, fmt::format("'topology' must be at most {} bytes long, found {}", longest_text,
                                     settings.topology.size()));
  for (const auto& [key, member] : text_fields) check_encoding(where, key, settings.*member);
  check_encoding(where, topology_key, settings.topology);
  check_method(where, settings.method);
  check_choice(where, "values", settings.values, {"-1,1", "0,1"});
  for (const auto& [key, member, bounds] : number_fields)
    if (const int number = settings.*member; !bounds.contain(number))
      refuse_format(where, fmt::format("'{}' must be from {} to {}, found {}", key, bounds.lowest,
                                       bounds.highest, number));
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

std::string checksum(std::string_view line) {
  return fmt::format(
      "{:08x}", crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(line.data()), line.size()));
}

/// Puts it where it is found without parsing: at the end of the object.
std::string with_checksum(const std::string& line) {
  return fmt::format("{}{}{}{}", line.substr(0, line.size() - 1), checksum_begin, checksum(line),
                     checksum_end);
}

/// The line that the checksum is of; all of it if it has none, as those written before there were checksums.
std::string without_checksum(std::string_view line, const std::string& where) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  constexpr std::size_t digits = 8, size = checksum_begin.size() + digits + checksum_end.size();
  if (line.size() < size || !line.ends_with(checksum_end) ||
      line.substr(line.size() - size, checksum_begin.size()) != checksum_begin)
    return std::string(line);
  const std::string rest = fmt::format("{}}}", line.substr(0, line.size() - size));
  const std::string_view written = line.substr(line.size() - digits - checksum_end.size(), digits);
  if (const std::string actual = checksum(rest); written != actual)
    refuse_format(where,
                  fmt::format("the line is damaged: its \"crc\" is {}, but that of what it says is \"{}\"",
                              shortened(std::string(written)), actual));
  return rest;
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
    if (parsed == checksum_key)
      refuse_format(where,
                    fmt::format("the key {} must be the last, with 8 hexadecimal digits", parsed.dump()));
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
    if (const auto size = value.get<double>(); size < field.bounds.lowest || size > field.bounds.highest)
      refuse_value(field.key, fmt::format("from {} to {}", field.bounds.lowest, field.bounds.highest), value);
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
  return with_checksum(printable_json(object.dump()));
}

RunResult parse_result(std::string_view line, const std::string& where) {
  Members members(without_checksum(line, where), where);
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

}  // namespace hindsight::tool
