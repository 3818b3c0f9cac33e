#include "dags.hpp"

#include <algorithm>
#include <random>
#include <set>

namespace hindsight::benchmarks {
namespace {

/// Not a std distribution: those differ from one standard library to the next.
int below(std::mt19937_64& rng, int bound) {
  return static_cast<int>(rng() % static_cast<std::uint64_t>(bound));
}

/// How many parents a node gets if the edges are shared out evenly among the nodes that may have some.
int share(std::size_t edges, int nodes, int node) {
  const auto before = [&](int n) {
    return static_cast<int>(edges * static_cast<std::size_t>(n) / static_cast<std::size_t>(nodes));
  };
  return before(node + 1) - before(node);
}

}  // namespace

std::size_t Dag::edges() const {
  std::size_t count = 0;
  for (const std::vector<int>& list : parents) count += list.size();
  return count;
}

int Dag::levels() const {
  std::vector<int> level(parents.size(), 1);
  for (std::size_t node = 0; node < parents.size(); ++node)
    for (const int parent : parents[node])
      level[node] = std::max(level[node], level[static_cast<std::size_t>(parent)] + 1);
  return *std::max_element(level.begin(), level.end());
}

std::vector<int> Dag::sinks() const {
  std::vector<bool> is_read(parents.size());
  for (const std::vector<int>& list : parents)
    for (const int parent : list) is_read[static_cast<std::size_t>(parent)] = true;
  std::vector<int> sinks;
  for (std::size_t node = 0; node < parents.size(); ++node)
    if (!is_read[node]) sinks.push_back(static_cast<int>(node));
  return sinks;
}

Dag shallow_dag(int nodes, int levels, std::size_t edges) {
  std::mt19937_64 rng(1);
  Dag dag{std::vector<std::vector<int>>(static_cast<std::size_t>(nodes))};
  const int width = nodes / levels;
  for (int node = width; node < nodes; ++node) {
    const int first = node / width * width;  // of this node's level
    std::set<int> chosen{first - width + below(rng, width)};
    const auto wanted = static_cast<std::size_t>(share(edges, nodes - width, node - width));
    while (chosen.size() < wanted) chosen.insert(below(rng, first));
    dag.parents[static_cast<std::size_t>(node)].assign(chosen.begin(), chosen.end());
  }
  return dag;
}

Dag random_dag(int nodes, std::size_t edges) {
  std::mt19937_64 rng(2);
  std::vector<std::set<int>> chosen(static_cast<std::size_t>(nodes));
  for (std::size_t found = 0; found < edges;) {
    const int one = below(rng, nodes), other = below(rng, nodes);
    if (one != other &&
        chosen[static_cast<std::size_t>(std::max(one, other))].insert(std::min(one, other)).second)
      ++found;
  }
  Dag dag;
  for (const std::set<int>& set : chosen) dag.parents.emplace_back(set.begin(), set.end());
  return dag;
}

Dag small_world_dag(int nodes, int levels, std::size_t edges, double rewired) {
  std::mt19937_64 rng(3);
  Dag dag{std::vector<std::vector<int>>(static_cast<std::size_t>(nodes))};
  const int width = nodes / levels;
  for (int node = width; node < nodes; ++node) {
    const int first = node / width * width, place = node - first;
    const int wanted = share(edges, nodes - width, node - width);
    std::set<int> chosen;
    for (int i = 0; i < wanted; ++i) {
      const int near = first - width + (place + i - wanted / 2 + width) % width;
      if (static_cast<double>(rng() >> 11) * 0x1p-53 >= rewired) chosen.insert(near);
    }
    while (chosen.size() < static_cast<std::size_t>(wanted)) chosen.insert(below(rng, first));
    dag.parents[static_cast<std::size_t>(node)].assign(chosen.begin(), chosen.end());
  }
  return dag;
}

Dag bounded_dag(int nodes, int fan, int window) {
  std::mt19937_64 rng(1);
  Dag dag{std::vector<std::vector<int>>(static_cast<std::size_t>(nodes))};
  std::vector<int> readers(static_cast<std::size_t>(nodes), 0);
  constexpr int tries = 64;  // where all before it have enough readers, a node reads fewer
  for (int node = 1; node < nodes; ++node) {
    std::set<int> chosen;
    for (int i = 0; i < tries && static_cast<int>(chosen.size()) < fan; ++i) {
      const int parent = node - 1 - below(rng, std::min(node, window));
      int& count = readers[static_cast<std::size_t>(parent)];
      if (count < fan && chosen.insert(parent).second) ++count;
    }
    dag.parents[static_cast<std::size_t>(node)].assign(chosen.begin(), chosen.end());
  }
  return dag;
}

Dag local_dag(int nodes, int parents, int window) {
  std::mt19937_64 rng(4);
  Dag dag{std::vector<std::vector<int>>(static_cast<std::size_t>(nodes))};
  for (int node = 1; node < nodes; ++node) {
    const int near = std::min(node, window);
    std::set<int> chosen;
    while (static_cast<int>(chosen.size()) < std::min(parents, near))
      chosen.insert(node - 1 - below(rng, near));
    dag.parents[static_cast<std::size_t>(node)].assign(chosen.begin(), chosen.end());
  }
  return dag;
}

}  // namespace hindsight::benchmarks
