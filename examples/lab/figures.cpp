#include "lab/figures.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hindsight/core/report.hpp>
#include <nlohmann/json.hpp>

namespace hindsight::lab {
namespace {

namespace fs = std::filesystem;

std::string reason_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse_gnuplot(const std::string& reason) {
  refuse({.code = "gnuplot",
          .message = fmt::format("gnuplot could not draw the figure: {}", reason),
          .help = {"apt-get install gnuplot-nox"}});
}

[[noreturn]] void refuse_data(const std::string& what, const std::string& help) {
  refuse({.code = "figure-data", .message = what, .help = {help}});
}

[[noreturn]] void refuse_write(const fs::path& path, const std::string& reason) {
  refuse({.code = "figure-write",
          .message = fmt::format("'{}' cannot be written: {}", path.string(), reason),
          .help = {"choose a folder that may be written to and has room"}});
}

/// Printable, valid UTF-8 and not too long for a figure, whatever it was.
std::string one_line(const std::string& text, std::size_t shown = 100) {
  using Json = nlohmann::json;
  auto line = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = ' ';
  // Characters of Unicode that XML forbids all the same.
  for (const char* forbidden : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (std::size_t at = 0; (at = line.find(forbidden, at)) != std::string::npos;) line.replace(at, 3, " ");
  if (line.size() <= shown) return line;
  while ((static_cast<unsigned char>(line[shown]) & 0xC0U) == 0x80U) --shown;
  return line.substr(0, shown) + "…";
}

/// Between single quotes gnuplot takes everything as it stands, but for the quote itself.
std::string quoted(const std::string& text) {
  std::string result;
  for (const char c : one_line(text)) result += c == '\'' ? "''" : std::string(1, c);
  return '\'' + result + '\'';
}

using Rows = std::vector<std::vector<double>>;

/// A figure in the making: commands for gnuplot and the files they read, all in a temporary folder in which
/// gnuplot will run, so that no path of the user's has to pass through a command.
class Drawing {
 public:
  Drawing() {
    std::error_code problem;
    std::string name = (fs::temp_directory_path(problem) / "hindsight-figure-XXXXXX").string();
    if (problem) refuse_write(name, problem.message());
    if (!mkdtemp(name.data())) refuse_write(name, reason_of(errno));
    folder_ = name;
  }
  Drawing(const Drawing&) = delete;
  Drawing& operator=(const Drawing&) = delete;
  ~Drawing() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void add(const std::string& commands) { commands_ += commands + '\n'; }

  /// Labels and arrows are for this panel only.
  void plot(const std::vector<std::string>& elements) {
    add(fmt::format("plot {}\nunset label\nunset arrow", fmt::join(elements, ", ")));
  }

  /// Writes a file and gives its quoted name.
  std::string data(const Rows& rows) {
    const std::string name = fmt::format("data_{}", files_++);
    std::string text;
    for (const std::vector<double>& row : rows) text += fmt::format("{}\n", fmt::join(row, " "));
    write(folder_ / name, text);
    return quoted(name);
  }

  void draw(int width, int height, const fs::path& path) const {
    // By the name of that font every reader of an SVG has one.
    const std::string script = fmt::format(
        "set encoding utf8\nset terminal svg size {0},{1} dynamic font 'sans-serif,14' background '#ffffff'\n"
        "point_size = 0.6\nset output 'figure.svg'\n{4}set output\nreset\n"
        "set terminal pngcairo size {2},{3} font 'sans-serif,14' fontscale 1.5 linewidth 2 pointscale 2\n"
        "point_size = 0.8\nset output 'figure.png'\n{4}set output\n",
        width, height, 2 * width, 2 * height, commands_);
    write(folder_ / "figure.gp", script);
    run_gnuplot();
    std::error_code problem;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), problem);
    for (const std::string ending : {".svg", ".png"}) {
      const fs::path target = path.string() + ending;
      fs::copy_file(folder_ / ("figure" + ending), target, fs::copy_options::overwrite_existing, problem);
      if (problem) refuse_write(target, problem.message());
    }
  }

 private:
  static void write(const fs::path& path, const std::string& text) {
    if (!(std::ofstream(path, std::ios::binary) << text).flush()) refuse_write(path, reason_of(errno));
  }

  void run_gnuplot() const {
    const fs::path messages = folder_ / "messages";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addchdir_np(&actions, folder_.c_str());
    // The second word keeps the user's own settings of gnuplot out of it.
    const std::array<const char*, 4> words = {"gnuplot", "--default-settings", "figure.gp", nullptr};
    pid_t child = 0;
    const int problem =
        posix_spawnp(&child, words[0], &actions, nullptr, const_cast<char* const*>(words.data()), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) refuse_gnuplot("it cannot be started: " + reason_of(problem));
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
      if (errno != EINTR) refuse_gnuplot("it was lost: " + reason_of(errno));
    if (status == 0) return;
    std::string said(1000, ' ');
    std::ifstream(messages, std::ios::binary).read(said.data(), static_cast<std::streamsize>(said.size()));
    refuse_gnuplot(fmt::format("it failed with status {} and said: {}", status, one_line(said, said.size())));
  }

  fs::path folder_;
  std::string commands_;
  int files_ = 0;
};

/// Line types are the paper's colours in the order of `known_methods`, each with a shape.
constexpr std::size_t line_types = 6;
constexpr auto light_frame =
    "set linetype 1 lc rgb '#2ca02c' pt 7\nset linetype 2 lc rgb '#d62728' pt 5\n"
    "set linetype 3 lc rgb '#1f77b4' pt 9\nset linetype 4 lc rgb '#ff7f0e' pt 13\n"
    "set linetype 5 lc rgb '#9467bd' pt 11\nset linetype 6 lc rgb '#8c564b' pt 4\n"
    "set border 3 lc rgb '#808080'\nset grid lt 1 lw 0.7 lc rgb '#e4e4e4'\n"
    "set tics nomirror out scale 0.5 textcolor rgb '#404040'\n"
    "set style fill transparent solid 0.18 noborder\n";

using Plots = std::vector<std::string>;

/// Rows are position, mean, lower and upper end.
void add_curve(Plots& plots, const std::string& file, std::size_t line_type, const std::string& title) {
  plots.push_back(fmt::format("{} using 1:3:4 with filledcurves lt {} notitle", file, line_type));
  plots.push_back(
      fmt::format("{} using 1:2 with lines lt {} lw 2 title {} noenhanced", file, line_type, quoted(title)));
}

/// In percent; no interval reaches beyond what is possible.
std::vector<double> accuracy_row(double position, const Summary& accuracy) {
  return {position, 100 * accuracy.mean, 100 * std::max(0.0, accuracy.mean - accuracy.half_width),
          100 * std::min(1.0, accuracy.mean + accuracy.half_width)};
}

/// A line of means, with intervals where there are seeds enough and the seeds themselves elsewhere.
void add_sensitivity(Plots& plots, Drawing& drawing, const std::vector<RateScore>& scores,
                     std::size_t line_type) {
  Rows means, intervals, seeds;
  for (const auto& [exponent, accuracies, summary] : scores) {
    means.push_back(accuracy_row(exponent, summary));
    if (summary.count >= 3) intervals.push_back(means.back());
    for (const double accuracy : accuracies)
      if (summary.count < 3) seeds.push_back({1.0 * exponent, 100 * accuracy});
  }
  const auto add = [&](const Rows& rows, std::string_view how) {
    if (!rows.empty()) plots.push_back(fmt::format("{} using {} lt {}", drawing.data(rows), how, line_type));
  };
  add(means, "1:2 with lines lw 1.5");
  // Gnuplot's own error bars wipe out what lies behind their points.
  add(intervals, "1:3:(0):($4-$3) with vectors heads size graph 0.008,90 lw 1.2");
  add(intervals, "1:2 with points ps point_size");
  add(seeds, "1:2 with points ps 0.6*point_size");
}

/// A legend by hand, since gnuplot's own breaks into lines as it likes. Positions are fractions of the
/// figure.
std::string legend_entry(double x, double y, double sample, std::size_t line_type, const std::string& text) {
  return fmt::format(
      "set arrow from screen {0},screen {2} to screen {1},screen {2} nohead lt {3} lw 2\n"
      "set label '' at screen {4},screen {2} point lt {3} ps 1.2*point_size\n"
      "set label '{6}' at screen {5},screen {2} left",
      x, x + sample, y, line_type, x + sample / 2, x + 1.25 * sample, text);
}

}  // namespace

void compare_curves(const std::vector<NamedCurve>& curves, const FigureText& text, const fs::path& path) {
  if (curves.empty() || curves.size() > 12)
    refuse_data(fmt::format("a figure has 1 to 12 curves, found {}", curves.size()), "draw several figures");
  Drawing drawing;
  drawing.add(
      fmt::format("{}set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n"
                  "set key below left horizontal Left reverse samplen 2 spacing 1.2\nset rmargin 4",
                  light_frame, quoted(text.title), quoted(text.x_label), quoted(text.y_label)));
  Plots plots;
  for (const auto& [label, epochs, mean, half_width] : curves) {
    const bool banded = !half_width.empty();
    bool sound =
        !mean.empty() && mean.size() == epochs.size() && (!banded || half_width.size() == mean.size());
    Rows rows;
    for (std::size_t i = 0; sound && i < mean.size(); ++i) {
      const double half = banded ? half_width[i] : 0;
      rows.push_back({epochs[i], mean[i], mean[i] - half, mean[i] + half});
      sound = std::isfinite(epochs[i]) && std::isfinite(mean[i] - half) && std::isfinite(mean[i] + half);
    }
    if (!sound)
      refuse_data(
          fmt::format("curve '{}' must have finite numbers, a mean for each epoch and as many half widths or "
                      "none, found {}, {} and {}",
                      one_line(label), epochs.size(), mean.size(), half_width.size()),
          "leave out epochs that have no mean");
    add_curve(plots, drawing.data(rows), plots.size() / 2 % line_types + 1, label);
  }
  drawing.plot(plots);
  drawing.draw(800, 500, path);
}

void draw_learning_curve(const LearningCurve& curve, const fs::path& path) {
  std::vector<NamedCurve> curves = {
      {.label = "test accuracy, outcomes drawn", .mean = curve.test_accuracy_sampled},
      {.label = "reward in training", .mean = curve.train_reward},
      {.label = "test accuracy, units at their means", .mean = curve.test_accuracy_mean}};
  std::erase_if(curves, [](const NamedCurve& named) { return named.mean.empty(); });
  for (NamedCurve& named : curves)
    for (double& value : named.mean) {
      value *= 100;
      named.epochs.push_back(static_cast<double>(named.epochs.size() + 1));
    }
  compare_curves(curves, {.title = curve.title, .y_label = "right answers (%)"}, path);
}

void draw_paper_figure(const std::vector<RunResult>& results, const fs::path& path) {
  const auto [columns, labels, common_epoch, lowest_rate, highest_rate, epochs, lowest_end] =
      evaluate(results);
  if (columns.empty() || columns.size() > 6)
    refuse_data(fmt::format("the figure has 1 to 6 numbers of hidden layers, found {}", columns.size()),
                "give results of the methods that known_methods() lists");
  // The way up should not fill a panel: it begins as far below the lowest end as that is below the top.
  const double lowest = std::clamp(std::floor((2 * lowest_end - 1) * 20) * 5, 0.0, 90.0);
  // Sigmoid stands in for tanh in the paper's second figure, and takes its blue there.
  const std::size_t sigmoid = labels.contains(2) ? 5 : 3;
  const auto line_type = [&](std::size_t method) { return method == 4 ? sigmoid : method + 1; };

  const double height = 800, width = std::max(800.0, 400.0 * static_cast<double>(columns.size()));
  const double gap = 32 / width, right = 1 - 22 / width;
  double left = 76 / width;
  const double step = (right - left + gap) / static_cast<double>(columns.size());
  Drawing drawing;
  drawing.add(
      fmt::format("{}unset key\nset multiplot layout 2,{} columnsfirst margins {},{},{},{} spacing {},{}",
                  light_frame, columns.size(), left, right, 60 / height, 1 - 84 / height, gap, 108 / height));
  const double entry = std::min(185 / width, 1.0 / static_cast<double>(labels.size()));
  double x = 0.5 - entry * static_cast<double>(labels.size()) / 2;
  for (const auto& [method, label] : labels) {
    drawing.add(legend_entry(x, 1 - 24 / height, 36 / width, line_type(method), label));
    x += entry;
  }
  for (const auto& [depth, column] : columns) {
    const bool first = depth == columns.begin()->first;
    Plots upper, lower;
    for (const MethodOutcome& outcome : column)
      add_sensitivity(upper, drawing, outcome.scores, line_type(outcome.method));
    drawing.add(
        fmt::format("set xrange [{}:{}]\nset xtics {},{}\nset format x '2^{{%.0f}}'\nset yrange [0:100]\n"
                    "set label '{} hidden layer{}' at graph 0.5,1.09 center font ',16'\n"
                    "set label 'learning rate' at graph 0.5,-0.18 center\nset format y '{}'\nset ylabel '{}'",
                    lowest_rate - 0.6, highest_rate + 0.6, lowest_rate, (highest_rate - lowest_rate) / 7 + 1,
                    depth, depth == 1 ? "" : "s", first ? "%.0f" : "",
                    first ? fmt::format("test accuracy at epoch {} (%)", common_epoch) : ""));
    drawing.plot(upper);
    drawing.add(
        fmt::format("set xrange [0:{}]\nset xtics autofreq\nset format x '%.0f'\n"
                    "set yrange [{}:100]\nset label 'epoch' at graph 0.5,-0.18 center\nset ylabel '{}'\n"
                    "set label 'best rate' at screen {},screen 0.444 left",
                    epochs, lowest, first ? "test accuracy (%)" : "", left));
    for (x = left + 80 / width; const MethodOutcome& outcome : column) {
      Rows rows;
      for (const Summary& epoch : outcome.curve) rows.push_back(accuracy_row(1.0 * rows.size() + 1, epoch));
      add_curve(lower, drawing.data(rows), line_type(outcome.method), "");
      const std::string rate = fmt::format("2^{{{}}}", outcome.best.exponent);
      drawing.add(legend_entry(x, 0.444, 20 / width, line_type(outcome.method), rate));
      x += 70 / width;
    }
    drawing.plot(lower);
    left += step;
  }
  drawing.add("unset multiplot");
  drawing.draw(static_cast<int>(width), static_cast<int>(height), path);
}

}  // namespace hindsight::lab
