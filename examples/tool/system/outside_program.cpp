#include "tool/outside_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>
#include <hindsight/core/report.hpp>

#include "tool/plain_text.hpp"

namespace hindsight::tool {
namespace {

std::string reason_of(int error) { return std::generic_category().message(error); }

/// Signals that we ignore end other programs as ever: a picture of which the end is missing is none.
class UsualSignals {
 public:
  UsualSignals() {
    posix_spawnattr_init(&attributes_);
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes_, &ours);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  UsualSignals(const UsualSignals&) = delete;
  UsualSignals& operator=(const UsualSignals&) = delete;
  ~UsualSignals() { posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code problem;
  std::string name = (std::filesystem::temp_directory_path(problem) / "hindsight-XXXXXX").string();
  if (problem || !mkdtemp(name.data()))
    refuse({.code = "figure-write",
            .message = fmt::format("'{}' cannot be written: {}", name,
                                   problem ? problem.message() : reason_of(errno)),
            .help = {"let TMPDIR name a folder that may be written to and has room"}});
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ProgramEnd run_in(const std::filesystem::path& folder, const std::vector<std::string>& words) {
  const std::filesystem::path messages = folder / "messages";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int problem =
      posix_spawnp(&child, pointers[0], &actions, UsualSignals().get(), pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return {.started = false, .reason = "it cannot be started: " + reason_of(problem)};
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return {.reason = "it was lost: " + reason_of(errno)};
  if (status == 0) return {.succeeded = true, .reason = {}};
  if (WIFSIGNALED(status))
    return {.reason = fmt::format("it was ended by a signal: {}", strsignal(WTERMSIG(status)))};
  std::ifstream file(messages, std::ios::binary);
  return {.reason = "it said: " + one_line(std::string(std::istreambuf_iterator<char>(file), {}), 500)};
}

}  // namespace hindsight::tool
