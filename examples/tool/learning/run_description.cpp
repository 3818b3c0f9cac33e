#include "tool/run_description.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hindsight::tool {
namespace {

using nlohmann::json;

/// Hands out the values of a description, each only if it is what an option could be.
class Values {
 public:
  Values(const std::string& text, const std::string& file) : file_(file), object_(parse(text)) {}

  bool has(const char* key) const { return object_.contains(key); }
  std::string text(const char* key) const {
    const json& value = at(key);
    require(value.is_string(), key, "a text", value);
    return value.get<std::string>();
  }
  std::vector<std::string> texts(const char* key) const {
    const json& value = at(key);
    require(value.is_array(), key, "a list of texts", value);
    for (const json& item : value) require(item.is_string(), key, "a list of texts", item);
    return value.get<std::vector<std::string>>();
  }
  template <class T>
  T number(const char* key, T least, T most) const {
    const json& value = at(key);
    require(is_within(value, least, most), key, fmt::format("a whole number from {} to {}", least, most),
            value);
    return value.get<T>();
  }
  std::vector<int> numbers(const char* key, int least, int most) const {
    const json& value = at(key);
    const std::string expected = fmt::format("a list of whole numbers from {} to {}", least, most);
    require(value.is_array(), key, expected, value);
    for (const json& item : value) require(is_within(item, least, most), key, expected, item);
    return value.get<std::vector<int>>();
  }
  double positive(const char* key) const {
    const json& value = at(key);
    require(value.is_number() && value.get<double>() > 0 && std::isfinite(value.get<double>()), key,
            "a number above 0", value);
    return value.get<double>();
  }
  /// At least 0, less than 1.
  double share(const char* key) const {
    const json& value = at(key);
    require(value.is_number() && value.get<double>() >= 0 && value.get<double>() < 1, key,
            "a number from 0 to 1, 1 excluded", value);
    return value.get<double>();
  }

 private:
  [[noreturn]] void refuse_value(const std::string& problem) const {
    refuse_checkpoint(file_, "its description of the run cannot be read: " + problem);
  }
  void require(bool right, const char* key, const std::string& expected, const json& found) const {
    if (right) return;
    const std::string text = found.dump(-1, ' ', true, json::error_handler_t::replace);
    refuse_value(fmt::format("'{}' must be {}, found {}", key, expected, shortened(text)));
  }
  template <class T>
  static bool is_within(const json& value, T least, T most) {
    if (value.is_number_unsigned()) {
      const auto number = value.get<std::uint64_t>();
      return number <= static_cast<std::uint64_t>(most) && (number >= static_cast<std::uint64_t>(least));
    }
    return false;
  }

  /// Of a key that is given twice, the library would silently keep the last.
  json parse(const std::string& text) const {
    std::set<std::string> keys;
    const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
      if (depth >= 2 &&
          (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start))
        refuse_value("expected numbers, texts and lists of them, found lists within lists");
      if (event == json::parse_event_t::key && !keys.insert(parsed.get<std::string>()).second)
        refuse_value(fmt::format("the key '{}' is given twice", shortened(parsed.get<std::string>())));
      return true;
    };
    try {
      json object = json::parse(text, watch);
      if (!object.is_object()) refuse_value("expected an object of JSON");
      return object;
    } catch (const json::exception& problem) {
      // What stands before the bracket is the library's own numbering.
      const std::string reason = problem.what();
      refuse_value(reason.substr(reason.find("] ") + 2));
    }
  }
  const json& at(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) refuse_value(fmt::format("the key '{}' is missing", key));
    return *found;
  }

  const std::string& file_;
  json object_;
};

}  // namespace

void refuse_checkpoint(const std::string& file, const std::string& problem) {
  refuse({.code = "checkpoint",
          .message = fmt::format("{}: {}", file, problem),
          .help = {"start a new run in another folder: --out other"}});
}

std::string to_json(const RunDescription& run, const Model& model) {
  json described{{"data", run.data},
                 {"data_checksum", run.data_checksum},
                 {"hidden", run.network.hidden},
                 {"graph", run.network.graph},
                 {"topology", run.network.topology},
                 {"method", run.network.method},
                 {"values", run.network.values},
                 {"estimators", run.network.estimators},
                 {"baseline", run.network.baseline},
                 {"rate", run.training.rate},
                 {"optimizer", run.training.optimizer},
                 {"batch", run.training.batch},
                 {"seed", run.training.seed},
                 {"test_passes", run.training.test_passes},
                 {"epochs", run.epochs},
                 {"replicas", model.replicas()},
                 {"instructions", name(model.instructions())}};
  if (run.training.optimizer == "momentum")
    described["momentum"] = run.training.momentum.value_or(usual_momentum);
  return described.dump();
}

ReadDescription parse_description(const std::string& text, const std::string& file) {
  const Values values(text, file);
  ReadDescription read;
  RunDescription& run = read.run;
  run.data = values.text("data");
  run.data_checksum =
      values.number<std::uint32_t>("data_checksum", 0, std::numeric_limits<std::uint32_t>::max());
  run.network.hidden = values.numbers("hidden", 1, most_hidden_units);
  // Runs from before there were such options have none of these keys.
  if (values.has("graph")) run.network.graph = values.text("graph");
  if (values.has("topology")) run.network.topology = values.text("topology");
  if (values.has("baseline")) run.network.baseline = values.text("baseline");
  if (values.has("replicas")) read.replicas = values.number("replicas", 1, std::numeric_limits<int>::max());
  run.network.method = values.text("method");
  run.network.values = values.text("values");
  run.network.estimators = values.texts("estimators");
  run.training.rate = values.positive("rate");
  run.training.optimizer = values.text("optimizer");
  if (run.training.optimizer == "momentum") run.training.momentum = values.share("momentum");
  run.training.batch = values.number("batch", 1, most_batch);
  run.training.seed = values.number<std::uint64_t>("seed", 0, std::numeric_limits<std::uint64_t>::max());
  run.training.test_passes = values.number("test_passes", 1, most_test_passes);
  run.epochs = values.number("epochs", 1, most_epochs);
  const std::string instructions = values.text("instructions");
  for (const InstructionSet set : available_instruction_sets())
    if (name(set) == instructions) run.training.instructions = set;
  if (!run.training.instructions)
    refuse_checkpoint(file,
                      fmt::format("the run used {} instructions, which this machine lacks; it could not go "
                                  "on bit by bit",
                                  shortened(instructions)));
  return read;
}

}  // namespace hindsight::tool
