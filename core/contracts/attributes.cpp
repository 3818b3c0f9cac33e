#include <hindsight/core/catalogue.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/core/numbers.hpp>
#include <hindsight/core/report.hpp>

namespace hindsight {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return internal::parse_number<Number>(text);
}

[[noreturn]] void refuse_value(std::string_view name, std::string_view value, const std::string& wanted,
                               const std::string& example) {
  refuse({.code = "bad-attribute",
          .message = fmt::format("{}=\"{}\" is not {}", name, shortened(value), wanted),
          .help = {example}});
}

}  // namespace

void Attributes::set(std::string_view name, std::string value) {
  const std::size_t at = rank(name);
  if (is_at(at, name)) {
    entries_[by_name_[at]].second = std::move(value);
    return;
  }
  by_name_.insert(by_name_.begin() + static_cast<std::ptrdiff_t>(at),
                  static_cast<std::uint32_t>(entries_.size()));
  entries_.emplace_back(name, std::move(value));
}

void Attributes::set(std::string_view name, std::int64_t value) { set(name, std::to_string(value)); }

void Attributes::set(std::string_view name, std::span<const double> values) { set(name, to_text(values)); }

const std::string* Attributes::find(std::string_view name) const {
  const std::size_t at = rank(name);
  return is_at(at, name) ? &entries_[by_name_[at]].second : nullptr;
}

std::size_t Attributes::rank(std::string_view name) const {
  const auto at = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [&](std::uint32_t entry, std::string_view wanted) { return entries_[entry].first < wanted; });
  return static_cast<std::size_t>(at - by_name_.begin());
}

bool Attributes::is_at(std::size_t rank, std::string_view name) const {
  return rank < by_name_.size() && entries_[by_name_[rank]].first == name;
}

/// Longer than any sensible one; looking for repeated options takes time that grows with their square.
constexpr std::size_t longest_expression = 4096;

Expression parse_expression(std::string_view text) {
  const auto refuse_text = [&] [[noreturn]] {
    refuse({.code = "bad-expression",
            .message = fmt::format("'{}' is not a name with options", shortened(text)),
            .help = {"name, or name(option=value,option=value)"}});
  };
  if (text.size() > longest_expression) refuse_text();
  const std::size_t bracket = text.find('(');
  Expression expression{std::string(trimmed(text.substr(0, bracket))), {}};
  if (expression.name.empty()) refuse_text();
  if (bracket == std::string_view::npos) return expression;
  std::string_view rest = trimmed(text.substr(bracket + 1));
  if (!rest.ends_with(')')) refuse_text();
  rest.remove_suffix(1);
  while (true) {
    const std::size_t comma = rest.find(','), equals = rest.substr(0, comma).find('=');
    if (equals == std::string_view::npos) refuse_text();
    const std::string_view name = trimmed(rest.substr(0, equals));
    if (name.empty() || expression.options.find(name)) refuse_text();
    expression.options.set(name, std::string(trimmed(rest.substr(0, comma).substr(equals + 1))));
    if (comma == std::string_view::npos) return expression;
    rest.remove_prefix(comma + 1);
  }
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string to_text(std::span<const double> values) { return fmt::format("{}", fmt::join(values, ",")); }

std::vector<double> to_numbers(std::string_view text, std::string_view name) {
  std::vector<double> numbers;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const auto number = parse<double>(rest.substr(0, comma));
    if (!number || !std::isfinite(*number))
      refuse_value(name, text, "a list of finite numbers", fmt::format("{}=\"-1,1\"", name));
    numbers.push_back(*number);
    if (comma == std::string_view::npos) return numbers;
    rest.remove_prefix(comma + 1);
  }
}

const std::string* AttributeReader::find(std::string_view name) {
  if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) asked_.emplace_back(name);
  const std::string* const own = attributes_.find(name);
  return own || !defaults_ ? own : defaults_->find(name);
}

std::string AttributeReader::text(std::string_view name, std::string_view otherwise) {
  const std::string* const found = find(name);
  return found ? *found : std::string(otherwise);
}

int AttributeReader::count(std::string_view name, int otherwise) {
  const std::string* const found = find(name);
  if (!found) return otherwise;
  const auto value = parse<int>(*found);
  if (!value || *value < 1)
    refuse_value(name, *found, fmt::format("a whole number from 1 to {}", std::numeric_limits<int>::max()),
                 fmt::format("{}={}", name, otherwise));
  return *value;
}

std::uint64_t AttributeReader::seed(std::string_view name, std::uint64_t otherwise) {
  const std::string* const found = find(name);
  if (!found) return otherwise;
  const auto value = parse<std::uint64_t>(*found);
  if (!value)
    refuse_value(name, *found, "a whole number from 0 to 2^64 - 1", fmt::format("{}={}", name, otherwise));
  return *value;
}

double AttributeReader::number(std::string_view name, double otherwise) {
  const std::string* const found = find(name);
  if (!found) return otherwise;
  const auto value = parse<double>(*found);
  if (!value || !std::isfinite(*value))
    refuse_value(name, *found, "a finite number", fmt::format("{}={}", name, otherwise));
  return *value;
}

std::size_t AttributeReader::choice(std::string_view name, std::initializer_list<std::string_view> words) {
  const std::string* const found = find(name);
  if (!found) return 0;
  const auto word = std::find(words.begin(), words.end(), *found);
  if (word == words.end())
    refuse_value(name, *found, fmt::format("one of {}", fmt::join(words, ", ")),
                 fmt::format("{}={}", name, *words.begin()));
  return static_cast<std::size_t>(word - words.begin());
}

std::vector<double> AttributeReader::numbers(std::string_view name) {
  const std::string* const found = find(name);
  return found ? to_numbers(*found, name) : std::vector<double>{};
}

void AttributeReader::refuse_others(const std::function<bool(std::string_view)>& ignored) const {
  for (const Attributes* const given : {&attributes_, defaults_}) {
    if (!given) continue;
    for (const auto& [name, value] : *given) {
      if (std::find(asked_.begin(), asked_.end(), name) != asked_.end() || ignored(name)) continue;
      refuse({.code = "unknown-attribute",
              .message =
                  fmt::format("nothing here is called '{}'{}", shortened(name), did_you_mean(name, asked_)),
              .help = {fmt::format("what is understood here: {}", fmt::join(asked_, ", "))}});
    }
  }
}

}  // namespace hindsight
