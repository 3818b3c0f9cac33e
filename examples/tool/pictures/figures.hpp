#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/results.hpp"
#include "tool/statistics.hpp"

namespace hindsight::tool {

/// One run by epoch, each value from 0 to 1. A list without numbers is left out.
struct LearningCurve {
  std::string title = {};
  std::vector<double> train_reward = {};
  std::vector<double> test_accuracy_sampled = {};
  std::vector<double> test_accuracy_mean = {};
};

/// A line of means with a band around it.
struct NamedCurve {
  std::string label = {};
  std::vector<double> positions = {};   ///< along the axis: epochs, levels, …
  std::vector<double> mean = {};        ///< as many
  std::vector<double> half_width = {};  ///< as many, or none: no band
};

struct FigureText {
  std::string title = {};
  std::string y_label = {};
  std::string x_label = "epoch";
  bool logarithmic = false;  ///< the axis of the means, which must be positive then
  bool marked = false;       ///< every point, so that curves on top of each other can be told apart
};

// Every figure is drawn twice by gnuplot: as `path` + ".svg" and, at twice the size, as `path` + ".png".
// Codes: "gnuplot" if that cannot be run, "figure-data" if there is nothing to draw or too much,
// "file-not-written", and "figure-write" where no temporary file can be.

/// The two files of a figure; none for an empty path.
std::vector<std::filesystem::path> figure_files(const std::filesystem::path& path);

void draw_learning_curve(const LearningCurve&, const std::filesystem::path&);

inline constexpr std::size_t most_curves = 12;
/// Up to that many curves in one panel; the first four take the colours of the paper, in the order of its
/// legend.
void compare_curves(const std::vector<NamedCurve>&, const FigureText&, const std::filesystem::path&);

/// The paper's figure, with a column for each of up to 6 networks and up to 10 methods. Above, accuracy by
/// learning rate at the last epoch that every run was asked for; below, learning curves at each method's best
/// rate.
void draw_paper_figure(const std::vector<RunResult>&, const std::filesystem::path&);

}  // namespace hindsight::tool
