#include "tool/figures.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hindsight/core/report.hpp>

#include "tool/atomic_file.hpp"
#include "tool/outside_program.hpp"
#include "tool/plain_text.hpp"

namespace hindsight::tool {
namespace {

namespace fs = std::filesystem;

std::string reason_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse_gnuplot(const std::string& reason) {
  refuse({.code = "gnuplot",
          .message = fmt::format("gnuplot could not draw the figure: {}", reason),
          .help = {"apt-get install gnuplot-nox   # if it is missing"}});
}

[[noreturn]] void refuse_data(const std::string& what, const std::string& help) {
  refuse({.code = "figure-data", .message = what, .help = {help}});
}

[[noreturn]] void refuse_write(const fs::path& path, const std::string& reason) {
  refuse({.code = "figure-write",
          .message = fmt::format("'{}' cannot be written: {}", path.string(), reason),
          .help = {"choose a folder that may be written to and has room"}});
}

/// A text for gnuplot, every byte by its number: then nothing is special, not even quotes that meet.
std::string quoted(const std::string& text) {
  std::string bytes;
  for (const unsigned char byte : one_line(text)) bytes += fmt::format("\\{:03o}", byte);
  return '"' + bytes + '"';
}

/// So that it comes out as it is where gnuplot looks for markup, as in labels of which some have exponents.
std::string without_markup(const std::string& text) {
  constexpr std::string_view markup = "\\{}_^@&~";
  std::string escaped;
  for (const char letter : text) {
    if (markup.find(letter) != std::string_view::npos) escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

using Rows = std::vector<std::vector<double>>;

/// A figure in the making: commands for gnuplot and the files they read, all in a temporary folder in which
/// gnuplot will run, so that no path of the user's has to pass through a command.
class Drawing {
 public:
  template <class... Parts>
  void add(fmt::format_string<Parts...> commands, Parts&&... parts) {
    fmt::format_to(std::back_inserter(commands_), commands, std::forward<Parts>(parts)...);
    commands_ += '\n';
  }
  /// Rows for the next plot and how to draw them, in gnuplot's words. Without rows there is nothing to draw.
  void series(const Rows& rows, const std::string& how) {
    if (rows.empty()) return;
    const std::string name = fmt::format("data_{}", files_++);
    std::string text;
    for (const std::vector<double>& row : rows) text += fmt::format("{}\n", fmt::join(row, " "));
    write(folder_ / name, text);
    plots_ += fmt::format("{}'{}' using {}", plots_.empty() ? "plot " : ", ", name, how);
  }
  /// Draws the series added since the last plot; labels and arrows are for this panel only.
  void plot() { add("{}\nunset label\nunset arrow", std::exchange(plots_, {})); }
  /// By hand, since gnuplot's own legends break into lines as they like. Lengths are in parts of the figure.
  void legend(double x, double y, double sample, std::size_t line_type, const std::string& text) {
    add("set arrow from screen {0},screen {2} to screen {1},screen {2} nohead lt {3} lw 2\n"
        "set label '' at screen {4},screen {2} point lt {3} ps 1.2*point_size\n"
        "set label {6} at screen {5},screen {2} left",
        x, x + sample, y, line_type, x + sample / 2, x + 1.25 * sample, quoted(text));
  }

  void draw(int width, int height, const fs::path& path) {
    // By the name of that font every reader of an SVG has one.
    write(
        folder_ / "figure.gp",
        fmt::format(
            "set encoding utf8\n"
            "set terminal svg size {0},{1} dynamic font 'sans-serif,14' background '#ffffff'\n"
            "point_size = 0.6\nset output 'figure.svg'\n{4}set output\nreset\n"
            "set terminal pngcairo size {2},{3} font 'sans-serif,14' fontscale 1.5 linewidth 2 pointscale 2\n"
            "point_size = 0.8\nset output 'figure.png'\n{4}set output\n",
            width, height, 2 * width, 2 * height, commands_));
    run_gnuplot();
    std::vector<std::string> pictures;
    for (const fs::path& picture : figure_files(folder_ / "figure")) pictures.push_back(read_file(picture));
    std::error_code problem;  // is told when the figure is written
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), problem);
    auto picture = pictures.begin();
    for (const fs::path& target : figure_files(path)) write_atomically(target, *picture++);
  }

 private:
  static void write(const fs::path& path, const std::string& text) {
    if (!(std::ofstream(path, std::ios::binary) << text).flush()) refuse_write(path, reason_of(errno));
  }

  void run_gnuplot() const {
    // The second word keeps the user's own settings of gnuplot out of it.
    const ProgramEnd end = run_in(folder_, {"gnuplot", "--default-settings", "figure.gp"});
    if (!end.succeeded) refuse_gnuplot(end.reason);
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  std::string commands_, plots_;
  int files_ = 0;
};

/// Line types 1 to 4 have the colours of the paper's legend in its order; shapes are for those who see no
/// colours.
constexpr auto light_frame =
    "set linetype 1 lc rgb '#2ca02c' pt 7\nset linetype 2 lc rgb '#d62728' pt 5\n"
    "set linetype 3 lc rgb '#1f77b4' pt 9\nset linetype 4 lc rgb '#ff7f0e' pt 13\n"
    "set linetype 5 lc rgb '#9467bd' pt 11\nset linetype 6 lc rgb '#8c564b' pt 4\n"
    "set linetype 7 lc rgb '#e377c2' pt 6\nset linetype 8 lc rgb '#7f7f7f' pt 8\n"
    "set linetype 9 lc rgb '#bcbd22' pt 12\nset linetype 10 lc rgb '#17becf' pt 10\n"
    "set border 3 lc rgb '#808080'\nset grid lt 1 lw 0.7 lc rgb '#e4e4e4'\n"
    "set tics nomirror out scale 0.5 textcolor rgb '#404040'\n"
    "set style fill transparent solid 0.18 noborder";

/// Rows are position, mean, lower and upper end.
void add_curve(Drawing& drawing, const Rows& rows, std::size_t line_type, const std::string& title,
               bool marked = false) {
  const char* shape = rows.size() == 1 ? "points" : marked ? "linespoints" : "lines";
  drawing.series(rows, fmt::format("1:3:4 with filledcurves lt {} notitle", line_type));
  drawing.series(rows,
                 fmt::format("1:2 with {} lt {} lw 2 title {} noenhanced", shape, line_type, quoted(title)));
}

/// Fewer seeds give intervals so wide that they say nothing.
constexpr int least_seeds = 3;

/// In percent, the interval cut to what the axis shows: gnuplot goes astray where it has to cut a band
/// itself.
std::vector<double> accuracy_row(double position, const Summary& accuracy, double lowest) {
  const double mean = 100 * accuracy.mean, half = 100 * accuracy.half_width;
  if (mean < lowest || accuracy.count < least_seeds) return {position, mean, NAN, NAN};
  return {position, mean, std::max(lowest, mean - half), std::min(100.0, mean + half)};
}

/// A line of means, with intervals where there are seeds enough and the seeds themselves elsewhere.
void add_sensitivity(Drawing& drawing, const std::vector<RateScore>& scores, std::size_t line_type) {
  Rows means, intervals, seeds;
  for (const auto& [exponent, accuracies, summary] : scores) {
    means.push_back(accuracy_row(exponent, summary, 0));
    if (summary.count >= least_seeds) intervals.push_back(means.back());
    for (const double accuracy : accuracies)
      if (summary.count < least_seeds) seeds.push_back({1.0 * exponent, 100 * accuracy});
  }
  const std::string colour = fmt::format(" lt {}", line_type);
  drawing.series(means, "1:2 with lines lw 1.5" + colour);
  // Gnuplot's own error bars wipe out what lies behind their points.
  drawing.series(intervals, "1:3:(0):($4-$3) with vectors heads size graph 0.008,90 lw 1.2" + colour);
  drawing.series(intervals, "1:2 with points ps point_size" + colour);
  drawing.series(seeds, "1:2 with points ps 0.6*point_size" + colour);
}

constexpr std::size_t most_methods = 10;

/// By a method's place. Those of the paper keep their colours, others take what is left.
std::map<std::size_t, std::size_t> line_types_of(const std::map<std::size_t, std::string>& labels) {
  // Sigmoid stands in for tanh in the paper's second figure, and takes its blue there.
  const std::array<std::size_t, 5> of_paper = {1, 2, 3, labels.contains(2) ? 5U : 3U, 4};
  std::map<std::size_t, std::size_t> types;
  std::set<std::size_t> free;
  for (std::size_t type = 1; type <= most_methods; ++type) free.insert(type);
  for (const auto& [method, label] : labels)
    if (method < of_paper.size()) free.erase(types[method] = of_paper[method]);
  for (const auto& [method, label] : labels)
    if (method >= of_paper.size()) types[method] = free.extract(free.begin()).value();
  return types;
}

/// In pixels, with the sample of the line.
double legend_width(const std::string& label) {
  constexpr std::size_t usual_letters = 17;
  return 185 + 10.0 * static_cast<double>(std::max(label.size(), usual_letters) - usual_letters);
}

/// So few that every whole number can be written below the axis.
bool few_positions(const std::vector<NamedCurve>& curves) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const NamedCurve& curve : curves)
    for (const double position : curve.positions) {
      low = std::min(low, position);
      high = std::max(high, position);
    }
  return high - low < 16;
}

}  // namespace

std::vector<fs::path> figure_files(const fs::path& path) {
  if (path.empty()) return {};
  return {path.string() + ".svg", path.string() + ".png"};
}

void compare_curves(const std::vector<NamedCurve>& curves, const FigureText& text, const fs::path& path) {
  if (curves.empty() || curves.size() > most_curves)
    refuse_data(fmt::format("a figure has 1 to {} curves, found {}", most_curves, curves.size()),
                "draw several figures");
  Drawing drawing;
  drawing.add(
      "{}\nset title {} noenhanced\nset xlabel {} noenhanced offset 0,0.5\nset ylabel {} noenhanced\n"
      "set key below left horizontal Left reverse samplen 2 spacing 1.2\nset rmargin 4{}",
      light_frame, quoted(text.title), quoted(text.x_label), quoted(text.y_label),
      text.logarithmic ? "\nset logscale y\nset format y '%g'" : "");
  if (text.marked)
    drawing.add("set offsets 0.3,0.3,0,0\nset xtics {}", few_positions(curves) ? "1" : "autofreq");
  std::size_t line_type = 0;
  for (const auto& [label, positions, mean, half_width] : curves) {
    const std::size_t count = mean.size();
    bool sound = count > 0 && positions.size() == count && (half_width.empty() || half_width.size() == count);
    Rows rows;
    for (std::size_t i = 0; sound && i < count; ++i) {
      const double half = half_width.empty() ? 0 : half_width[i];
      rows.push_back({positions[i], mean[i], mean[i] - half, mean[i] + half});
      sound = std::isfinite(positions[i]) && std::isfinite(mean[i] - half) && std::isfinite(mean[i] + half) &&
              (!text.logarithmic || mean[i] - half > 0);
    }
    if (!sound)
      refuse_data(
          fmt::format(
              "curve '{}' has {} positions, {} means and {} half widths, or numbers that cannot be drawn",
              one_line(label), positions.size(), count, half_width.size()),
          "give each position a finite mean (a positive one on a logarithmic axis), and either all half "
          "widths or none");
    add_curve(drawing, rows, line_type++ % 10 + 1, label, text.marked);
  }
  drawing.plot();
  drawing.draw(800, 500, path);
}

void draw_learning_curve(const LearningCurve& curve, const fs::path& path) {
  std::vector<NamedCurve> curves = {
      {.label = "test accuracy, outcomes drawn", .mean = curve.test_accuracy_sampled},
      {.label = "reward in training", .mean = curve.train_reward},
      {.label = "test accuracy, likeliest class", .mean = curve.test_accuracy_mean}};
  std::erase_if(curves, [](const NamedCurve& named) { return named.mean.empty(); });
  for (NamedCurve& named : curves)
    for (double& value : named.mean) {
      value *= 100;
      named.positions.push_back(static_cast<double>(named.positions.size() + 1));
    }
  compare_curves(curves, {.title = curve.title, .y_label = "right answers (%)"}, path);
}

void draw_paper_figure(const std::vector<RunResult>& results, const fs::path& path) {
  const auto [columns, labels, common_epoch, low_rate, high_rate, epochs, lowest_end] = evaluate(results);
  if (columns.empty() || columns.size() > 6)
    refuse_data(fmt::format("the figure has 1 to 6 networks, found {}", columns.size()),
                "draw the results of fewer networks at a time");
  if (labels.size() > most_methods)
    refuse_data(fmt::format("the figure has 1 to {} methods, found {}", most_methods, labels.size()),
                "draw the results of fewer methods at a time, or a table: hindsight plot --by-network");
  std::vector<NetworkKey> networks;
  for (const auto& [network, column] : columns) networks.push_back(network);
  const std::vector<std::string> panels = panel_labels(networks);
  auto panel = panels.begin();
  // The way up should not fill a panel: it begins as far below the lowest end as that is below the top.
  const double lowest = std::clamp(std::floor((2 * lowest_end - 1) * 20) * 5, 0.0, 90.0);
  const std::map<std::size_t, std::size_t> line_types = line_types_of(labels);
  double legend = 0;
  for (const auto& [method, label] : labels) legend += legend_width(label);
  // Under a panel each method has room for its best rate.
  const double panel_width = std::max(400.0, 112 + 60.0 * static_cast<double>(labels.size()));
  const double height = 800,
               width = std::max({960.0, panel_width * static_cast<double>(columns.size()), legend});
  const double gap = 32 / width, right = 1 - 22 / width;
  double left = 76 / width;
  const double step = (right - left + gap) / static_cast<double>(columns.size());
  Drawing drawing;
  drawing.add("{}\nunset key\nset multiplot layout 2,{} columnsfirst margins {},{},{},{} spacing {},{}",
              light_frame, columns.size(), left, right, 60 / height, 1 - 84 / height, gap, 108 / height);
  double x = 0.5 - legend / width / 2;
  for (const auto& [method, label] : labels) {
    drawing.legend(x, 1 - 24 / height, 36 / width, line_types.at(method), without_markup(label));
    x += legend_width(label) / width;
  }
  for (const auto& [network, column] : columns) {
    const bool first = network == columns.begin()->first;
    for (const MethodOutcome& outcome : column)
      add_sensitivity(drawing, outcome.scores, line_types.at(outcome.method));
    drawing.add(
        "set xrange [{}:{}]\nset xtics {},{}\nset format x '2^{{%.0f}}'\nset yrange [0:100]\n"
        "set label {} at graph 0.5,1.09 center font ',16'\n"
        "set label 'learning rate' at graph 0.5,-0.18 center\nset format y '{}'\nset ylabel '{}'",
        low_rate - 0.6, high_rate + 0.6, low_rate, (high_rate - low_rate) / 7 + 1,
        quoted(without_markup(*panel++)), first ? "%.0f" : "",
        first ? fmt::format("test accuracy at epoch {} (%)", common_epoch) : "");
    drawing.plot();
    drawing.add(
        "set xrange [0:{}]\nset xtics {}\nset format x '%.0f'\nset yrange [{}:100]\nset ylabel '{}'\n"
        "set label 'epoch' at graph 0.5,-0.18 center\nset label 'best rate' at screen {},screen 0.444 left",
        epochs, epochs < 6 ? "1" : "autofreq", lowest, first ? "test accuracy (%)" : "", left);
    x = left + 80 / width;
    for (const MethodOutcome& outcome : column) {
      Rows rows;
      for (const Summary& epoch : outcome.curve)
        rows.push_back(accuracy_row(static_cast<double>(rows.size() + 1), epoch, lowest));
      add_curve(drawing, rows, line_types.at(outcome.method), "");
      drawing.legend(x, 0.444, 20 / width, line_types.at(outcome.method),
                     fmt::format("2^{{{}}}", outcome.best.exponent));
      x += (step - gap - 80 / width) / std::max(4.0, static_cast<double>(column.size()));
    }
    drawing.plot();
    left += step;
  }
  drawing.add("unset multiplot");
  drawing.draw(static_cast<int>(width), static_cast<int>(height), path);
}

}  // namespace hindsight::tool
