#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

/// A bar that is redrawn on a terminal, and a line every tenth of the way elsewhere.
class ProgressBar {
 public:
  ProgressBar(std::string label, int steps)
      : label_(std::move(label)), steps_(steps), on_terminal_(isatty(STDOUT_FILENO) == 1) {}

  /// One step more; drawn only when there is something new to see.
  void advance(std::string_view status) {
    const int percent = 100 * ++done_ / steps_;
    const bool last = done_ == steps_;
    if (percent == shown_ || (!on_terminal_ && percent % 10 != 0)) return;
    shown_ = percent;
    if (on_terminal_) {
      constexpr int width = 30;
      std::string bar;
      for (int i = 0; i < width; ++i) bar += 100 * i < width * percent ? "█" : "░";
      fmt::print("\r  {:<10} {} {:3d} %  {}{}", label_, bar, percent, status, last ? "\n" : "");
    } else {
      fmt::print("  {:<10} {:3d} %  {}\n", label_, percent, status);
    }
    std::fflush(stdout);
  }

 private:
  std::string label_;
  int steps_;
  int done_ = 0, shown_ = 0;
  bool on_terminal_;
};
