#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/scratch_folder.hpp"

namespace hindsight::testing {

inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Ended {
  int code = -1;  ///< minus the signal if one ended it
  std::string said = {};
};

/// A run of the program with both outputs in a file.
class Process {
 public:
  Process(const std::vector<std::string>& arguments, std::string log, rlim_t largest_file = RLIM_INFINITY)
      : log_(std::move(log)) {
    std::vector<std::string> words{HINDSIGHT_TOOL};
    words.insert(words.end(), arguments.begin(), arguments.end());
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ > 0) return;
    const int out = open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (largest_file != RLIM_INFINITY) {
      const rlimit limit{largest_file, largest_file};
      setrlimit(RLIMIT_FSIZE, &limit);
      std::signal(SIGXFSZ, SIG_IGN);
    }
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(HINDSIGHT_TOOL, pointers.data());
    _exit(127);
  }
  pid_t process() const { return pid_; }
  void send(int signal) const { kill(pid_, signal); }
  Ended wait() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content(log_)};
  }

 private:
  std::string log_;
  pid_t pid_ = -1;
};

/// What a shell makes of the line in that folder, where $hindsight is the program; `log` holds what was said.
inline Ended run_in_shell(const ScratchFolder& folder, const std::string& line) {
  std::filesystem::remove(folder / "log");
  const std::string whole =
      "cd '" + folder.path().string() + "' && hindsight='" + HINDSIGHT_TOOL + "' && { " + line + "\n}";
  const int status = std::system(whole.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content(folder / "log")};
}

inline Ended run(const ScratchFolder& folder, const std::vector<std::string>& arguments) {
  return Process(arguments, folder / "log").wait();
}

}  // namespace hindsight::testing
