#include <hindsight/graph/baseline_rules.hpp>

#include <fmt/format.h>

namespace hindsight {

std::optional<Diagnostic> SamplesOfInputs::check(const Graph& graph, NodeId node, RewardId reward,
                                                 const AnyBaseline& baseline) {
  const int wanted = baseline.replicas();
  if (wanted == 1) return std::nullopt;
  const std::string help =
      fmt::format("graph.baseline({}, {}, NoBaseline{{}});   // or one that wants as many", graph.name(node),
                  graph.name(reward));
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
  const std::string& name = graph.name(node);
  return {.message = fmt::format(
              "its baseline {} for reward '{}' is not used: {} is made of the slopes of its "
              "children, and the baselines in those are theirs",
              graph.baseline_of(node, reward).chosen()->name(), graph.name(reward), estimator.name()),
          .help = {graph.chosen_baseline(node, reward)
                       ? fmt::format("graph.baseline({}, {}, NoBaseline{{}});", name, graph.name(reward))
                       : fmt::format("graph.baseline({}, NoBaseline{{}});", name)}};
}

}  // namespace hindsight
