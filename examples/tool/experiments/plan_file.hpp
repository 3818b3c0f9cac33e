#pragma once

#include <filesystem>

#include "tool/sweep_plan.hpp"

namespace hindsight::tool {

/// Reads a plan and checks it. The file is of the simplest TOML: a line for each key, with a text in quotes,
/// a whole number, or a list of either, which may take several lines; comments begin with '#'. What is wrong
/// is refused with file and line (code "sweep-plan").
SweepPlan read_plan(const std::filesystem::path& file);

}  // namespace hindsight::tool
