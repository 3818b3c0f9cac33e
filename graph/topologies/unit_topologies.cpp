// Topologies in which every unit is a node of its own: random order, small world, preferential attachment,
// tree, butterfly.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include <hindsight/graph/topology_sketch.hpp>

namespace hindsight::internal {
namespace {

Sketch empty_sketch() { return {.populations = {}, .first_name = 0}; }

int count(const Sketch& sketch) { return static_cast<int>(sketch.populations.size()); }

void add_unit(Sketch& sketch, std::vector<int> parents) {
  std::sort(parents.begin(), parents.end());
  Sketch::Population unit;
  for (const int parent : parents) unit.reads.push_back({parent, {}});
  sketch.populations.push_back(std::move(unit));
}

/// Which units read the input, and which the output reads, besides those that must.
template <class Options>
Sketch with_shares(Sketch sketch, const Options& options) {
  for (int i = 0; i < count(sketch); ++i) {
    Sketch::Population& unit = sketch.populations[static_cast<std::size_t>(i)];
    unit.reads_input = Choices(options.seed, Choices::About::input_share, i).chance(options.input_share);
    unit.feeds_output = Choices(options.seed, Choices::About::output_share, i).chance(options.output_share);
  }
  return sketch;
}

bool contains(const std::vector<int>& list, int unit) {
  return std::find(list.begin(), list.end(), unit) != list.end();
}

/// So many units, each with about so many hidden parents; of the founders, which have none, all read the
/// input.
template <class Options>
Extent shared_extent(const Options& options, double parents, double founders, int inputs) {
  const double units = options.units, links = units * std::min(parents, units);
  Extent extent{.units = units, .nodes = units, .links = links, .dense = links};
  extent.read_input(inputs, std::min(units, units * options.input_share + founders), options.input_density);
  return extent;
}

/// Joins all pairs with one probability, so that a unit has the mean number of parents that was asked for.
double probability(const topologies::RandomOrder& options) {
  return options.units == 1 ? 0 : std::min(1.0, 2 * options.parents / (options.units - 1));
}

/// The units that lie nearest to a position of the ring; `ring` has at least as many, by position.
std::vector<int> nearest(const std::map<int, int>& ring, int position, int wanted, int size) {
  std::vector<int> units;
  auto right = ring.lower_bound(position), left = right;
  while (static_cast<int>(units.size()) < wanted) {
    if (right == ring.end()) right = ring.begin();
    const auto before = std::prev(left == ring.begin() ? ring.end() : left);
    const int to_right = (right->first - position + size) % size;
    const int to_left = (position - before->first + size) % size;
    if (to_right <= to_left) {
      units.push_back(right->second);
      ++right;
    } else {
      units.push_back(before->second);
      left = before;
    }
  }
  return units;
}

/// Levels of the butterfly above the one that reads the input.
int butterfly_levels(const topologies::Butterfly& options) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(options.width) - 1));
}

}  // namespace

// h0, h1, … in order; each earlier unit is a parent or not
Sketch sketch(const topologies::RandomOrder& options, int) {
  Sketch sketch = empty_sketch();
  const double p = probability(options);
  for (int unit = 0; unit < options.units; ++unit) {
    Choices choices(options.seed, Choices::About::wiring, unit);
    std::vector<int> parents;
    for (int earlier = 0; earlier < unit; ++earlier)
      if (choices.chance(p)) parents.push_back(earlier);
    add_unit(sketch, std::move(parents));
  }
  return with_shares(std::move(sketch), options);
}

Extent extent(const topologies::RandomOrder& options, int inputs) {
  const double units = options.units, p = probability(options);
  const double founders = p > 0 ? 1 / p : units;  // Σ (1-p)^unit: those that come out without parents
  Extent extent = shared_extent(options, p * (units - 1) / 2, founders, inputs);
  extent.draws += units * units / 2;
  return extent;
}

// The order in which units come is random on the ring. Were it the ring's own, every unit would descend from
// all before it, and only a chain would satisfy Assumption 1.
Sketch sketch(const topologies::SmallWorld& options, int) {
  Sketch sketch = empty_sketch();
  std::vector<int> positions(static_cast<std::size_t>(options.units));
  std::iota(positions.begin(), positions.end(), 0);
  Choices order(options.seed, Choices::About::order);
  for (int i = options.units - 1; i > 0; --i)
    std::swap(positions[static_cast<std::size_t>(i)],
              positions[static_cast<std::size_t>(order.below(i + 1))]);
  std::map<int, int> ring;
  for (int unit = 0; unit < options.units; ++unit) {
    const int position = positions[static_cast<std::size_t>(unit)];
    std::vector<int> parents;
    if (unit >= options.neighbours) parents = nearest(ring, position, options.neighbours, options.units);
    Choices choices(options.seed, Choices::About::wiring, unit);
    for (int& parent : parents) {
      if (!choices.chance(options.rewire) || static_cast<int>(parents.size()) == unit) continue;
      int other = choices.below(unit);
      while (contains(parents, other)) other = choices.below(unit);
      parent = other;
    }
    add_unit(sketch, std::move(parents));
    ring.emplace(position, unit);
  }
  return with_shares(std::move(sketch), options);
}

Extent extent(const topologies::SmallWorld& options, int inputs) {
  return shared_extent(options, options.neighbours, options.neighbours, inputs);
}

// A unit is listed once, and once more for each that reads it: to draw from the list is to prefer those with
// many.
Sketch sketch(const topologies::Preferential& options, int) {
  Sketch sketch = empty_sketch();
  std::vector<int> list;
  for (int unit = 0; unit < options.units; ++unit) {
    Choices choices(options.seed, Choices::About::wiring, unit);
    std::vector<int> parents;
    while (unit >= options.parents && static_cast<int>(parents.size()) < options.parents) {
      const int other = list[static_cast<std::size_t>(choices.below(static_cast<int>(list.size())))];
      if (!contains(parents, other)) parents.push_back(other);
    }
    list.push_back(unit);
    list.insert(list.end(), parents.begin(), parents.end());
    add_unit(sketch, std::move(parents));
  }
  return with_shares(std::move(sketch), options);
}

Extent extent(const topologies::Preferential& options, int inputs) {
  Extent extent = shared_extent(options, options.parents, options.parents, inputs);
  extent.draws += extent.links;
  return extent;
}

// x ─→ h0 ─→ h4 ─→ h6 ─→ output      two levels of pairs; the leaves are numbered first
//  ├─→ h1 ─↗      ↗
//  ├─→ h2 ─→ h5 ─↗
//  └─→ h3 ─↗
Sketch sketch(const topologies::Tree& options, int) {
  Sketch sketch = empty_sketch();
  int width = options.roots;
  for (int level = 1; level < options.depth; ++level) width *= options.branching;
  for (int leaf = 0; leaf < width; ++leaf) add_unit(sketch, {});
  for (int level = 1; level < options.depth; ++level) {
    const int below = count(sketch) - width;
    width /= options.branching;
    for (int unit = 0; unit < width; ++unit) {
      std::vector<int> parents(static_cast<std::size_t>(options.branching));
      std::iota(parents.begin(), parents.end(), below + unit * options.branching);
      add_unit(sketch, std::move(parents));
    }
  }
  return sketch;
}

Extent extent(const topologies::Tree& options, int inputs) {
  Extent extent;
  double width = options.roots;
  for (int level = 0; level < options.depth; ++level, width *= options.branching) extent.units += width;
  const double leaves = width / options.branching;
  extent.nodes = extent.units;
  extent.links = extent.dense = extent.units - options.roots;
  extent.read_input(inputs, leaves, options.input_density);
  return extent;
}

// h0 ─→ h4 ─→ h8  ─→ output      of a level's units i, each reads i and i ± 1 below it, then i and i ± 2, …
// h1 ─→ h5 ─→ h9  ─↗
// h2 ─→ h6 ─→ h10 ─↗
// h3 ─→ h7 ─→ h11 ─↗
Sketch sketch(const topologies::Butterfly& options, int) {
  Sketch sketch = empty_sketch();
  const int units = options.copies * options.width;
  for (int unit = 0; unit < units; ++unit) add_unit(sketch, {});
  for (int level = 0; level < butterfly_levels(options); ++level)
    for (int unit = 0; unit < units; ++unit) {
      const int place = unit % options.width;
      // Where the width is no power of two, partners beyond it are found by going round.
      const int partner = (place ^ 1 << level) % options.width;
      add_unit(sketch, {level * units + unit, level * units + unit - place + partner});
    }
  return sketch;
}

Extent extent(const topologies::Butterfly& options, int inputs) {
  const double units = static_cast<double>(options.copies) * options.width,
               levels = butterfly_levels(options);
  Extent extent{.units = units * (levels + 1), .nodes = units * (levels + 1)};
  extent.links = extent.dense = 2 * units * levels;
  extent.read_input(inputs, units, options.input_density);
  return extent;
}

}  // namespace hindsight::internal
