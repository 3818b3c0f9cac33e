#include "tool/console.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <hindsight/core/report.hpp>

namespace hindsight::tool {
namespace {

/// Of the first result that could not be written; 0: none.
int trouble = 0;

/// The reader of a pipe may leave when it has seen enough: then we end as programs do, by the signal.
bool ends_with_reader = true;

void note_trouble(int error) {
  if (error == EPIPE && ends_with_reader) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  if (trouble == 0) trouble = error;
}

}  // namespace

void prepare_console() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken, and it is this one. What is open the wrong way round can be neither
    // read nor written; remarks may be lost.
    const int access = stream == STDIN_FILENO ? O_WRONLY : stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", access) != stream) std::_Exit(2);
  }
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  ends_with_reader = before.sa_handler == SIG_DFL;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void write_result(std::string_view text) {
  if (trouble == 0 && std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note_trouble(errno);
}

void finish_results() {
  if (trouble == 0 && std::fflush(stdout) != 0) note_trouble(errno);
  // Some file systems tell only now that there is no room.
  if (std::fclose(stdout) != 0) note_trouble(errno);
  if (trouble == 0) return;
  refuse({.code = "output-not-written",
          .message = fmt::format("not all results could be written to standard output: {}",
                                 std::generic_category().message(trouble)),
          .help = {"hindsight … > file   # where standard output is open and the disk has room"}});
}

void write_remark(std::string_view text) {
  if (trouble == 0 && std::fflush(stdout) != 0) note_trouble(errno);  // what was printed first comes first
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

bool results_go_to_a_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

}  // namespace hindsight::tool
