#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/graph/topology_sketch.hpp>

#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;
using internal::Sketch;

// Populations of one unit are joined whole, those of three by some of their pairs.
TEST_CASE("a repair keeps every route and no shortcut") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    const int units = seed % 2 == 0 ? 1 : 3;
    Sketch sketch;
    for (int child = 0; child < 70 + static_cast<int>(seed); ++child) {
      Sketch::Population population{.units = units, .reads = {{.from = Sketch::input}}};
      for (int parent = 0; parent < child; ++parent) {
        Pattern::Pairs pairs;
        for (int pair = 0; pair < units * units; ++pair)
          if (dice.chance(0.08 / units)) pairs.emplace_back(pair / units, pair % units);
        if (pairs.empty()) continue;
        population.reads.push_back({.from = parent});
        if (units > 1) population.reads.back().pairs = std::move(pairs);
      }
      sketch.populations.push_back(std::move(population));
    }
    // Per unit, the units that it reads.
    const auto parents = [&] {
      std::vector<std::vector<std::size_t>> all(sketch.populations.size() * static_cast<std::size_t>(units));
      for (std::size_t child = 0; child < sketch.populations.size(); ++child)
        for (const Sketch::Link& link : sketch.populations[child].reads)
          if (link.from != Sketch::input)
            for (const auto& [from, to] : link.pairs.value_or(Pattern::Pairs{{0, 0}}))
              all[child * static_cast<std::size_t>(units) + static_cast<std::size_t>(to)].push_back(
                  static_cast<std::size_t>(link.from * units + from));
      return all;
    };
    const auto ancestors = [&] {
      const auto graph = parents();
      std::vector<std::set<std::size_t>> all(graph.size());
      for (std::size_t v = 0; v < graph.size(); ++v)
        for (const std::size_t u : graph[v]) {
          all[v].insert(u);
          all[v].insert(all[u].begin(), all[u].end());
        }
      return all;
    };
    const auto before = ancestors();
    repair(sketch);
    CHECK(ancestors() == before);
    for (const std::vector<std::size_t>& list : parents())
      for (const std::size_t u : list)
        for (const std::size_t other : list) CHECK_FALSE(before[other].contains(u));
    for (const Sketch::Population& population : sketch.populations)
      CHECK(population.reads.front().from == Sketch::input);
  }
}
