#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hindsight/core/report.hpp>

namespace hindsight::tool {

// What comes from outside can hold characters that command a terminal or turn the direction of writing: on
// the screen it is `printable`.

/// Printable text that XML may hold, and not longer than about `shown` bytes, whatever it was.
std::string one_line(std::string_view text, std::size_t shown = 100);

/// Lines of ours with names in them.
std::string printable_lines(std::string_view text);
/// JSON, which means the same afterwards.
std::string printable_json(std::string_view text);

}  // namespace hindsight::tool
