#pragma once

#include <filesystem>

namespace hindsight::tool {

/// What a lock on the folder writes into.
std::filesystem::path lock_file(const std::filesystem::path& folder);

/// Keeps a folder to one process for as long as the object lives. However that process ends, the lock ends
/// with it: a file of its name that is left in the folder locks nothing. Programs that the process starts do
/// not inherit it.
///
/// Refused with "folder-in-use" while another process holds it. A folder in which nobody can write needs no
/// lock.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace hindsight::tool
