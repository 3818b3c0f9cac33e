#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/topology_sketch.hpp>

namespace hindsight::internal {
namespace {

using topologies::Lattice;

/// Maps of one level, each of rows × columns units, row after row.
struct Level {
  int maps, rows, columns;
  int unit(int map, int row, int column) const { return (map * rows + row) * columns + column; }
  double units() const { return static_cast<double>(maps) * rows * columns; }
};

/// Windows along one axis. The last is moved back to the border, so that all units are read if the stride
/// does not exceed the window.
struct Axis {
  Axis(int below, const Lattice& options)
      : width(std::min(options.window, below)),
        stride(options.stride),
        last(below - width),
        count((last + stride - 1) / stride + 1) {}
  int start(int window) const {
    return static_cast<int>(std::min<std::int64_t>(last, std::int64_t{window} * stride));
  }
  int width, stride, last, count;
};

Level image(const Lattice& options, int inputs) {
  const int columns = options.width > 0
                          ? options.width
                          : static_cast<int>(std::lround(std::sqrt(static_cast<double>(inputs))));
  const int rows = inputs / columns;
  if (rows * columns == inputs && (options.width > 0 || rows == columns)) return {1, rows, columns};
  refuse(
      {.code = "topology-input",
       .message = options.width > 0
                      ? fmt::format("a lattice over {} inputs cannot have rows of {}", inputs, columns)
                      : fmt::format("a lattice over {} inputs needs the width of the image: {} is no square",
                                    inputs, inputs),
       .help = {"lattice:width=28   # a divisor of the number of inputs"}});
}

Level above(const Level& below, const Lattice& options) {
  return {options.maps, Axis(below.rows, options).count, Axis(below.columns, options).count};
}

/// The window is as large as the map below: every unit reads all of it.
bool covers(const Level& below, const Lattice& options) {
  return below.rows <= options.window && below.columns <= options.window;
}

double pairs_between(const Level& below, const Level& level, const Lattice& options) {
  return level.units() * Axis(below.rows, options).width * Axis(below.columns, options).width * below.maps;
}

Sketch::Link windows(const Level& below, const Level& level, int from, const Lattice& options) {
  const double density = from == Sketch::input ? options.input_density : options.density;
  const auto about = from == Sketch::input ? Choices::About::input_wiring : Choices::About::wiring;
  if (density == 1 && covers(below, options)) return {from, {}};
  const Axis down(below.rows, options), across(below.columns, options);
  Pattern::Pairs pairs;
  const auto read_window = [&](int unit, int top, int left) {
    Choices choices(options.seed, about, from + 1, unit);
    const std::size_t before = pairs.size();
    for (int map = 0; map < below.maps; ++map)
      for (int row = top; row < top + down.width; ++row)
        for (int column = left; column < left + across.width; ++column)
          if (density == 1 || choices.chance(density)) pairs.emplace_back(below.unit(map, row, column), unit);
    if (pairs.size() == before)
      pairs.emplace_back(below.unit(choices.below(below.maps), top + choices.below(down.width),
                                    left + choices.below(across.width)),
                         unit);
  };
  for (int map = 0; map < level.maps; ++map)
    for (int row = 0; row < level.rows; ++row)
      for (int column = 0; column < level.columns; ++column)
        read_window(level.unit(map, row, column), down.start(row), across.start(column));
  return {from, std::move(pairs)};
}

}  // namespace

// x ▦ ─→ h1 ▦▦▦▦ ─→ h2 ▪▪▪▪ ─→ output
Sketch sketch(const Lattice& options, int inputs) {
  Sketch sketch;
  Level below = image(options, inputs);
  for (int i = 0; i < options.depth; ++i) {
    const Level level = above(below, options);
    sketch.populations.push_back({.units = static_cast<int>(level.units()), .reads = {}});
    sketch.populations.back().reads.push_back(windows(below, level, i - 1, options));
    below = level;
  }
  return sketch;
}

Extent extent(const Lattice& options, int inputs) {
  Extent extent;
  Level below = image(options, inputs);
  for (int i = 0; i < options.depth; ++i) {
    const Level level = above(below, options);
    const double density = i == 0 ? options.input_density : options.density;
    const double pairs = pairs_between(below, level, options);
    extent.units += level.units();
    ++extent.nodes;
    ++extent.links;
    if (density == 1 && covers(below, options)) {
      extent.dense += pairs;
    } else {
      extent.sparse += pairs * density;
      if (i > 0) extent.hidden_sparse += pairs * density;
      extent.draws += pairs;
    }
    below = level;
  }
  return extent;
}

}  // namespace hindsight::internal
