#include <hindsight/core/memory.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <hindsight/core/report.hpp>

namespace hindsight::internal {
namespace {

double physical_memory() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Of this process: `ulimit -v`.
double allowed_memory() {
  rlimit limit{};
  const bool is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? static_cast<double>(limit.rlim_cur) : std::numeric_limits<double>::infinity();
}

std::string readable(double bytes) {
  constexpr std::array units{"GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (bytes /= 1e9; bytes >= 1000 && unit + 1 < units.size(); bytes /= 1000) ++unit;
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace

void require_memory(double bytes, const std::string& what, const std::string& help) {
  const double machine = physical_memory(), process = allowed_memory();
  if (bytes <= std::min(machine, process)) return;
  refuse({.code = "too-large",
          .message = fmt::format("{} would take {}; this {} {}", what, readable(bytes),
                                 machine <= process ? "machine has" : "process may take",
                                 readable(std::min(machine, process))),
          .help = {help}});
}

}  // namespace hindsight::internal
