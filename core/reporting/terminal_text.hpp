#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hindsight/core/report.hpp>

namespace hindsight::internal {

enum class Colours { off, on };

/// Writes diagnostics and table cells for a person at a terminal.
class TerminalText {
 public:
  explicit TerminalText(Colours colours) : colours_(colours) {}

  std::string diagnostic(const Diagnostic&) const;
  /// The routes one below the other, arrowheads aligned: a lone edge is drawn as long as the longest route.
  std::string routes(const std::vector<Route>&) const;

  std::string bold(std::string_view text) const { return paint("1", text); }
  std::string good(std::string_view text) const { return paint("32", text); }
  std::string faint(std::string_view text) const { return paint("2", text); }
  std::string severe(Severity severity, std::string_view text) const;

 private:
  std::string paint(std::string_view code, std::string_view text) const;
  Colours colours_;
};

/// Columns a text takes on the screen: code points, not bytes.
std::size_t display_width(std::string_view text);
/// The text, filled with blanks on the right to `width` columns.
std::string left_aligned(std::string_view text, std::size_t width);

}  // namespace hindsight::internal
