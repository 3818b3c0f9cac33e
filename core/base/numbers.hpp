#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace hindsight::internal {

/// The number that the whole text is. None: it is something else, or the type cannot hold it.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc() || stopped != end) return std::nullopt;
  return value;
}

}  // namespace hindsight::internal
