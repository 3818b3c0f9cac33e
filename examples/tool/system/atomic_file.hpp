#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hindsight::tool {

/// Replaces the file's content in one step that survives a crash or a loss of power: whoever reads the file,
/// now or after a restart, finds all of the old content or all of the new.
///
/// A link is followed and stays; an old file's permissions are kept, unless the process's mask forbids them.
/// Refused with "file-not-written" when the new content cannot be stored. The old is then still in place, or
/// the new already is if only the folder could not be synchronised, and nothing is left beside it.
void write_atomically(const std::filesystem::path& file, std::string_view bytes);

/// Makes the folder, and those above it, if it is not there; removes from it what processes that were killed
/// while they wrote have left behind. Refused with "file-not-written".
void make_folder(const std::filesystem::path& folder);

inline constexpr std::size_t default_read_limit = std::size_t{1} << 30U;

/// The content of a regular file; anything else, such as a pipe, might never end.
/// Refused with "file-not-read" when it cannot be had or is longer than `limit` bytes.
std::string read_file(const std::filesystem::path& file, std::size_t limit = default_read_limit);

}  // namespace hindsight::tool
