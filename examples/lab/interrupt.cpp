#include "lab/interrupt.hpp"

#include <csignal>

namespace hindsight::lab {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void remember(int) { interrupted = 1; }

}  // namespace

void remember_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool was_interrupted() { return interrupted != 0; }

}  // namespace hindsight::lab
