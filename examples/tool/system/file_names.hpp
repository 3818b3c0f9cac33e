#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::tool {

/// Why no file can be called so, whatever lies on the disk; empty if one can.
std::string problem_of_name(std::string_view path);

/// Before anything is written: refuses, with the code "file-is-read", to write over a file that the command
/// reads, and to write two things into one file, by whatever names: through links or with "./" before them.
/// Empty paths stand for files that are not asked for.
void keep_files_apart(const std::vector<std::filesystem::path>& read,
                      const std::vector<std::filesystem::path>& written);

/// Whether there is something by that name. Refused with "file-not-read" if that cannot be told.
bool is_there(const std::filesystem::path& path);

}  // namespace hindsight::tool
