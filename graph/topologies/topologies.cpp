#include <hindsight/graph/topologies.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/memory.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/topology_options.hpp>
#include <hindsight/graph/topology_sketch.hpp>

namespace hindsight {
namespace {

void check_parts(const TopologyParts& parts) {
  if (parts.inputs < 1)
    refuse({.code = "topology-parts",
            .message = fmt::format("TopologyParts::inputs is {}; an input has at least 1 unit", parts.inputs),
            .help = {".inputs = 784"}});
  if (!parts.hidden)
    refuse({.code = "topology-parts",
            .message = "TopologyParts::hidden is empty; it makes the hidden nodes",
            .help = {".hidden = [](int units) { return Bernoulli{.units = units}; }"}});
}

void check_extent(const internal::Extent& extent, const std::string& specification, bool repair, int inputs) {
  constexpr double most_units = 0x1p31 - 1, most_draws = 0x1p34;  // the latter take about a minute
  if (extent.units + inputs > most_units)
    refuse({.code = "topology-size",
            .message = fmt::format("topology '{}' would have {:.4g} units; {:.0f} is the most", specification,
                                   extent.units + inputs, most_units),
            .help = {"make it smaller"}});
  if (extent.draws > most_draws)
    refuse({.code = "topology-size",
            .message = fmt::format(
                "topology '{}' would draw for {:.3g} pairs of units one by one; {:.3g} is the most",
                specification, extent.draws, most_draws),
            .help = {"make it smaller"}});
  // Parameters and one gradient of dense edges; the pairs of sparse ones, twice while they are sorted; an
  // edge and a node of the graph; what a repair has beside the pairs, and per unit where it goes by units.
  const double vertices = extent.hidden_sparse > 0 ? extent.units : extent.nodes;
  const double bytes = 8 * extent.dense + 32 * extent.sparse + 200 * extent.links + 1000 * extent.nodes +
                       (repair ? 200 * vertices + 16 * extent.hidden_sparse : 0);
  internal::require_memory(bytes, fmt::format("topology '{}'", specification),
                           "make it smaller, or its edges sparse");
}

}  // namespace

Topology make_topology(const TopologyOptions& options, const TopologyParts& parts) {
  using namespace internal;
  check_parts(parts);
  check_options(options);
  return std::visit(
      [&](const auto& chosen) {
        check_extent(extent(chosen, parts.inputs), to_string(options), chosen.repair, parts.inputs);
        Sketch made = sketch(chosen, parts.inputs);
        connect(made, parts.inputs, chosen.input_density, chosen.seed);
        if (chosen.repair) repair(made);
        return build(std::move(made), parts);
      },
      options);
}

Topology make_topology(std::string_view specification, const TopologyParts& parts) {
  return make_topology(parse_topology(specification), parts);
}

std::size_t weight_count(const Graph& graph) {
  std::size_t count = 0;
  for (const NodeId node : graph.nodes()) count += graph.shape(node).parameter_count;
  return count;
}

std::string fit_weights(std::string_view specification, std::size_t weights, const TopologyParts& parts) {
  using internal::topology_table;
  TopologyOptions options = parse_topology(specification);
  const auto resize = [&](int size) {
    std::visit([&](auto& chosen) { chosen.*topology_table(chosen).size = size; }, options);
  };
  const auto weights_of = [&](int size) {
    resize(size);
    return weight_count(make_topology(options, parts).graph);
  };
  const auto [least, most] = std::visit(
      [](const auto& chosen) {
        const auto& table = topology_table(chosen);
        for (const auto& field : table.fields)
          if (field.name == table.size_name)
            return std::pair(static_cast<int>(field.least), static_cast<int>(field.most));
        return std::pair(1, 1);
      },
      options);
  // The smallest size with enough weights lies in (low, high]; the one before it may be nearer.
  int low = least, high = least;
  std::size_t low_weights = weights_of(low), high_weights = low_weights;
  while (high_weights < weights && high < most) {
    low = std::exchange(high, std::min(most, 2 * high));
    low_weights = std::exchange(high_weights, weights_of(high));
  }
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    const std::size_t middle_weights = weights_of(middle);
    (middle_weights < weights ? low : high) = middle;
    (middle_weights < weights ? low_weights : high_weights) = middle_weights;
  }
  const auto error = [&](std::size_t count) { return count < weights ? weights - count : count - weights; };
  resize(error(low_weights) <= error(high_weights) ? low : high);
  return to_string(options);
}

}  // namespace hindsight
