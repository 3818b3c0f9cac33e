#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include <hindsight/graph/topological_order.hpp>

#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;
using internal::topological_order, internal::TopologicalOrder;

namespace {

/// Lists of parents over numbers in no particular order; `cyclic` allows edges either way.
struct RandomLists {
  std::vector<std::size_t> begin{0};
  std::vector<std::uint32_t> parents;

  RandomLists(std::uint64_t seed, std::uint32_t count, double density, bool cyclic) {
    Dice dice(seed);
    std::vector<double> height;
    for (std::uint32_t i = 0; i < count; ++i) height.push_back(dice.uniform());
    for (std::uint32_t child = 0; child < count; ++child) {
      for (std::uint32_t parent = 0; parent < count; ++parent)
        if (parent != child && (cyclic || height[parent] < height[child]) && dice.chance(density))
          parents.push_back(parent);
      begin.push_back(parents.size());
    }
  }
  std::size_t size() const { return begin.size() - 1; }
  bool reads(std::uint32_t child, std::uint32_t parent) const {
    const std::span own = std::span(parents).subspan(begin[child], begin[child + 1] - begin[child]);
    return std::count(own.begin(), own.end(), parent) > 0;
  }
  /// Again and again the first of those whose parents are all there.
  std::vector<std::uint32_t> first_come_order() const {
    std::vector<std::uint32_t> order;
    std::vector<bool> is_in(size());
    const auto is_ready = [&](std::uint32_t vertex) {
      for (std::uint32_t parent = 0; parent < size(); ++parent)
        if (!is_in[parent] && reads(vertex, parent)) return false;
      return !is_in[vertex];
    };
    for (std::uint32_t vertex = 0; vertex < size();)
      if (is_ready(vertex)) {
        is_in[vertex] = true;
        order.push_back(vertex);
        vertex = 0;
      } else {
        ++vertex;
      }
    return order;
  }
  bool is_acyclic_to_boost() const {
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> network(size());
    for (std::uint32_t child = 0; child < size(); ++child)
      for (std::size_t e = begin[child]; e < begin[child + 1]; ++e) add_edge(parents[e], child, network);
    std::vector<std::size_t> order;
    try {
      boost::topological_sort(network, std::back_inserter(order));
    } catch (const boost::not_a_dag&) {
      return false;
    }
    return true;
  }
};

}  // namespace

TEST_CASE("the first that may come next always comes next") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const RandomLists lists(seed, 15, 0.25, false);
    const TopologicalOrder found = topological_order({lists.begin, lists.parents});
    CHECK(found.cycle.empty());
    CHECK(found.order == lists.first_come_order());
  }
}

TEST_CASE("a cycle is found wherever Boost finds no order, and is one") {
  int cyclic = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const RandomLists lists(seed, 12, 0.09, true);
    const TopologicalOrder found = topological_order({lists.begin, lists.parents});
    CHECK(found.cycle.empty() == lists.is_acyclic_to_boost());
    CHECK(found.order == lists.first_come_order());
    if (found.cycle.empty()) continue;
    ++cyclic;
    CHECK(found.cycle.front() == *std::min_element(found.cycle.begin(), found.cycle.end()));
    std::vector<std::uint32_t> members = found.cycle;
    std::sort(members.begin(), members.end());
    CHECK(std::adjacent_find(members.begin(), members.end()) == members.end());
    for (std::size_t i = 0; i < found.cycle.size(); ++i)
      CHECK(lists.reads(found.cycle[(i + 1) % found.cycle.size()], found.cycle[i]));
  }
  CHECK(cyclic > 50);
  CHECK(cyclic < 190);
}

TEST_CASE("parallel edges change no order") {
  const std::vector<std::size_t> begin{0, 3, 3, 5};
  const std::vector<std::uint32_t> parents{2, 1, 2, 1, 1};
  const TopologicalOrder found = topological_order({begin, parents});
  CHECK(found.order == std::vector<std::uint32_t>{1, 2, 0});
}

TEST_CASE("without vertices the order is empty") {
  const std::vector<std::size_t> begin{0};
  CHECK(topological_order({begin, {}}).order.empty());
}
