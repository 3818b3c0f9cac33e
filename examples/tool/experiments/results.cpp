#include "tool/results.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <hindsight/core/report.hpp>

namespace hindsight::tool {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20;
constexpr std::size_t most_bytes = std::size_t{64} << 20;

[[noreturn]] void refuse_missing(const std::filesystem::path& path, const std::string& what) {
  refuse({.code = "results-missing",
          .message = fmt::format("'{}' {}", path.string(), what),
          .help = {"name the folder, or the .jsonl or .jsonl.gz file, that an experiment wrote"}});
}

/// Whoever was killed while writing lines leaves one without its end, and that is worth saying.
RunResult parse_last_line(std::string_view line, const std::string& where) {
  try {
    return parse_result(line, where);
  } catch (const Error& problem) {
    Diagnostic said = problem.report().diagnostics.front();
    said.message += "; the file ends within this line, as if its writer had been stopped";
    refuse(std::move(said));
  }
}

/// Adds the results of a file, plain or compressed, line by line; `bytes_left` counts down over all files.
void append_results(const std::filesystem::path& path, std::size_t& bytes_left,
                    std::vector<RunResult>& results) {
  std::error_code unreadable;
  // Anything else, a pipe above all, might keep us waiting for ever.
  if (!std::filesystem::is_regular_file(path, unreadable))
    refuse_missing(path, "is neither a folder nor a file that can be read");
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) refuse_missing(path, "cannot be opened: " + std::generic_category().message(errno));
  std::string line;
  std::size_t number = 1;
  const auto where = [&] { return fmt::format("{}:{}", path.string(), number); };
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const int count = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    int status = Z_OK;
    const char* const reason = gzerror(file.get(), &status);
    if (count < 0 || (status != Z_OK && status != Z_STREAM_END))
      refuse_format(where(), fmt::format("the file is damaged or cut short: {}", reason));
    if (count == 0) break;
    if (static_cast<std::size_t>(count) > bytes_left)
      refuse_format(where(), fmt::format("expected at most {} MiB of results", most_bytes >> 20));
    bytes_left -= static_cast<std::size_t>(count);
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(count))) {
      if (c == '\n') {
        results.push_back(parse_result(line, where()));
        line.clear();
        ++number;
      } else {
        if (line.size() == longest_line)
          refuse_format(where(), fmt::format("expected at most {} bytes in a line", longest_line));
        line += c;
      }
    }
  }
  if (!line.empty()) results.push_back(parse_last_line(line, where()));
}

std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code unreadable;
  std::filesystem::directory_iterator at(folder, unreadable);
  for (; !unreadable && at != std::filesystem::directory_iterator(); at.increment(unreadable))
    if (at->path().extension() == ".json") files.push_back(at->path());
  if (unreadable) refuse_missing(folder, "cannot be listed: " + unreadable.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<RunResult> read_results(const std::filesystem::path& path) {
  std::error_code unreadable;
  std::size_t bytes_left = most_bytes;
  std::vector<RunResult> results;
  if (!std::filesystem::exists(path, unreadable)) refuse_missing(path, "does not exist");
  if (std::filesystem::is_directory(path, unreadable)) {
    for (const std::filesystem::path& file : json_files(path)) {
      const std::size_t before = results.size();
      append_results(file, bytes_left, results);
      if (results.size() != before + 1)
        refuse_format(file.string(), fmt::format("expected one line, found {}", results.size() - before));
    }
    if (results.empty()) refuse_missing(path, "has no file that ends in .json");
    return results;
  }
  const std::string name = path.filename().string();
  if (!name.ends_with(".jsonl") && !name.ends_with(".jsonl.gz"))
    refuse_missing(path, "is neither a folder nor a file that ends in .jsonl or .jsonl.gz");
  append_results(path, bytes_left, results);
  if (results.empty()) refuse_missing(path, "has no line");
  return results;
}

}  // namespace hindsight::tool
