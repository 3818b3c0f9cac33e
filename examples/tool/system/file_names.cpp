#include "tool/file_names.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include <hindsight/core/report.hpp>

namespace hindsight::tool {
namespace {

namespace fs = std::filesystem;

/// Files by whatever names they have.
class Files {
 public:
  /// The name under which it was added; none: it was not.
  const fs::path* find(const fs::path& name) const {
    if (const auto number = number_of(name))
      if (const auto known = by_number_.find(*number); known != by_number_.end()) return &known->second;
    if (const auto place = place_of(name))
      if (const auto known = by_place_.find(*place); known != by_place_.end()) return &known->second;
    return nullptr;
  }
  void add(const fs::path& name) {
    if (const auto number = number_of(name)) by_number_.emplace(*number, name);
    if (const auto place = place_of(name)) by_place_.emplace(*place, name);
  }

 private:
  using Number = std::pair<dev_t, ino_t>;

  static std::optional<Number> number_of(const fs::path& name) {
    struct stat about {};
    if (::stat(name.c_str(), &about) != 0) return std::nullopt;
    return Number(about.st_dev, about.st_ino);
  }
  /// It does not have to be there yet.
  static std::optional<fs::path> place_of(const fs::path& name) {
    std::error_code unknown;
    fs::path place = fs::weakly_canonical(fs::absolute(name, unknown), unknown);
    return unknown ? std::nullopt : std::optional(std::move(place));
  }

  std::map<Number, fs::path> by_number_;
  std::map<fs::path, fs::path> by_place_;
};

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
  Files sources, results;
  for (const fs::path& file : read)
    if (!file.empty()) sources.add(file);
  for (const fs::path& file : written) {
    if (file.empty()) continue;
    if (const fs::path* const source = sources.find(file))
      refuse_file(file, fmt::format("it is '{}', which the command reads", source->string()));
    if (results.find(file)) refuse_file(file, "the command writes something else there, too");
    results.add(file);
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
