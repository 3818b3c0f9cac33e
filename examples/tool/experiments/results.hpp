#pragma once

#include <filesystem>
#include <vector>

#include "tool/result_line.hpp"

namespace hindsight::tool {

/// All results of a folder (every *.json in it, of one line each, by name), or of a .jsonl or .jsonl.gz file.
std::vector<RunResult> read_results(const std::filesystem::path&);

}  // namespace hindsight::tool
