#include <hindsight/graph/dot_id.hpp>

#include <algorithm>
#include <array>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/printable.hpp>

namespace hindsight::internal {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number(std::string_view text) {
  const auto are_digits = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), is_digit);
  };
  const std::size_t point = std::min(text.find('.'), text.size());
  return are_digits(text.substr(0, point)) && (point == text.size() || are_digits(text.substr(point + 1)));
}

bool is_word(std::string_view text) {
  constexpr std::array<std::string_view, 6> keywords{"node",    "edge",     "graph",
                                                     "digraph", "subgraph", "strict"};
  const auto is_bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
  };
  return !text.empty() && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), is_bare) &&
         std::find(keywords.begin(), keywords.end(), lower_case(text)) == keywords.end();
}

}  // namespace

std::string dot_id(std::string_view text) {
  if (is_number(text) || is_word(text)) return std::string(text);
  return '"' + with_escapes(text, Quotes::double_quotes) + '"';
}

}  // namespace hindsight::internal
