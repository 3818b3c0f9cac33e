#include "tool/atomic_file.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hindsight/core/report.hpp>

#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using hindsight::testing::refusal;
using hindsight::testing::says;
using hindsight::testing::ScratchFolder;
namespace fs = std::filesystem;

namespace {

const std::string accepted = "nothing was refused";

/// What the call returns in a process of its own, whose limits and rights it may change.
std::string in_child(const std::function<std::string()>& call) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = call();
    const auto written = ::write(ends[1], text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return text;
}

}  // namespace

TEST_CASE("write_atomically writes what read_file reads") {
  const ScratchFolder folder;
  const fs::path file = folder / "data.bin";
  for (const std::string& bytes : {std::string("first"), std::string("a\0b\xff\n", 5), std::string(),
                                   std::string(3'000'000, 'x'), std::string("last")}) {
    write_atomically(file, bytes);
    CHECK(read_file(file) == bytes);
    CHECK(folder.names() == ScratchFolder::Names{"data.bin"});
  }
}

TEST_CASE("write_atomically writes to the current folder when none is named") {
  const ScratchFolder folder;
  CHECK(in_child([&] {
          if (::chdir(folder.path().c_str()) != 0) return std::string("no such folder");
          return refusal([] { write_atomically("bare.txt", "here"); });
        }) == accepted);
  CHECK(read_file(folder / "bare.txt") == "here");
}

TEST_CASE("write_atomically keeps the permissions of the file it replaces") {
  const ScratchFolder folder;
  const fs::path file = folder / "private.txt";
  write_atomically(file, "old");
  fs::permissions(file, fs::perms(0600));
  write_atomically(file, "new");
  CHECK(fs::status(file).permissions() == fs::perms(0600));
  CHECK(read_file(file) == "new");
}

TEST_CASE("write_atomically replaces the file that a link names and keeps the link") {
  const ScratchFolder folder;
  fs::create_directory(folder / "runs");
  write_atomically(folder / "runs/1.txt", "old");
  fs::create_symlink("runs/1.txt", folder / "latest");
  write_atomically(folder / "latest", "new");
  CHECK(fs::is_symlink(folder / "latest"));
  CHECK(read_file(folder / "runs/1.txt") == "new");
  CHECK(folder.names() == ScratchFolder::Names{"latest", "runs"});

  fs::remove(folder / "runs/1.txt");
  CHECK(says(refusal([&] { write_atomically(folder / "latest", "new"); }), "a link to a file that does not"));
  CHECK(fs::is_symlink(folder / "latest"));
}

TEST_CASE("write_atomically takes names as long as names can be and refuses longer ones") {
  const ScratchFolder folder;
  const std::string longest(255, 'n');
  write_atomically(folder / longest.c_str(), "text");
  CHECK(read_file(folder / longest.c_str()) == "text");
  CHECK(says(refusal([&] { write_atomically(folder / (longest + "n").c_str(), "text"); }),
             "File name too long"));
  CHECK(folder.names() == ScratchFolder::Names{longest});
}

TEST_CASE("write_atomically refuses a folder that does not exist") {
  const ScratchFolder folder;
  const std::string parent = folder / "missing";
  const std::string file = parent + "/data.bin";
  CHECK(refusal([&] { write_atomically(file, "new"); }) ==
        fmt::format("error[file-not-written]: '{}' was not written: opening its folder: No such file or "
                    "directory\n  help: mkdir -p '{}'",
                    file, parent));
  CHECK(folder.names().empty());
}

TEST_CASE("write_atomically refuses what is not a regular file and leaves it alone") {
  const ScratchFolder folder;
  fs::create_directory(folder / "full");
  write_atomically(folder / "full/kept", "old");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const auto refused = [&](const fs::path& file) { return refusal([&] { write_atomically(file, "new"); }); };

  CHECK(
      refused(folder / "full") ==
      fmt::format("error[file-not-written]: '{}' was not written: expected the name of a regular file, found "
                  "a directory\n  help: give the name of a regular file, or one that is not in use",
                  (folder / "full")));
  CHECK(says(refused(folder / "full/.."), "a directory"));
  CHECK(says(refused(folder / "pipe"), "a device or a pipe"));
  CHECK(says(refused("/dev/null"), "a device or a pipe"));
  CHECK(says(refused(folder / "new/"), "a path without one"));
  CHECK(says(refused(""), "a path without one"));
  CHECK(says(refused(folder.path() / std::string("a\0b", 3)), "a name with a zero byte"));
  CHECK(says(refused(folder / "full/kept/below"), "Not a directory"));
  CHECK(folder.names() == ScratchFolder::Names{"full", "pipe"});
  CHECK(read_file(folder / "full/kept") == "old");
}

// A limit on the size of files stops the writing half-way, as a full disk does.
TEST_CASE("write_atomically keeps the old content when there is no room for the new") {
  const ScratchFolder folder;
  const fs::path file = folder / "data.bin";
  write_atomically(file, "old");
  const auto write = [&] {
    const rlimit limit{.rlim_cur = 100'000, .rlim_max = 100'000};
    std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    write_atomically(file, std::string(250'000, 'x'));
  };
  const std::string text = in_child([&] { return refusal(write); });
  CHECK(says(text, fmt::format("error[file-not-written]: '{}' was not written: storing its new content: "
                               "File too large\n  help: ulimit -f unlimited",
                               file.string())));
  // No destructor runs on the way out of a program that does not catch the refusal.
  in_child([&] {
    std::set_terminate([] { ::_exit(0); });
    std::thread(write).join();
    return "caught";
  });
  CHECK(read_file(file) == "old");
  CHECK(folder.names() == ScratchFolder::Names{"data.bin"});
}

// Nothing is forbidden to root, so the child becomes somebody else first.
TEST_CASE("write_atomically keeps the old content in a folder that is read-only") {
  const ScratchFolder folder;
  const fs::path file = folder / "data.bin";
  write_atomically(file, "old");
  fs::permissions(folder.path(), fs::perms(0555));  // others may look into it, too
  const std::string text = in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return std::string("still root");
    return refusal([&] { write_atomically(file, "new"); });
  });
  if (text == "still root") return;
  CHECK(text == fmt::format("error[file-not-written]: '{}' was not written: creating a temporary file beside "
                            "it: Permission denied\n  help: ls -ld '{}'   # shows who may write there",
                            file.string(), folder.path().string()));
  CHECK(read_file(file) == "old");
  CHECK(folder.names() == ScratchFolder::Names{"data.bin"});
}

// A process that was killed leaves its temporary file, and the next of the same number must do without it.
TEST_CASE("write_atomically passes over temporary files that others left") {
  const ScratchFolder folder;
  CHECK(in_child([&] {
          for (int count = 0; count < 100; ++count)
            std::ofstream(folder / fmt::format(".hindsight-{}-{}.tmp", ::getpid(), count).c_str());
          return refusal([&] { write_atomically(folder / "data.bin", "new"); });
        }) == accepted);
  CHECK(read_file(folder / "data.bin") == "new");
}

TEST_CASE("a reader never sees a part of a file while others write it") {
  const ScratchFolder folder;
  const fs::path file = folder / "data.bin";
  const auto content = [](int i) {
    return std::string(std::size_t(1000 + 977 * i), static_cast<char>('a' + i % 26));
  };
  write_atomically(file, content(0));
  std::atomic<int> writers = 2;
  std::atomic<int> failures = 0;
  const auto write = [&] {
    for (int i = 0; i < 200; ++i)
      if (refusal([&] { write_atomically(file, content(i)); }) != accepted) ++failures;
    --writers;
  };
  std::thread first(write);
  std::thread second(write);
  int partial = 0;
  while (writers > 0) {
    std::string bytes;
    if (refusal([&] { bytes = read_file(file); }) != accepted) ++failures;
    const int i = (static_cast<int>(bytes.size()) - 1000) / 977;
    partial += bytes != content(i);
  }
  first.join();
  second.join();
  CHECK(partial == 0);
  CHECK(failures == 0);
  CHECK(folder.names() == ScratchFolder::Names{"data.bin"});
}

TEST_CASE("read_file refuses what is missing, too long or not a regular file") {
  const ScratchFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  write_atomically(folder / "ten", "0123456789");
  const auto refused = [](const fs::path& file, std::size_t limit = default_read_limit) {
    return refusal([&] { read_file(file, limit); });
  };
  CHECK(
      refused(folder / "none") ==
      fmt::format("error[file-not-read]: '{0}' was not read: No such file or directory\n  help: ls -l '{0}'",
                  folder / "none"));
  CHECK(says(refused(folder.path()), "expected a regular file, found a directory"));
  CHECK(says(refused(folder / "pipe"), "expected a regular file, found a device or pipe"));
  CHECK(says(refused("/dev/zero"), "expected a regular file, found a device or pipe"));
  CHECK(says(refused(folder.path() / std::string("a\0b", 3)), "a zero byte"));
  CHECK(says(refused(folder / "ten", 9), "expected at most 9 bytes, found 10"));
  CHECK(read_file(folder / "ten", 10) == "0123456789");

  fs::resize_file(folder / "ten", std::uintmax_t{1} << 40U);
  CHECK(says(refused(folder / "ten"), "expected at most 1073741824 bytes, found 1099511627776"));
}

// Files that the kernel makes up announce no bytes and have some.
TEST_CASE("read_file reads to the end of a file that grows") {
  const fs::path file = "/proc/self/status";
  CHECK(says(read_file(file), "VmSize"));
  CHECK(says(refusal([&] { read_file(file, 100); }), "expected at most 100 bytes, found 101"));
}
