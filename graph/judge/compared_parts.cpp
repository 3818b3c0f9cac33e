#include <hindsight/graph/compared_parts.hpp>

#include <algorithm>
#include <map>
#include <string_view>

#include <hindsight/core/index.hpp>

namespace hindsight::internal {

std::vector<Comparison::Node> learning_nodes(const Graph& graph, const Model& model) {
  const std::vector<int> level = levels(graph);
  std::vector<bool> learns(graph.nodes().size());
  for (const RewardId reward : graph.rewards()) {
    const std::vector<bool> upstream = upstream_of(graph, reward);
    for (std::size_t i = 0; i < learns.size(); ++i) learns[i] = learns[i] || upstream[i];
  }
  std::vector<Comparison::Node> nodes;
  for (const NodeId node : graph.nodes()) {
    const ParameterRange range = model.range(node);
    if (range.count == 0 || !learns[index(node)]) continue;
    nodes.push_back({.id = node, .name = graph.name(node), .level = level[index(node)], .parameters = range});
  }
  return nodes;
}

std::vector<Comparison::Block> weight_blocks(const Model& model, std::span<const Comparison::Node> nodes) {
  std::vector<Comparison::Block> blocks;
  for (const std::string& path : model.parameter_names()) {
    const ParameterRange range = model.range(path);
    const auto after = std::upper_bound(
        nodes.begin(), nodes.end(), range.first,
        [](std::size_t first, const Comparison::Node& node) { return first < node.parameters.first; });
    if (range.count == 0 || after == nodes.begin()) continue;
    const auto node = static_cast<std::size_t>(after - nodes.begin()) - 1;
    const ParameterRange& all = nodes[node].parameters;
    if (range.first < all.first + all.count) blocks.push_back({path, node, range});
  }
  return blocks;
}

std::vector<Comparison::View> views_of(const Graph& graph, std::span<const Comparison::Node> nodes,
                                       const CreditMethod& contender, const Report& report) {
  std::map<std::string_view, Comparison::View> by_name;
  bool all_unbiased = true;
  for (const CreditVerdict& credit : report.credits) {
    Comparison::View& view = by_name[credit.node];
    view.applies = view.applies || !contender.estimator || credit.estimator == contender.estimator->name();
    view.unbiased = view.unbiased && credit.verdict.unbiased;
    all_unbiased = all_unbiased && credit.verdict.unbiased;
  }
  std::vector<Comparison::View> views;
  for (const Comparison::Node& node : nodes) {
    views.push_back(by_name[node.name]);
    // What is deterministic learns from the weights of others, and inherits their bias.
    if (!graph.is_deterministic(node.id)) continue;
    views.back().unbiased = all_unbiased;
    views.back().applies = true;
  }
  return views;
}

}  // namespace hindsight::internal
