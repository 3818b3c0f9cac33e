#include <hindsight/graph/baseline_rules.hpp>

#include <fmt/format.h>

#include <hindsight/graph/help_lines.hpp>

namespace hindsight::internal {

std::optional<Diagnostic> SamplesOfInputs::check(const Graph& graph, NodeId node, RewardId reward,
                                                 const AnyBaseline& baseline) {
  const int wanted = baseline.replicas();
  if (wanted == 1) return std::nullopt;
  const std::string help = HelpLines(graph).compare_with_nothing(node, reward, "or one that wants as many");
  if (wanted < 1 || wanted > most_replicas)
    return Diagnostic{.message = fmt::format("its baseline {} wants {} samples of each input; 1 to {} can be",
                                             baseline.name(), wanted, most_replicas),
                      .help = {help}};
  if (!first_) first_ = baseline;
  if (first_->replicas() == wanted) return std::nullopt;
  return Diagnostic{.message = fmt::format("its baseline {} wants {} samples of each input, but {} wants {}",
                                           baseline.name(), wanted, first_->name(), first_->replicas()),
                    .help = {help}};
}

bool has_baseline_of_its_own(const Graph& graph, NodeId node, RewardId reward) {
  return (graph.chosen_baseline(node) || graph.chosen_baseline(node, reward)) &&
         graph.baseline_of(node, reward).chosen();
}

Diagnostic explain_unused_baseline(const Graph& graph, NodeId node, RewardId reward,
                                   const AnyEstimator& estimator) {
  return {.message = fmt::format(
              "its baseline {} for reward '{}' is not used: {} is made of the slopes of its "
              "children, and the baselines in those are theirs",
              graph.baseline_of(node, reward).chosen()->name(), graph.name(reward), estimator.name()),
          .help = {HelpLines(graph).compare_with_nothing(
              node, graph.chosen_baseline(node, reward) ? std::optional(reward) : std::nullopt)}};
}

}  // namespace hindsight::internal
