#include "tool/folder_lock.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hindsight/core/report.hpp>

namespace hindsight::tool {
namespace {

[[noreturn]] void refuse_locking(const std::filesystem::path& folder, int error) {
  refuse({.code = "file-not-written",
          .message = fmt::format("the folder '{}' cannot be locked: {}", folder.string(),
                                 std::generic_category().message(error)),
          .help = {"--out a folder that can be written, on a disk of this machine"}});
}

/// None while the holder has not written it yet, if its disk had no room for it, or where it cannot be seen
/// from here.
pid_t holder(int descriptor) {
  std::array<char, 16> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  pid_t process = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, process);
  return process > 0 && (::kill(process, 0) == 0 || errno == EPERM) ? process : 0;
}

[[noreturn]] void refuse_in_use(const std::filesystem::path& folder, pid_t process) {
  Diagnostic said{.code = "folder-in-use",
                  .message = fmt::format("another run writes to '{}'", folder.string()),
                  .help = {"--out other   # a folder of its own for each run"}};
  if (process > 0) {
    said.message += fmt::format(": process {}", process);
    said.help.insert(said.help.begin(),
                     fmt::format("kill {}   # ends it and keeps what it has done", process));
  }
  refuse(std::move(said));
}

/// What was locked is still what the name stands for: the holder before us takes its file away.
bool is_file_of_that_name(int descriptor, const std::filesystem::path& file) {
  struct stat ours {};
  struct stat named {};
  return ::fstat(descriptor, &ours) == 0 && ::stat(file.c_str(), &named) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

}  // namespace

std::filesystem::path lock_file(const std::filesystem::path& folder) { return folder / ".hindsight.lock"; }

FolderLock::FolderLock(const std::filesystem::path& folder) : file_(lock_file(folder)) {
  constexpr int always = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  for (;;) {
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | always, 0666);
    if (descriptor_ < 0 && (errno == EACCES || errno == EROFS || errno == EPERM)) {
      // The file of another user's process can be asked without the right to change it.
      descriptor_ = ::open(file_.c_str(), O_RDONLY | always);
      if (descriptor_ < 0 && errno == ENOENT) return;
    }
    if (descriptor_ < 0) refuse_locking(folder, errno);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const pid_t process = holder(descriptor_);
      ::close(descriptor_);
      if (error == EWOULDBLOCK) refuse_in_use(folder, process);
      refuse_locking(folder, error);
    }
    if (is_file_of_that_name(descriptor_, file_)) break;
    ::close(descriptor_);
  }
  const std::string process = fmt::format("{}\n", ::getpid());
  // Without room for it the lock holds all the same; others are then told of no process.
  [[maybe_unused]] const bool emptied = ::ftruncate(descriptor_, 0) == 0;
  [[maybe_unused]] const auto written = ::pwrite(descriptor_, process.data(), process.size(), 0);
}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

}  // namespace hindsight::tool
