#include <hindsight/graph/choices.hpp>

#include <map>
#include <string_view>
#include <vector>

namespace hindsight {
namespace {

/// Those of a node's rewards that the chosen estimators may not credit it by.
struct Refused {
  std::vector<RewardId> rewards;
  bool is_all = false;
};

/// Nodes of which nothing is refused are left out.
std::map<NodeId, Refused> refused_credits(const Graph& graph, const Catalogue& catalogue,
                                          const ValidateOptions& options) {
  std::map<std::string_view, NodeId> nodes;
  for (int i = 0; i < graph.node_count(); ++i) nodes.emplace(graph.name(NodeId{i}), NodeId{i});
  std::map<std::string_view, RewardId> rewards;
  for (int i = 0; i < graph.reward_count(); ++i) rewards.emplace(graph.name(RewardId{i}), RewardId{i});
  const Report report = validate(graph, catalogue, options);
  std::map<NodeId, Refused> refused;
  for (const Credit& credit : report.credits)
    if (!credit.verdict.admissible)
      refused[nodes.at(credit.node)].rewards.push_back(rewards.at(credit.reward));
  for (auto& [node, its] : refused) its.is_all = true;
  for (const Credit& credit : report.credits)
    if (const auto its = refused.find(nodes.at(credit.node)); its != refused.end())
      its->second.is_all = its->second.is_all && !credit.verdict.admissible;
  return refused;
}

}  // namespace

void estimate_everywhere(Graph& graph, NodeId node, const EstimatorChoice& estimator) {
  graph.estimate_with(node, estimator);
  for (int i = 0; i < graph.reward_count(); ++i)
    if (graph.has_own_choice(node, {i})) graph.estimate_with(node, {i}, estimator);
}

void estimate_with_first(Graph& graph, std::span<const AnyEstimator> estimators, const Catalogue& catalogue,
                         const ValidateOptions& options) {
  std::map<NodeId, Refused> open;
  for (int i = 0; i < graph.node_count(); ++i)
    if (graph.is_stochastic({i})) open[{i}].is_all = true;
  const auto choose = [&](const EstimatorChoice& choice) {
    for (const auto& [node, refused] : open)
      if (refused.is_all)
        estimate_everywhere(graph, node, choice);
      else
        for (const RewardId reward : refused.rewards) graph.estimate_with(node, reward, choice);
  };
  for (const AnyEstimator& estimator : estimators) {
    choose(estimator);
    open = refused_credits(graph, catalogue, options);
    // What is made of slopes serves all rewards of a node or none.
    if (estimator.needs().pathwise)
      for (auto& [node, refused] : open) refused.is_all = true;
    if (open.empty()) return;
  }
  choose(Auto{});
}

void compare_everywhere(Graph& graph, const BaselineChoice& baseline) {
  for (int r = 0; r < graph.reward_count(); ++r) graph.baseline(RewardId{r}, baseline);
  for (int i = 0; i < graph.node_count(); ++i) {
    const NodeId node{i};
    if (graph.chosen_baseline(node) != nullptr) graph.baseline(node, baseline);
    for (int r = 0; r < graph.reward_count(); ++r)
      if (graph.chosen_baseline(node, {r}) != nullptr) graph.baseline(node, {r}, baseline);
  }
}

}  // namespace hindsight
