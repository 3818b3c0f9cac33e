#include <hindsight/graph/pathwise_rules.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/help_lines.hpp>

namespace hindsight::internal {
namespace {

bool is_silent(const Graph& graph, NodeId node) {
  return graph.is_stochastic(node) && !graph.node(node)->can_backpropagate();
}

bool is_pathwise(const Assignment& assignment) { return assignment.estimator.needs().pathwise; }

}  // namespace

std::vector<bool> have_slopes_of_children(const Graph& graph) {
  std::vector<bool> have(index(graph.node_count()), true);
  for (const NodeId node : graph.nodes())
    if (is_silent(graph, node))
      for (const Graph::Parent& parent : graph.parents(node)) have[index(parent.node)] = false;
  return have;
}

NodeId child_without_slopes(const Graph& graph, NodeId node) {
  const std::span<const NodeId> children = graph.children(node);
  return *std::find_if(children.begin(), children.end(),
                       [&](NodeId child) { return is_silent(graph, child); });
}

bool mixes_pathwise(std::span<const Assignment> of_node) {
  return std::any_of(of_node.begin(), of_node.end(), is_pathwise) &&
         std::any_of(of_node.begin(), of_node.end(), [&](const Assignment& assignment) {
           return !(assignment.estimator == of_node.front().estimator);
         });
}

Diagnostic explain_pathwise_mix(const Graph& graph, const Contraction& contraction,
                                std::span<const Assignment> of_node) {
  const auto by_slopes = std::find_if(of_node.begin(), of_node.end(), is_pathwise);
  const auto other = std::find_if(of_node.begin(), of_node.end(), [&](const Assignment& assignment) {
    return !(assignment.estimator == by_slopes->estimator);
  });
  const HelpLines lines(graph);
  const auto reward = [&](const Assignment& assignment) { return graph.name(assignment.reward); };
  Diagnostic diagnostic{
      .message = fmt::format(
          "{} for reward '{}' and {} for reward '{}': slopes do not tell rewards apart, so "
          "what is made of them serves all rewards of a node or none",
          by_slopes->estimator.name(), reward(*by_slopes), other->estimator.name(), reward(*other)),
      .reason = Reason::undefined};
  const std::span<const NodeId> children = graph.children(by_slopes->node);
  const bool has_slopes =
      std::none_of(children.begin(), children.end(), [&](NodeId child) { return is_silent(graph, child); });
  const bool serves_all =
      has_slopes && std::all_of(of_node.begin(), of_node.end(), [&](const Assignment& assignment) {
        return contraction.route_to_reward(assignment.node, assignment.reward).empty();
      });
  for (const Assignment& assignment : of_node)
    if (serves_all && !(assignment.estimator == by_slopes->estimator))
      diagnostic.help.push_back(lines.estimate_as_for(assignment.node, assignment.reward, by_slopes->reward));
  for (const Assignment& assignment : of_node)
    if (is_pathwise(assignment))
      diagnostic.help.push_back(lines.estimate_with_auto(assignment.node, assignment.reward, "for none"));
  return diagnostic;
}

void keep_common(std::vector<Alternative>& alternatives, std::span<const Alternative> others) {
  if (others.empty()) return;
  std::erase_if(alternatives, [&](const Alternative& one) {
    return std::none_of(others.begin(), others.end(),
                        [&](const Alternative& other) { return other.expression == one.expression; });
  });
}

}  // namespace hindsight::internal
