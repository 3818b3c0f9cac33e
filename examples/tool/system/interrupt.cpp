#include "tool/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace hindsight::tool {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "or a signal handler could not touch it");

extern "C" void remember(int) { interrupted = true; }

}  // namespace

void remember_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool was_interrupted() { return interrupted; }

}  // namespace hindsight::tool
