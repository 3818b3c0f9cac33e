#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hindsight::tool {

/// A new, empty folder among the temporary files that is removed at the end.
class TemporaryFolder {
 public:
  /// Refused with "figure-write" if there can be none.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// How a program ended that is not ours.
struct ProgramEnd {
  bool started = true;
  bool succeeded = false;
  std::string reason;  ///< why it did not start or succeed, in one line
};

/// Runs `words`, the first of which is sought where the user's programs are, in a folder; no shell is
/// involved, so nothing in a word is special. What the program says of its troubles goes to a file in that
/// folder, and from there into the reason.
ProgramEnd run_in(const std::filesystem::path& folder, const std::vector<std::string>& words);

}  // namespace hindsight::tool
