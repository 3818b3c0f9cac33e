// Topologies of populations: layered, skip, towers, autoregressive.
#include <algorithm>
#include <cstddef>
#include <utility>

#include <hindsight/graph/topology_sketch.hpp>

namespace hindsight::internal {
namespace {

/// Adds populations whose edges all have one density.
class Populations {
 public:
  template <class Options>
  explicit Populations(const Options& options) : density_(options.density), seed_(options.seed) {}

  /// Its number, for those that read it.
  int add(Sketch::Population population, const std::vector<int>& parents) {
    for (const int parent : parents) {
      Sketch::Link link{parent, wire(parent, population.units)};
      if (!link.pairs || !link.pairs->empty()) population.reads.push_back(std::move(link));
    }
    units_ += population.units;
    sketch_.populations.push_back(std::move(population));
    return static_cast<int>(sketch_.populations.size()) - 1;
  }

  /// Lets the output read the population besides those that it must read.
  void feed_output(int population) {
    sketch_.populations[static_cast<std::size_t>(population)].feeds_output = true;
  }

  Sketch finish() { return std::move(sketch_); }

 private:
  std::optional<Pattern::Pairs> wire(int parent, int child_units) const {
    if (density_ == 1) return std::nullopt;
    Pattern::Pairs pairs;
    for (int to = 0; to < child_units; ++to) {
      Choices choices(seed_, Choices::About::wiring, parent, units_ + to);
      for (int from = 0; from < sketch_.populations[static_cast<std::size_t>(parent)].units; ++from)
        if (choices.chance(density_)) pairs.emplace_back(from, to);
    }
    return pairs;
  }

  double density_;
  std::uint64_t seed_;
  Sketch sketch_;
  int units_ = 0;  ///< of all populations so far
};

/// Populations of one size, before anything is joined.
Extent populations(double count, double units) { return {.units = count * units, .nodes = count}; }

/// So many edges between populations of one size.
void join(Extent& extent, double edges, double units, double density) {
  extent.links += edges;
  extent.join(edges * units * units, density);
}

}  // namespace

// x ─→ h1 ─→ h2 ─→ … ─→ output
Sketch sketch(const topologies::Layered& options, int) {
  Populations populations(options);
  int last = populations.add({.units = options.units}, {});
  for (int layer = 1; layer < options.depth; ++layer)
    last = populations.add({.units = options.units}, {last});
  return populations.finish();
}

Extent extent(const topologies::Layered& options, int inputs) {
  Extent extent = populations(options.depth, options.units);
  extent.read_input(inputs, options.units, options.input_density);
  join(extent, options.depth - 1, options.units, options.density);
  return extent;
}

//      ┌──────────↘
// x ─→ h1 ─→ h2 ─→ h3 ─→ … ─→ output
// └──────────↗
Sketch sketch(const topologies::Skip& options, int) {
  Populations populations(options);
  int before = populations.add({.units = options.units}, {}), last = before;
  for (int layer = 1; layer < options.depth; ++layer) {
    std::vector<int> parents{last};
    if (layer > 1) parents.push_back(before);
    before =
        std::exchange(last, populations.add({.units = options.units, .reads_input = layer == 1}, parents));
  }
  populations.feed_output(before);
  populations.feed_output(last);
  return populations.finish();
}

Extent extent(const topologies::Skip& options, int inputs) {
  Extent extent = populations(options.depth, options.units);
  extent.read_input(inputs, static_cast<double>(options.units) * std::min(options.depth, 2),
                    options.input_density);
  join(extent, std::max(0.0, 2.0 * options.depth - 3), options.units, options.density);
  return extent;
}

// x ─→ h1 ──────────────→ output
// ├──→ h2 ─→ h3 ────────↗
// └──→ h4 ─→ h5 ─→ h6 ──↗
Sketch sketch(const topologies::Towers& options, int) {
  Populations populations(options);
  for (int tower = 1; tower <= options.towers; ++tower) {
    int last = populations.add({.units = options.units}, {});
    for (int layer = 1; layer < tower; ++layer) last = populations.add({.units = options.units}, {last});
  }
  return populations.finish();
}

Extent extent(const topologies::Towers& options, int inputs) {
  const double towers = options.towers;
  Extent extent = populations(towers * (towers + 1) / 2, options.units);
  extent.read_input(inputs, towers * options.units, options.input_density);
  join(extent, towers * (towers - 1) / 2, options.units, options.density);
  return extent;
}

//      ┌──────────────────↘
// x ─→ h1 ─→ h2 ─→ … ─→ output
// └──────────↗ └──────────↗
Sketch sketch(const topologies::Autoregressive& options, int) {
  Populations populations(options);
  std::vector<int> all;
  all.reserve(static_cast<std::size_t>(options.depth));
  for (int i = 0; i < options.depth; ++i)
    all.push_back(populations.add({.units = options.units, .reads_input = true, .feeds_output = true}, all));
  return populations.finish();
}

Extent extent(const topologies::Autoregressive& options, int inputs) {
  const double depth = options.depth;
  Extent extent = populations(depth, options.units);
  extent.read_input(inputs, depth * options.units, options.input_density);
  join(extent, depth * (depth - 1) / 2, options.units, options.density);
  return extent;
}

}  // namespace hindsight::internal
