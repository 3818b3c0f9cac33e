#pragma once

#include <stdlib.h>

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

namespace hindsight::testing {

/// A new, empty folder that is removed at the end.
class ScratchFolder {
 public:
  using Names = std::set<std::string>;

  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hindsight-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no folder for a test");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;  // also if the test took away the right to write
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  Names names() const {
    Names found;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      found.insert(entry.path().filename().string());
    return found;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace hindsight::testing
