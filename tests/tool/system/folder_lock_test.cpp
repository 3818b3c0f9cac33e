#include "tool/folder_lock.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"

using hindsight::testing::refusal;
using hindsight::testing::ScratchFolder;
using hindsight::tool::FolderLock;

namespace {

std::string refusal_of(const ScratchFolder& folder) {
  return refusal([&] { const FolderLock lock(folder.path()); });
}

/// Another process that holds the lock until it is killed.
class Holder {
 public:
  explicit Holder(const ScratchFolder& folder) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) hold(folder, ends[1]);
    close(ends[1]);
    REQUIRE(read(ends[0], &child_, sizeof(child_)) == sizeof(child_));
    close(ends[0]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    end();
    kill(child_, SIGKILL);
  }

  pid_t process() const { return process_; }
  /// A program that the holder has started and that outlives it.
  pid_t child() const { return child_; }
  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  [[noreturn]] static void hold(const ScratchFolder& folder, int out) {
    const FolderLock lock(folder.path());
    std::string name = "sleep", seconds = "60";
    char* words[] = {name.data(), seconds.data(), nullptr};
    pid_t child = 0;
    if (posix_spawnp(&child, "sleep", nullptr, nullptr, words, environ) != 0) _exit(1);
    if (write(out, &child, sizeof(child)) != sizeof(child)) _exit(1);
    for (;;) pause();
  }

  pid_t process_ = 0, child_ = 0;
};

}  // namespace

TEST_CASE("a folder is locked once at a time, and again once it is free") {
  const ScratchFolder folder;
  {
    const FolderLock lock(folder.path());
    const std::string self = std::to_string(getpid());
    CHECK(refusal_of(folder) == "error[folder-in-use]: another run writes to '" + folder.path().string() +
                                    "': process " + self + "\n  help: kill " + self +
                                    "   # ends it and keeps what it has done\n"
                                    "  help: --out other   # a folder of its own for each run");
  }
  CHECK(folder.names().empty());
  CHECK(refusal_of(folder) == "nothing was refused");
}

TEST_CASE("two folders are locked beside each other") {
  const ScratchFolder one, other;
  const FolderLock lock(one.path());
  CHECK(refusal_of(other) == "nothing was refused");
}

TEST_CASE("a lock ends with its process, even if that is killed, and not with programs that it has started") {
  const ScratchFolder folder;
  Holder holder(folder);
  CHECK(refusal_of(folder).find("process " + std::to_string(holder.process()) + "\n") != std::string::npos);
  holder.end();
  CHECK(kill(holder.child(), 0) == 0);
  CHECK(folder.names().size() == 1);  // the file of the lock, which locks nothing
  CHECK(refusal_of(folder) == "nothing was refused");
  CHECK(folder.names().empty());
}

TEST_CASE("a file of the lock's name that says anything locks nothing") {
  const ScratchFolder folder;
  for (const char* text : {"", "1\n", "99999999999999999999\n", "no number"}) {
    std::ofstream(folder / ".hindsight.lock") << text;
    CHECK(refusal_of(folder) == "nothing was refused");
  }
}

TEST_CASE("a folder in use is told without a process if the holder could not say which") {
  const ScratchFolder folder;
  const FolderLock lock(folder.path());
  for (const char* text : {"", "no number", "99999999999999999999\n", "999999999\n"}) {
    std::ofstream(folder / ".hindsight.lock") << text;
    CHECK(refusal_of(folder) == "error[folder-in-use]: another run writes to '" + folder.path().string() +
                                    "'\n  help: --out other   # a folder of its own for each run");
  }
}

TEST_CASE("what is no file cannot be locked, and that is said") {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / ".hindsight.lock");
  CHECK(refusal_of(folder) == "error[file-not-written]: the folder '" + folder.path().string() +
                                  "' cannot be locked: Is a directory\n"
                                  "  help: --out a folder that can be written, on a disk of this machine");
}

// Root may write everywhere; a folder of the kernel's is the nearest to a disk that is only read.
TEST_CASE("a folder in which nobody can write needs no lock") {
  CHECK(refusal([] { const FolderLock lock("/sys/kernel"); }) == "nothing was refused");
}
