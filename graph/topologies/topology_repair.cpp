#include <algorithm>
#include <cstddef>
#include <utility>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/parent_graph.hpp>
#include <hindsight/graph/reachability.hpp>
#include <hindsight/graph/topology_sketch.hpp>

namespace hindsight::internal {
namespace {

/// Those edges, (child, parent) in any order, that a longer route accompanies. Only edges across more than
/// one level can be.
EdgesAtFault shortcuts(std::size_t vertices, EdgeList edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const ParentGraph dag{rows_of(edges, vertices), {}};
  std::vector<int> level(vertices, 0);
  std::vector<Vertex> last_child(vertices, 0);  // 0, which is nobody's child: none across more than one level
  for (Vertex child = 0; child < vertices; ++child) {
    for (const Vertex parent : dag.parents_of(child))
      level[child] = std::max(level[child], level[parent] + 1);
    for (const Vertex parent : dag.parents_of(child))
      if (level[child] > level[parent] + 1) last_child[parent] = child;
  }
  std::vector<Source> sources;
  for (Vertex vertex = 0; vertex < vertices; ++vertex)
    if (last_child[vertex] > 0) sources.push_back({vertex, last_child[vertex]});
  return {dag, std::move(sources)};
}

void repair_populations(Sketch& sketch) {
  EdgeList edges;
  for (std::size_t i = 0; i < sketch.populations.size(); ++i)
    for (const Sketch::Link& link : sketch.populations[i].reads)
      if (link.from != Sketch::input)
        edges.emplace_back(static_cast<Vertex>(i), static_cast<Vertex>(link.from));
  const EdgesAtFault at_fault = shortcuts(sketch.populations.size(), std::move(edges));
  for (std::size_t i = 0; i < sketch.populations.size(); ++i)
    std::erase_if(sketch.populations[i].reads, [&](const Sketch::Link& link) {
      return link.from != Sketch::input &&
             at_fault.contains(static_cast<Vertex>(link.from), static_cast<Vertex>(i));
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
  std::vector<Vertex> first;
  std::size_t count = 0;
  for (const Sketch::Population& population : sketch.populations) {
    first.push_back(static_cast<Vertex>(count));
    count += index(population.units);
  }
  const auto vertex = [&](std::size_t population, int unit) {
    return first[population] + static_cast<Vertex>(unit);
  };
  EdgeList edges;
  for (std::size_t i = 0; i < first.size(); ++i)
    for (const Sketch::Link& link : sketch.populations[i].reads)
      if (link.from != Sketch::input)
        for_each_pair(sketch, link, sketch.populations[i].units, [&](int from, int to) {
          edges.emplace_back(vertex(i, to), vertex(index(link.from), from));
        });
  const EdgesAtFault at_fault = shortcuts(count, std::move(edges));
  for (std::size_t i = 0; i < first.size(); ++i) {
    Sketch::Population& population = sketch.populations[i];
    for (Sketch::Link& link : population.reads) {
      if (link.from == Sketch::input) continue;
      Pattern::Pairs kept;
      for_each_pair(sketch, link, population.units, [&](int from, int to) {
        if (!at_fault.contains(vertex(index(link.from), from), vertex(i, to))) kept.emplace_back(from, to);
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

void repair(Sketch& sketch) {
  if (is_dense(sketch))
    repair_populations(sketch);
  else
    repair_units(sketch);
}

}  // namespace hindsight::internal
