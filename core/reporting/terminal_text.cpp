#include <hindsight/core/terminal_text.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace hindsight {

std::string shortened(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return std::string(text.substr(0, bytes)) + "…";
}

}  // namespace hindsight

namespace hindsight::internal {

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string left_aligned(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string TerminalText::paint(std::string_view code, std::string_view text) const {
  return colours_ == Colours::on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string TerminalText::severe(Severity severity, std::string_view text) const {
  switch (severity) {
    case Severity::error:
      return paint("1;31", text);
    case Severity::warning:
      return paint("1;33", text);
    case Severity::note:
      break;
  }
  return paint("1;36", text);
}

/// A long route is shown by its ends.
static Route ends_of(const Route& route) {
  constexpr std::ptrdiff_t shown = 5;
  if (route.size() <= 2 * shown + 2) return route;
  Route ends(route.begin(), route.begin() + shown);
  ends.push_back(fmt::format("({} more)", route.size() - 2 * shown));
  ends.insert(ends.end(), route.end() - shown, route.end());
  return ends;
}

std::string TerminalText::routes(const std::vector<Route>& all_routes) const {
  std::vector<Route> routes;
  for (const Route& route : all_routes) {
    routes.push_back(ends_of(route));
    for (std::string& name : routes.back()) name = printable(name);
  }
  const auto width = [](const Route& route) {
    std::size_t columns = 0;
    for (const std::string& name : route) columns += display_width(name) + 3;
    return columns;
  };
  std::size_t longest = 0;
  for (const Route& route : routes) longest = std::max(longest, width(route));
  std::string text;
  for (const Route& route : routes) {
    text += "    ";
    for (std::size_t i = 0; i < route.size(); ++i) {
      text += bold(route[i]);
      if (i + 1 == route.size()) break;
      text += ' ';
      if (i + 2 == route.size())
        for (std::size_t fill = width(route); fill < longest; ++fill) text += "─";
      text += "→ ";
    }
    text += '\n';
  }
  return text;
}

std::string TerminalText::diagnostic(const Diagnostic& diagnostic) const {
  std::string text = diagnostic.place.empty() ? "" : bold(printable(diagnostic.place)) + ": ";
  text += severe(diagnostic.severity,
                 fmt::format("{}[{}]", to_string(diagnostic.severity), printable(diagnostic.code)));
  text += diagnostic.node.empty() ? ": " : fmt::format(": node '{}': ", printable(diagnostic.node));
  text += printable(diagnostic.message);
  if (diagnostic.reason != Reason::none) text += faint(fmt::format(" ({})", to_string(diagnostic.reason)));
  text += '\n';
  text += routes(diagnostic.witness);
  for (const std::string& line : diagnostic.help)
    text += fmt::format("  {} {}\n", good("help:"), printable(line));
  text.pop_back();
  return text;
}

}  // namespace hindsight::internal
