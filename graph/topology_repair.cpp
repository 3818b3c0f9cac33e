#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <hindsight/graph/topology_sketch.hpp>

namespace hindsight {
namespace {

std::size_t index(int number) { return static_cast<std::size_t>(number); }

using Parents = std::vector<std::vector<int>>;

bool contains(const std::vector<int>& sorted, int vertex) {
  return std::binary_search(sorted.begin(), sorted.end(), vertex);
}

void repair_populations(Sketch& sketch) {
  Parents parents;
  for (const Sketch::Population& population : sketch.populations) {
    parents.emplace_back();
    for (const Sketch::Link& link : population.reads)
      if (link.from != Sketch::input) parents.back().push_back(link.from);
  }
  remove_shortcuts(parents);
  for (std::size_t i = 0; i < parents.size(); ++i)
    std::erase_if(sketch.populations[i].reads, [&](const Sketch::Link& link) {
      return link.from != Sketch::input && !contains(parents[i], link.from);
    });
}

/// All pairs of the link, also if it is dense.
template <class Visit>
void for_each_pair(const Sketch& sketch, const Sketch::Link& link, int child_units, const Visit& visit) {
  if (link.pairs) {
    for (const auto& [from, to] : *link.pairs) visit(from, to);
    return;
  }
  for (int to = 0; to < child_units; ++to)
    for (int from = 0; from < sketch.populations[index(link.from)].units; ++from) visit(from, to);
}

void repair_units(Sketch& sketch) {
  std::vector<int> first;
  int count = 0;
  for (const Sketch::Population& population : sketch.populations) {
    first.push_back(count);
    count += population.units;
  }
  Parents parents(index(count));
  for (std::size_t i = 0; i < first.size(); ++i)
    for (const Sketch::Link& link : sketch.populations[i].reads)
      if (link.from != Sketch::input)
        for_each_pair(sketch, link, sketch.populations[i].units, [&](int from, int to) {
          parents[index(first[i] + to)].push_back(first[index(link.from)] + from);
        });
  remove_shortcuts(parents);
  for (std::size_t i = 0; i < first.size(); ++i) {
    Sketch::Population& population = sketch.populations[i];
    for (Sketch::Link& link : population.reads) {
      if (link.from == Sketch::input) continue;
      Pattern::Pairs kept;
      for_each_pair(sketch, link, population.units, [&](int from, int to) {
        if (contains(parents[index(first[i] + to)], first[index(link.from)] + from))
          kept.emplace_back(from, to);
      });
      const std::size_t all = index(population.units) * index(sketch.populations[index(link.from)].units);
      if (kept.size() < all)
        link.pairs = std::move(kept);
      else
        link.pairs.reset();
    }
    std::erase_if(population.reads,
                  [](const Sketch::Link& link) { return link.pairs && link.pairs->empty(); });
  }
}

bool is_dense(const Sketch& sketch) {
  for (const Sketch::Population& population : sketch.populations)
    for (const Sketch::Link& link : population.reads)
      if (link.from != Sketch::input && link.pairs) return false;
  return true;
}

}  // namespace

void remove_shortcuts(Parents& parents) {
  const std::size_t words = (parents.size() + 63) / 64;
  std::vector<std::vector<std::uint64_t>> ancestors(parents.size(), std::vector<std::uint64_t>(words, 0));
  for (std::size_t vertex = 0; vertex < parents.size(); ++vertex) {
    // Whoever has a longer route to the vertex has one through a later parent, which is met first.
    std::vector<int>& list = parents[vertex];
    std::sort(list.rbegin(), list.rend());
    std::vector<std::uint64_t>& reached = ancestors[vertex];
    std::vector<int> kept;
    for (const int parent : list) {
      const std::uint64_t bit = std::uint64_t{1} << (index(parent) % 64);
      if (reached[index(parent) / 64] & bit) continue;
      kept.push_back(parent);
      reached[index(parent) / 64] |= bit;
      for (std::size_t word = 0; word <= index(parent) / 64; ++word)
        reached[word] |= ancestors[index(parent)][word];
    }
    list.assign(kept.rbegin(), kept.rend());
  }
}

void repair(Sketch& sketch) {
  if (is_dense(sketch))
    repair_populations(sketch);
  else
    repair_units(sketch);
}

}  // namespace hindsight
