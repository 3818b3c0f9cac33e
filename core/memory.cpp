#include <hindsight/core/memory.hpp>

#include <array>
#include <cstddef>

#include <fmt/format.h>
#include <unistd.h>

#include <hindsight/core/report.hpp>

namespace hindsight {
namespace {

double physical_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string readable(double bytes) {
  constexpr std::array units{"GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (bytes /= 1e9; bytes >= 1000 && unit + 1 < units.size(); bytes /= 1000) ++unit;
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace

void require_memory(double bytes, const std::string& what, const std::string& help) {
  if (bytes <= physical_memory()) return;
  refuse({.code = "too-large",
          .message = fmt::format("{} would take {}; this machine has {}", what, readable(bytes),
                                 readable(physical_memory())),
          .help = {help}});
}

}  // namespace hindsight
