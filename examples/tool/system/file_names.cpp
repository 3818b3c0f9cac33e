#include "tool/file_names.hpp"

#include <climits>
#include <system_error>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>

namespace hindsight::tool {
namespace {

namespace fs = std::filesystem;

bool are_one_file(const fs::path& one, const fs::path& other) {
  std::error_code unknown;
  if (fs::equivalent(one, other, unknown)) return true;
  // Neither has to be there yet.
  const fs::path first = fs::weakly_canonical(fs::absolute(one, unknown), unknown);
  return !unknown && first == fs::weakly_canonical(fs::absolute(other, unknown), unknown) && !unknown;
}

[[noreturn]] void refuse_file(const fs::path& file, const std::string& why) {
  refuse({.code = "file-is-read",
          .message = fmt::format("'{}' would be overwritten: {}", file.string(), why),
          .help = {"give what is written another name"}});
}

}  // namespace

std::string problem_of_name(std::string_view path) {
  if (path.empty()) return "expected the name of a file or folder, found nothing";
  if (path.size() >= PATH_MAX)
    return fmt::format("expected a path of at most {} bytes, found {}", PATH_MAX - 1, path.size());
  for (std::size_t first = 0; first < path.size();) {
    const std::size_t end = std::min(path.find('/', first), path.size());
    if (end - first > NAME_MAX)
      return fmt::format("expected names of at most {} bytes between slashes, found one of {}", NAME_MAX,
                         end - first);
    first = end + 1;
  }
  return {};
}

void keep_files_apart(const std::vector<fs::path>& read, const std::vector<fs::path>& written) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i].empty()) continue;
    for (const fs::path& source : read)
      if (!source.empty() && are_one_file(written[i], source))
        refuse_file(written[i], fmt::format("it is '{}', which the command reads", source.string()));
    for (std::size_t k = 0; k < i; ++k)
      if (!written[k].empty() && are_one_file(written[i], written[k]))
        refuse_file(written[i], "the command writes something else there, too");
  }
}

bool is_there(const fs::path& path) {
  std::error_code problem;
  const bool found = fs::exists(path, problem);
  if (!found && problem)
    refuse({.code = "file-not-read",
            .message =
                fmt::format("'{}' cannot be looked at: {}", shortened(path.string(), 200), problem.message()),
            .help = {"give another name, or the right to look into its folder"}});
  return found;
}

}  // namespace hindsight::tool
