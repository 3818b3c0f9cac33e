#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

/// A bar with the time left that is redrawn on a terminal, and a line every tenth of the way elsewhere: on
/// standard error, so that results stay by themselves. Nobody has to look at it.
class ProgressBar {
 public:
  ProgressBar(std::string label, std::int64_t steps, std::int64_t done = 0)
      : label_(std::move(label)),
        steps_(steps),
        began_(done),
        done_(done),
        shown_(percent()),
        on_terminal_(isatty(STDERR_FILENO) == 1) {}

  /// Some steps more; drawn only when there is something new to see. The status is made only then, if it is a
  /// function.
  template <class Status>
  void advance(const Status& status, std::int64_t steps = 1) {
    done_ += steps;
    const bool last = done_ >= steps_;
    const Clock::time_point now = Clock::now();
    if (on_terminal_ ? !last && now < next_ : percent() / 10 == shown_ / 10) return;
    shown_ = percent();
    next_ = now + std::chrono::milliseconds(100);
    if constexpr (requires { std::string_view(status); })
      draw(status, now, last);
    else
      draw(status(), now, last);
  }

 private:
  using Clock = std::chrono::steady_clock;

  int percent() const { return steps_ > 0 ? static_cast<int>(100 * done_ / steps_) : 100; }

  void draw(std::string_view status, Clock::time_point now, bool last) const {
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double left = seconds * static_cast<double>(steps_ - done_) / static_cast<double>(done_ - began_);
    const std::string time =
        last ? fmt::format("{} in all", duration(seconds)) : fmt::format("{} left", duration(left));
    std::string line;
    if (on_terminal_) {
      constexpr int width = 30;
      std::string bar;
      for (int i = 0; i < width; ++i) bar += i < width * percent() / 100 ? "█" : "░";
      line = fmt::format("\r  {:<10} {} {:3d} %  {}  {}\033[K{}", label_, bar, percent(), status, time,
                         last ? "\n" : "");
    } else {
      line = fmt::format("  {:<10} {:3d} %  {}  {}\n", label_, percent(), status, time);
    }
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
  }

  static std::string duration(double seconds) {
    const auto whole = static_cast<std::int64_t>(seconds + 0.5);
    if (whole < 100) return fmt::format("{} s", whole);
    if (whole < 6000) return fmt::format("{}:{:02d} min", whole / 60, whole % 60);
    return fmt::format("{}:{:02d} h", whole / 3600, whole / 60 % 60);
  }

  std::string label_;
  std::int64_t steps_, began_, done_;
  int shown_;
  bool on_terminal_;
  Clock::time_point start_ = Clock::now(), next_ = start_;
};
