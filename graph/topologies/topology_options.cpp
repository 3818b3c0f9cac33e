#include <hindsight/graph/topology_options.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/core/nearest_name.hpp>
#include <hindsight/core/numbers.hpp>
#include <hindsight/core/report.hpp>

namespace hindsight {
namespace internal {
namespace {

/// One of each kind, all as by default.
template <std::size_t... I>
std::vector<TopologyOptions> defaults(std::index_sequence<I...>) {
  return {TopologyOptions(std::in_place_index<I>)...};
}

std::vector<TopologyOptions> all_topologies() {
  return defaults(std::make_index_sequence<std::variant_size_v<TopologyOptions>>());
}

std::string_view name_of(const TopologyOptions& options) {
  return std::visit([](const auto& chosen) { return topology_table(chosen).name; }, options);
}

/// "did you mean …" if one of the names is near enough, then all of them.
std::vector<std::string> suggestions(std::string_view word, const std::vector<std::string>& names) {
  std::vector<std::string> help;
  if (const std::string nearest = nearest_name(word, names); !nearest.empty())
    help.push_back(fmt::format("did you mean '{}'?", nearest));
  help.push_back(fmt::format("one of: {}", fmt::join(names, ", ")));
  return help;
}

template <class V, class T>
V T::*as(const TopologyField<T>& field) {
  const auto* member = std::get_if<V T::*>(&field.member);
  return member ? *member : nullptr;
}

template <class T>
bool is_flag(const TopologyField<T>& field) {
  return std::holds_alternative<bool T::*>(field.member);
}

template <class T>
std::string value_of(const TopologyField<T>& field, const T& options) {
  return std::visit([&](auto member) { return fmt::format("{}", options.*member); }, field.member);
}

template <class T>
std::string range_of(const TopologyField<T>& field) {
  if (is_flag(field)) return "true or false";
  if (std::holds_alternative<std::uint64_t T::*>(field.member))
    return fmt::format("whole number from 0 to {}", std::numeric_limits<std::uint64_t>::max());
  const bool whole = std::holds_alternative<int T::*>(field.member);
  return fmt::format("{} from {} to {}", whole ? "whole number" : "number", field.least, field.most);
}

template <class T>
[[noreturn]] void refuse_value(const TopologyField<T>& field, std::string_view value) {
  const std::string_view name = topology_table(T{}).name;
  refuse({.code = "topology-value",
          .message = fmt::format("option '{}' of topology '{}' is '{}'; it must be {}{}", field.name, name,
                                 value, is_flag(field) ? "" : "a ", range_of(field)),
          .help = {fmt::format("{}:{}={}   # the default", name, field.name, value_of(field, T{}))}});
}

template <class T>
bool is_in_range(const TopologyField<T>& field, const T& options) {
  const auto lies_within = [&](double value) { return value >= field.least && value <= field.most; };
  if (const auto member = as<int>(field)) return lies_within(options.*member);
  if (const auto member = as<double>(field)) return lies_within(options.*member);
  return true;
}

template <class V>
std::optional<V> parse(std::string_view text) {
  if constexpr (std::is_same_v<V, bool>) {
    if (text != "true" && text != "false") return std::nullopt;
    return text == "true";
  } else {
    return internal::parse_number<V>(text);
  }
}

/// Sets one option from "units=200" or, for a flag, "repair".
template <class T>
void set(T& options, std::string_view text, std::set<std::string_view>& given) {
  const TopologyTable<T>& table = topology_table(options);
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals);
  const auto field = std::find_if(table.fields.begin(), table.fields.end(),
                                  [&](const TopologyField<T>& candidate) { return candidate.name == name; });
  if (field == table.fields.end()) {
    std::vector<std::string> names;
    for (const TopologyField<T>& known : table.fields) names.emplace_back(known.name);
    refuse({.code = "topology-option",
            .message = fmt::format("topology '{}' has no option '{}'", table.name, name),
            .help = suggestions(name, names)});
  }
  const bool has_value = equals < text.size();
  if (!has_value && !is_flag(*field))
    refuse({.code = "topology-option",
            .message = fmt::format("option '{}' of topology '{}' has no value", name, table.name),
            .help = {fmt::format("{}:{}={}   # the default", table.name, name, value_of(*field, T{}))}});
  if (!given.insert(field->name).second)
    refuse({.code = "topology-option",
            .message = fmt::format("option '{}' of topology '{}' is given twice", name, table.name),
            .help = {"give each option once"}});
  const std::string_view value = has_value ? text.substr(equals + 1) : "true";
  std::visit(
      [&](auto member) {
        using Value = std::remove_reference_t<decltype(options.*member)>;
        const auto parsed = parse<Value>(value);
        if (!parsed) refuse_value(*field, value);
        options.*member = *parsed;
      },
      field->member);
  if (!is_in_range(*field, options)) refuse_value(*field, value);
}

template <class T>
TopologyDescription describe(const T& options) {
  const TopologyTable<T>& table = topology_table(options);
  TopologyDescription description{.name = std::string(table.name),
                                  .description = std::string(table.description),
                                  .violates = table.violates,
                                  .size = std::string(table.size_name),
                                  .options = {}};
  for (const TopologyField<T>& field : table.fields)
    description.options.push_back({.name = std::string(field.name),
                                   .default_value = value_of(field, options),
                                   .range = range_of(field),
                                   .meaning = std::string(field.meaning)});
  return description;
}

}  // namespace

void check_options(const TopologyOptions& options) {
  std::visit(
      [](const auto& chosen) {
        for (const auto& field : topology_table(chosen).fields)
          if (!is_in_range(field, chosen)) refuse_value(field, value_of(field, chosen));
      },
      options);
}

}  // namespace internal

TopologyOptions parse_topology(std::string_view specification) {
  using namespace internal;
  const std::size_t colon = std::min(specification.find(':'), specification.size());
  const std::string_view name = specification.substr(0, colon);
  std::vector<std::string> names;
  for (TopologyOptions& options : all_topologies()) {
    names.emplace_back(name_of(options));
    if (names.back() != name) continue;
    std::set<std::string_view> given;
    std::string_view rest = specification.substr(colon);
    while (!rest.empty()) {  // it starts with the colon, later with a comma
      rest.remove_prefix(1);
      const std::size_t end = std::min(rest.find(','), rest.size());
      std::visit([&](auto& chosen) { set(chosen, rest.substr(0, end), given); }, options);
      rest.remove_prefix(end);
    }
    return options;
  }
  refuse({.code = "topology-name",
          .message = fmt::format("there is no topology '{}'", name),
          .help = suggestions(name, names)});
}

std::string to_string(const TopologyOptions& options) {
  using namespace internal;
  return std::visit(
      [](const auto& chosen) {
        const auto& table = topology_table(chosen);
        std::vector<std::string> changed;
        for (const auto& field : table.fields)
          if (const std::string value = value_of(field, chosen); value != value_of(field, {}))
            changed.push_back(is_flag(field) && value == "true" ? std::string(field.name)
                                                                : fmt::format("{}={}", field.name, value));
        return fmt::format("{}{}{}", table.name, changed.empty() ? "" : ":", fmt::join(changed, ","));
      },
      options);
}

std::vector<TopologyDescription> topology_list() {
  using namespace internal;
  std::vector<TopologyDescription> list;
  for (const TopologyOptions& options : all_topologies())
    list.push_back(std::visit([](const auto& chosen) { return describe(chosen); }, options));
  return list;
}

}  // namespace hindsight
