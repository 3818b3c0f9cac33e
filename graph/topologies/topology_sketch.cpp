#include <hindsight/graph/topology_sketch.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/index.hpp>
#include <hindsight/core/random.hpp>
#include <hindsight/core/report.hpp>

namespace hindsight::internal {
namespace {

using internal::index;

/// Per unit of the population: does it read anything?
std::vector<bool> readers(const Sketch::Population& population) {
  std::vector<bool> reads(index(population.units), false);
  for (const Sketch::Link& link : population.reads) {
    if (!link.pairs) return std::vector<bool>(reads.size(), true);
    for (const auto& [from, to] : *link.pairs) reads[index(to)] = true;
  }
  return reads;
}

/// Per population and unit: does a hidden one read it?
std::vector<std::vector<bool>> read_units(const Sketch& sketch) {
  std::vector<std::vector<bool>> read;
  for (const Sketch::Population& population : sketch.populations)
    read.emplace_back(index(population.units), false);
  for (const Sketch::Population& population : sketch.populations)
    for (const Sketch::Link& link : population.reads) {
      if (link.from == Sketch::input) continue;
      if (!link.pairs)
        read[index(link.from)].assign(read[index(link.from)].size(), true);
      else
        for (const auto& [from, to] : *link.pairs) read[index(link.from)][index(from)] = true;
    }
  return read;
}

/// Those units of the population that must read the input.
std::optional<Sketch::Link> input_link(const Sketch::Population& population, int number_of_first_unit,
                                       int inputs, double density, std::uint64_t seed) {
  const std::vector<bool> reads = readers(population);
  const auto needs = [&](int unit) { return population.reads_input || !reads[index(unit)]; };
  int count = 0;
  for (int unit = 0; unit < population.units; ++unit) count += needs(unit);
  if (count == 0) return std::nullopt;
  if (count == population.units && density == 1) return Sketch::Link{};
  Pattern::Pairs pairs;
  for (int unit = 0; unit < population.units; ++unit) {
    if (!needs(unit)) continue;
    Choices choices(seed, Choices::About::input_wiring, number_of_first_unit + unit);
    const std::size_t before = pairs.size();
    for (int from = 0; from < inputs; ++from)
      if (choices.chance(density)) pairs.emplace_back(from, unit);
    if (pairs.size() == before) pairs.emplace_back(choices.below(inputs), unit);
  }
  return Sketch::Link{Sketch::input, std::move(pairs)};
}

/// The node is what the caller's function made of so many units.
AnyNode hidden_node(const TopologyParts& parts, const std::string& name, int units) {
  return internal::guarded_call({"node-threw", &name, "TopologyParts::hidden"},
                                [&] { return parts.hidden(units); });
}

void check_units(const Graph& graph, NodeId node, int asked) {
  const int made = graph.shape(node).units;
  if (made != asked)
    refuse({.code = "topology-parts",
            .node = graph.name(node),
            .message = fmt::format("TopologyParts::hidden({}) made a node of {} units", asked, made),
            .help = {".hidden = [](int units) { return Bernoulli{.units = units}; }"}});
}

/// A pattern speaks of the output's units, whose number the output knows once it has seen its parents.
int output_units(const Graph& graph, const AnyNode& output, const std::vector<NodeId>& parents) {
  std::vector<ParentShape> shapes;
  for (const NodeId parent : parents) shapes.push_back(graph.parent_shape({parent, nullptr}));
  const std::string name = "output";
  return internal::guarded_call({"node-threw", &name, "its shape"},
                                [&] { return output.shape(shapes).units; });
}

std::vector<Edge> output_edges(const Graph& graph, const Sketch::Population& output, const AnyNode& node,
                               const std::vector<NodeId>& nodes) {
  std::vector<NodeId> parents;
  for (const Sketch::Link& link : output.reads) parents.push_back(nodes[index(link.from)]);
  const int units = output_units(graph, node, parents);
  std::vector<Edge> edges;
  for (const Sketch::Link& link : output.reads) {
    Pattern::Pairs pairs;
    if (link.pairs)
      for (const auto& [from, only] : *link.pairs)
        for (int unit = 0; unit < units; ++unit) pairs.emplace_back(from, unit);
    edges.emplace_back(nodes[index(link.from)],
                       link.pairs ? Pattern::pairs(std::move(pairs)) : Pattern::dense());
  }
  return edges;
}

}  // namespace

std::uint32_t Choices::word() {
  if (count_ % 4 == 0)
    words_ =
        philox(seed_, {stream_word(Purpose::topology, static_cast<std::uint32_t>(about_)),
                       static_cast<std::uint32_t>(first_), static_cast<std::uint32_t>(second_), count_ / 4});
  return words_[count_++ % 4];
}

bool Choices::chance(double probability) { return to_uniform<double>(word()) < probability; }

int Choices::below(int bound) {
  return static_cast<int>(static_cast<std::uint64_t>(word()) * static_cast<std::uint64_t>(bound) >> 32);
}

void Extent::read_input(double inputs, double readers, double density) {
  if (density == 1) {
    dense += inputs * readers;
  } else {
    sparse += inputs * readers * density;
    draws += inputs * readers;
  }
}

void Extent::join(double pairs, double density) {
  if (density == 1) {
    dense += pairs;
  } else {
    sparse += pairs * density;
    hidden_sparse += pairs * density;
    draws += pairs;
  }
}

void connect(Sketch& sketch, int inputs, double input_density, std::uint64_t seed) {
  int first_unit = 0;
  for (Sketch::Population& population : sketch.populations) {
    if (auto link = input_link(population, first_unit, inputs, input_density, seed))
      population.reads.push_back(std::move(*link));
    first_unit += population.units;
  }
  const std::vector<std::vector<bool>> read = read_units(sketch);
  Sketch::Population output;
  for (std::size_t from = 0; from < read.size(); ++from) {
    Pattern::Pairs pairs;
    for (std::size_t unit = 0; unit < read[from].size(); ++unit)
      if (sketch.populations[from].feeds_output || !read[from][unit])
        pairs.emplace_back(static_cast<int>(unit), 0);
    if (pairs.empty()) continue;
    output.reads.push_back({static_cast<int>(from), {}});
    if (pairs.size() < read[from].size()) output.reads.back().pairs = std::move(pairs);
  }
  sketch.populations.push_back(std::move(output));
}

Topology build(Sketch sketch, const TopologyParts& parts) {
  Topology made;
  made.input = made.graph.input("x", parts.inputs);
  std::vector<NodeId> nodes;
  const std::size_t hidden = sketch.populations.size() - 1;
  for (std::size_t i = 0; i < hidden; ++i) {
    Sketch::Population& population = sketch.populations[i];
    std::vector<Edge> edges;
    for (Sketch::Link& link : population.reads)
      edges.emplace_back(link.from == Sketch::input ? made.input : nodes[index(link.from)],
                         link.pairs ? Pattern::pairs(std::move(*link.pairs)) : Pattern::dense());
    population.reads.clear();  // patterns may be large: one copy is enough
    const std::string name = fmt::format("h{}", i + index(sketch.first_name));
    nodes.push_back(made.graph.add(name, hidden_node(parts, name, population.units), std::move(edges)));
    check_units(made.graph, nodes.back(), population.units);
  }
  made.output = made.graph.add("output", parts.output,
                               output_edges(made.graph, sketch.populations.back(), parts.output, nodes));
  made.reward = made.graph.reward("correct", {made.output});
  return made;
}

}  // namespace hindsight::internal
