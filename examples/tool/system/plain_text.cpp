#include "tool/plain_text.hpp"

namespace hindsight::tool {

std::string one_line(std::string_view text, std::size_t shown) {
  std::string line(text);
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  line = printable(line);
  // Characters of Unicode that XML forbids all the same.
  for (const char* forbidden : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (std::size_t at = 0; (at = line.find(forbidden, at)) != std::string::npos;) line.replace(at, 3, " ");
  return shortened(line, shown);
}

std::string printable_lines(std::string_view text) {
  std::string lines;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    lines += printable(text.substr(0, end)) + "\n";
  return lines + printable(text);
}

/// Its texts are valid UTF-8, and what is escaped stands in them.
std::string printable_json(std::string_view text) { return printable_lines(text); }

}  // namespace hindsight::tool
