#pragma once

#include <filesystem>

#include "tool/sweep_plan.hpp"

namespace hindsight::tool {

struct SweepOptions {
  std::filesystem::path results;
  std::filesystem::path known =
      {};           ///< results that are there already, as read_results takes them; none: empty
  int workers = 0;  ///< runs at a time; 0: as many as there are cores
};

/// Runs what the folder does not hold yet, once the whole plan is found good; the folder is locked meanwhile.
/// A method that comes to nothing on a network is left out there, and a line on stderr says so. Returns false
/// if it was interrupted. What was finished is kept, however the sweep ends: a result that cannot be written
/// is said on stderr, as a line that `known` takes.
bool run_sweep(const SweepPlan& plan, const SweepOptions& options);

}  // namespace hindsight::tool
