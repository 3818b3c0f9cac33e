#include <hindsight/core/printable.hpp>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>

namespace hindsight::internal {

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  const Character no_character{.bytes = 1, .code = first, .is_utf8 = false};
  if (first < 0x80) return {.bytes = 1, .code = first};
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : (first & 0xF0U) == 0xE0       ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0) return no_character;
  char32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return no_character;
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  if (too_long || is_surrogate || code > 0x10FFFF) return no_character;
  return {.bytes = length, .code = code};
}

bool Character::is_shown() const {
  if (!is_utf8) return false;
  const auto lies = [&](char32_t first, char32_t last) { return first <= code && code <= last; };
  const bool controls = code < 0x20 || lies(0x7F, 0x9F);
  const bool turns = code == 0x061C || lies(0x200E, 0x200F) || lies(0x202A, 0x202E) || lies(0x2066, 0x2069);
  const bool breaks_line = lies(0x2028, 0x2029);
  return !controls && !turns && !breaks_line;
}

std::string escaped(const Character& character) {
  return character.is_utf8 ? fmt::format("\\u{:04x}", static_cast<unsigned>(character.code))
                           : fmt::format("\\x{:02x}", static_cast<unsigned>(character.code));
}

std::string with_escapes(std::string_view text, Quotes quotes) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    const char first = text.front();
    if (!character.is_shown()) {
      safe += escaped(character);
    } else {
      if (quotes == Quotes::double_quotes && (first == '"' || first == '\\')) safe += '\\';
      safe += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return safe;
}

}  // namespace hindsight::internal

namespace hindsight {

std::string printable(std::string_view text) { return internal::with_escapes(text, internal::Quotes::none); }

}  // namespace hindsight
