#include <hindsight/graph/validator.hpp>

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

/// Nodes of which nothing is refused are left out.
std::map<NodeId, Refused> refused_credits(const Graph& graph, const Catalogue& catalogue,
                                          const ValidateOptions& options) {
  const Report report = validate(graph, catalogue, options);
  std::map<NodeId, Refused> refused;
  for (const CreditVerdict& credit : report.credits)
    if (!credit.verdict.admissible)
      refused[graph.find(credit.node).value()].rewards.push_back(graph.find_reward(credit.reward).value());
  for (auto& [node, its] : refused) its.is_all = true;
  for (const CreditVerdict& credit : report.credits)
    if (const auto its = refused.find(graph.find(credit.node).value()); its != refused.end())
      its->second.is_all = its->second.is_all && !credit.verdict.admissible;
  return refused;
}

/// Those of a trial's credits at which the estimator can differ from fewer steps: where the reward reads all
/// children, nothing lies between to be looked through.
std::vector<const CreditVerdict*> telling_credits(const Graph& graph, const Report& trial, int steps) {
  std::vector<const CreditVerdict*> all, further;
  for (const CreditVerdict& credit : trial.credits) all.push_back(&credit);
  if (steps <= 1) return all;
  const internal::Contraction contraction(graph);
  for (const RewardId reward : graph.rewards()) {
    const std::vector<bool> is_read = contraction.read_directly(reward);
    for (const CreditVerdict* credit : all) {
      const auto children = contraction.children(graph.find(credit->node).value());
      if (credit->reward == graph.name(reward) &&
          std::any_of(children.begin(), children.end(),
                      [&](internal::Vertex child) { return !is_read[child]; }))
        further.push_back(credit);
    }
  }
  return further.empty() ? all : further;
}

}  // namespace

void estimate_everywhere(Graph& graph, NodeId node, const EstimatorChoice& estimator) {
  graph.estimate_with(node, estimator);
  for (const RewardId reward : graph.rewards())
    if (graph.has_own_choice(node, reward)) graph.estimate_with(node, reward, estimator);
}

void estimate_with_first(Graph& graph, std::span<const AnyEstimator> estimators, const Catalogue& catalogue,
                         const ValidateOptions& options) {
  std::map<NodeId, Refused> open;
  for (const NodeId node : graph.nodes())
    if (graph.is_stochastic(node)) open[node].is_all = true;
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
  for (const RewardId reward : graph.rewards()) graph.baseline(reward, baseline);
  for (const NodeId node : graph.nodes()) {
    if (graph.chosen_baseline(node) != nullptr) graph.baseline(node, baseline);
    for (const RewardId reward : graph.rewards())
      if (graph.chosen_baseline(node, reward) != nullptr) graph.baseline(node, reward, baseline);
  }
}

std::optional<std::string> why_useless(const Graph& graph, const AnyEstimator& estimator,
                                       const Catalogue& catalogue, const ValidateOptions& options) {
  Graph trial = graph;
  for (const NodeId node : trial.nodes())
    if (trial.is_stochastic(node)) estimate_everywhere(trial, node, estimator);
  const Report report = validate(trial, catalogue, options);
  const std::vector<const CreditVerdict*> credits =
      telling_credits(trial, report, estimator.needs().hindsight_steps);
  if (credits.empty()) return "no reward credits any node";
  // What is made of slopes serves all rewards of a node or none.
  std::set<std::string_view> barred;
  for (const CreditVerdict& credit : report.credits)
    if (!credit.verdict.admissible && estimator.needs().pathwise) barred.insert(credit.node);
  const auto serves = [&](const CreditVerdict* credit) {
    return credit->verdict.admissible && !barred.contains(credit->node);
  };
  if (std::any_of(credits.begin(), credits.end(), serves)) return std::nullopt;
  const CreditVerdict& against =
      **std::find_if(credits.begin(), credits.end(),
                     [](const CreditVerdict* credit) { return !credit->verdict.admissible; });
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
