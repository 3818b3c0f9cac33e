#include <hindsight/graph/choices.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <hindsight/graph/contraction.hpp>

namespace hindsight {
namespace {

/// Those of a node's rewards that the chosen estimators may not credit it by.
struct Refused {
  std::vector<RewardId> rewards;
  bool is_all = false;
};

std::map<std::string_view, NodeId> nodes_by_name(const Graph& graph) {
  std::map<std::string_view, NodeId> nodes;
  for (int i = 0; i < graph.node_count(); ++i) nodes.emplace(graph.name(NodeId{i}), NodeId{i});
  return nodes;
}

/// Nodes of which nothing is refused are left out.
std::map<NodeId, Refused> refused_credits(const Graph& graph, const Catalogue& catalogue,
                                          const ValidateOptions& options) {
  const std::map<std::string_view, NodeId> nodes = nodes_by_name(graph);
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

/// Those of a trial's credits at which the estimator can differ from fewer steps: where the reward reads all
/// children, nothing lies between to be looked through.
std::vector<const Credit*> telling_credits(const Graph& graph, const Report& trial, int steps) {
  std::vector<const Credit*> all, further;
  for (const Credit& credit : trial.credits) all.push_back(&credit);
  if (steps <= 1) return all;
  const Contraction contraction(graph);
  const std::map<std::string_view, NodeId> nodes = nodes_by_name(graph);
  for (int r = 0; r < graph.reward_count(); ++r) {
    const std::vector<bool> is_read = contraction.read_directly({r});
    for (const Credit* credit : all) {
      const auto children = contraction.children(nodes.at(credit->node));
      if (credit->reward == graph.name(RewardId{r}) &&
          std::any_of(children.begin(), children.end(),
                      [&](NodeId child) { return !is_read[static_cast<std::size_t>(child.index)]; }))
        further.push_back(credit);
    }
  }
  return further.empty() ? all : further;
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
  // What is made of slopes serves all rewards of a node or none.
  const auto choose = [&](const EstimatorChoice& choice, bool all_or_none) {
    std::set<NodeId> chosen;
    for (const auto& [node, refused] : open) {
      if (all_or_none && !refused.is_all) continue;
      chosen.insert(node);
      if (refused.is_all)
        estimate_everywhere(graph, node, choice);
      else
        for (const RewardId reward : refused.rewards) graph.estimate_with(node, reward, choice);
    }
    return chosen;
  };
  for (const AnyEstimator& estimator : estimators) {
    const bool all_or_none = estimator.needs().pathwise;
    const std::set<NodeId> chosen = choose(estimator, all_or_none);
    open = refused_credits(graph, catalogue, options);
    for (auto& [node, refused] : open)
      refused.is_all = refused.is_all || (all_or_none && chosen.contains(node));
    if (open.empty()) return;
  }
  choose(Auto{}, false);
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

std::optional<std::string> why_useless(const Graph& graph, const AnyEstimator& estimator,
                                       const Catalogue& catalogue, const ValidateOptions& options) {
  Graph trial = graph;
  for (int i = 0; i < trial.node_count(); ++i)
    if (trial.is_stochastic({i})) estimate_everywhere(trial, {i}, estimator);
  const Report report = validate(trial, catalogue, options);
  const std::vector<const Credit*> credits =
      telling_credits(trial, report, estimator.needs().hindsight_steps);
  if (credits.empty()) return "no reward credits any node";
  // What is made of slopes serves all rewards of a node or none.
  std::set<std::string_view> barred;
  for (const Credit& credit : report.credits)
    if (!credit.verdict.admissible && estimator.needs().pathwise) barred.insert(credit.node);
  const auto serves = [&](const Credit* credit) {
    return credit->verdict.admissible && !barred.contains(credit->node);
  };
  if (std::any_of(credits.begin(), credits.end(), serves)) return std::nullopt;
  const Credit& against = **std::find_if(credits.begin(), credits.end(),
                                         [](const Credit* credit) { return !credit->verdict.admissible; });
  return fmt::format("node '{}': {}", against.node, against.why);
}

std::string CreditMethod::name() const {
  const std::string credited_by = estimator ? estimator->name() : "as the graph says";
  if (!baseline) return credited_by;
  return fmt::format("{} + {}", credited_by, baseline->chosen() ? baseline->chosen()->name() : "none");
}

void credit_with(Graph& graph, const CreditMethod& method, std::span<const AnyEstimator> stand_ins,
                 const Catalogue& catalogue, const ValidateOptions& options) {
  if (method.baseline) compare_everywhere(graph, *method.baseline);
  if (!method.estimator) return;
  std::vector<AnyEstimator> list{*method.estimator};
  for (const AnyEstimator& stand_in : stand_ins)
    if (stand_in != *method.estimator) list.push_back(stand_in);
  estimate_with_first(graph, list, catalogue, options);
}

}  // namespace hindsight
