#pragma once

#include <cstddef>
#include <string>

namespace hindsight::lab {

/// Printable, valid UTF-8 that XML may hold, and not longer than about `shown` bytes, whatever it was.
std::string one_line(const std::string& text, std::size_t shown = 100);

}  // namespace hindsight::lab
