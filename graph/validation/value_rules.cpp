#include <hindsight/graph/value_rules.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hindsight/graph/help_lines.hpp>

namespace hindsight::internal {

std::optional<Diagnostic> infinite_value(const Graph& graph, NodeId node) {
  constexpr double largest = std::numeric_limits<float>::max();
  const std::vector<double>& values = graph.shape(node).encoding.values;
  const auto found =
      std::find_if(values.begin(), values.end(), [](double value) { return std::abs(value) > largest; });
  if (found == values.end()) return std::nullopt;
  return Diagnostic{.message = fmt::format("its value {} is infinite as a float, which holds up to {:.3g}",
                                           *found, largest),
                    .help = {HelpLines(graph).smaller_values(node)}};
}

}  // namespace hindsight::internal
