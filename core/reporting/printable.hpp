#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hindsight::internal {

/// The character that a text begins with, or a byte that is part of none.
struct Character {
  std::size_t bytes = 1;
  char32_t code = 0;    ///< of a byte that is part of no character: the byte
  bool is_utf8 = true;  ///< false: it is such a byte

  /// Terminals show it. They obey the others: control characters, and marks that turn the direction of text.
  bool is_shown() const;
};

/// Of a text that is not empty.
Character first_character(std::string_view text);

/// "\u202e"; "\xff" for a byte that is part of no character.
std::string escaped(const Character&);
/// The text with `escaped` in place of what is not shown; where quotation marks will stand around it, they
/// and backslashes get a backslash.
enum class Quotes { none, double_quotes };
std::string with_escapes(std::string_view text, Quotes quotes);

}  // namespace hindsight::internal
