#include "tool/memory.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <hindsight/core/report.hpp>

namespace hindsight::tool {
namespace {

double most_memory() {
  const double machine =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  rlimit limit{};
  const bool is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? std::min(machine, static_cast<double>(limit.rlim_cur)) : machine;
}

}  // namespace

void require_memory(double bytes, const std::string& what, const std::string& help) {
  if (bytes <= most_memory()) return;
  refuse({.code = "too-large",
          .message = fmt::format("{} would take {:.3g} GB; this process may take {:.3g} GB", what,
                                 bytes / 1e9, most_memory() / 1e9),
          .help = {help}});
}

void refuse_lack_of_memory() {
  refuse({.code = "too-large",
          .message = "the command needs more memory than it can get, and was given up",
          .help = {"ulimit -v unlimited   # lifts a limit on memory, if there is one",
                   "give it a smaller graph, fewer units or a smaller batch"}});
}

}  // namespace hindsight::tool
