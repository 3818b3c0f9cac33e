#include "tool/atomic_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hindsight/core/report.hpp>

namespace hindsight::tool {
namespace {

using std::filesystem::path;

/// Calls again for as long as a signal gets in the way.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Owns an open file.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  bool valid() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

std::string in_words(int error) { return std::generic_category().message(error); }

path folder_of(const path& file) { return file.has_parent_path() ? file.parent_path() : path("."); }

std::string help_after(int error, const path& folder) {
  switch (error) {
    case ENOENT:
      return fmt::format("mkdir -p '{}'", folder.string());
    case ENOSPC:
    case EDQUOT:
      return fmt::format("df -h '{}'   # shows the space that is left", folder.string());
    case EFBIG:
      return "ulimit -f unlimited   # lifts the limit on the size of a file, unless the file system has one";
    case EIO:
      return "dmesg | tail   # shows what the disk reports";
    default:
      return fmt::format("ls -ld '{}'   # shows who may write there", folder.string());
  }
}

[[noreturn]] void refuse_writing(const path& file, const std::string& found, const std::string& help) {
  refuse({.code = "file-not-written",
          .message = fmt::format("'{}' was not written: {}", file.c_str(), found),
          .help = {help}});
}

[[noreturn]] void refuse_target(const path& file, const char* found) {
  refuse_writing(file, fmt::format("expected the name of a regular file, found {}", found),
                 "give the name of a regular file, or one that is not in use");
}

[[noreturn]] void refuse_step(const path& file, const char* step, int error) {
  refuse_writing(file, fmt::format("{}: {}", step, in_words(error)), help_after(error, folder_of(file)));
}

[[noreturn]] void refuse_reading(const path& file, const std::string& found, const std::string& help) {
  refuse({.code = "file-not-read",
          .message = fmt::format("'{}' was not read: {}", file.c_str(), found),
          .help = {help}});
}

/// A new file that disappears again unless it has taken the place of another.
class TemporaryFile {
 public:
  TemporaryFile(int folder, mode_t mode) : folder_(folder), file_(create(mode)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (file_.valid() && !renamed_) ::unlinkat(folder_, name_.c_str(), 0);
  }

  const Descriptor& file() const { return file_; }

  bool rename_to(const path& name) {
    renamed_ = ::renameat(folder_, name_.c_str(), folder_, name.c_str()) == 0;
    return renamed_;
  }

 private:
  /// Process numbers repeat after a restart and in other containers, so a name in use is passed over. The
  /// target's own name is left out because it may already be as long as names can be.
  int create(mode_t mode) {
    static std::atomic<unsigned> count = 0;
    constexpr int attempts = 1000;
    int number = -1;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      name_ = fmt::format(".hindsight-{}-{}.tmp", ::getpid(), count++);
      const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
      number = uninterrupted([&] { return ::openat(folder_, name_.c_str(), flags, mode); });
      if (number >= 0 || errno != EEXIST) break;
    }
    return number;
  }

  int folder_;
  std::string name_;
  Descriptor file_;
  bool renamed_ = false;
};

bool write_all(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = uninterrupted([&] { return ::write(file.number(), bytes.data(), bytes.size()); });
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool synchronise(const Descriptor& file) {
  return uninterrupted([&] { return ::fsync(file.number()); }) == 0;
}

bool has_zero_byte(const path& file) { return file.native().find('\0') != path::string_type::npos; }

/// The permissions of the file to replace, or the usual ones where there is none yet. Renaming would also
/// replace a device or a pipe, which nobody means by writing to it.
mode_t mode_for(const path& file) {
  if (has_zero_byte(file)) refuse_target(file, "a name with a zero byte");
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0) {
    if (S_ISREG(status.st_mode)) return status.st_mode & 0777U;
    refuse_target(file, S_ISDIR(status.st_mode) ? "a directory" : "a device or a pipe");
  }
  if (errno != ENOENT) refuse_step(file, "looking for the old file", errno);
  if (!file.has_filename()) refuse_target(file, "a path without one");
  if (::lstat(file.c_str(), &status) == 0) refuse_target(file, "a link to a file that does not exist");
  return 0666U;
}

path without_links(const path& file) {
  std::error_code failure;
  if (!std::filesystem::is_symlink(file, failure)) return file;
  path target = std::filesystem::canonical(file, failure);
  if (failure) refuse_step(file, "following the link", failure.value());
  return target;
}

struct Failure {
  const char* step;
  int error;
};

/// Tells of a failure instead of throwing it: in a program that does not catch what is thrown, no destructor
/// would run, and the temporary file would stay.
std::optional<Failure> replace(const path& target, mode_t mode, std::string_view bytes) {
  const Descriptor folder(
      uninterrupted([&] { return ::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!folder.valid()) return Failure{"opening its folder", errno};
  TemporaryFile temporary(folder.number(), mode);
  if (!temporary.file().valid()) return Failure{"creating a temporary file beside it", errno};
  if (!write_all(temporary.file(), bytes) || !synchronise(temporary.file()))
    return Failure{"storing its new content", errno};
  if (!temporary.rename_to(target.filename())) return Failure{"taking the old file's place", errno};
  // Some file systems cannot synchronise folders and say so by EINVAL: they offer nothing safer.
  if (!synchronise(folder) && errno != EINVAL)
    return Failure{"synchronising its folder, where the new content is not safe yet", errno};
  return std::nullopt;
}

}  // namespace

void write_atomically(const path& file, std::string_view bytes) {
  const mode_t mode = mode_for(file);
  if (const auto failure = replace(without_links(file), mode, bytes))
    refuse_step(file, failure->step, failure->error);
}

void make_folder(const path& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    refuse({.code = "file-not-written",
            .message = fmt::format("the folder {} cannot be made: {}", folder.string(), problem.message()),
            .help = {"--out a folder that can be written"}});
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename();
    pid_t writer = 0;
    if (std::sscanf(name.c_str(), ".hindsight-%d-", &writer) != 1 || !name.ends_with(".tmp")) continue;
    if (::kill(writer, 0) == 0 || errno != ESRCH) continue;  // it still writes, or might
    std::filesystem::remove(entry.path(), problem);
  }
}

std::string read_file(const path& file, std::size_t limit) {
  const std::string look = fmt::format("ls -l '{}'", file.c_str());
  if (has_zero_byte(file)) refuse_reading(file, "its name has a zero byte", "give the name of a file");
  // Without O_NONBLOCK, opening a pipe waits for somebody to write to it.
  const Descriptor source(
      uninterrupted([&] { return ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  struct stat status {};
  if (!source.valid() || ::fstat(source.number(), &status) != 0) refuse_reading(file, in_words(errno), look);
  if (!S_ISREG(status.st_mode))
    refuse_reading(file,
                   fmt::format("expected a regular file, found a {}",
                               S_ISDIR(status.st_mode) ? "directory" : "device or pipe"),
                   look);
  const auto refuse_size = [&](std::size_t size) {
    refuse_reading(file, fmt::format("expected at most {} bytes, found {}", limit, size), look);
  };
  const auto announced = static_cast<std::size_t>(status.st_size);
  if (announced > limit) refuse_size(announced);

  // Room for one byte more lets the last call find the end. A file can also grow meanwhile.
  std::string bytes(announced + 1, '\0');
  for (std::size_t filled = 0;;) {
    const auto got =
        uninterrupted([&] { return ::read(source.number(), &bytes[filled], bytes.size() - filled); });
    if (got < 0) refuse_reading(file, in_words(errno), look);
    filled += static_cast<std::size_t>(got);
    if (filled > limit) refuse_size(filled);
    if (got == 0) {
      bytes.resize(filled);
      return bytes;
    }
    if (filled == bytes.size()) bytes.resize(std::min(2 * filled, limit) + 1);
  }
}

}  // namespace hindsight::tool
