#include <hindsight/graph/help_lines.hpp>

#include <fmt/format.h>

#include <hindsight/graph/dot_id.hpp>

namespace hindsight::internal {
namespace {

std::string with_remark(std::string line, std::string_view remark) {
  return remark.empty() ? line : fmt::format("{}   // {}", line, remark);
}

}  // namespace

std::string HelpLines::attribute(NodeId node, std::string_view name, std::optional<RewardId> reward,
                                 std::string_view value) const {
  const std::string whole = reward ? fmt::format("{}:{}", name, graph_.name(*reward)) : std::string(name);
  return fmt::format("{} [{}={}];", dot_id(graph_.name(node)), dot_id(whole), dot_id(value));
}

std::string HelpLines::arguments(NodeId node, std::optional<RewardId> reward) const {
  return reward ? fmt::format("{}, {}", graph_.name(node), graph_.name(*reward)) : graph_.name(node);
}

std::string HelpLines::add_stochastic_node() const {
  return is_for_file() ? "a [kind=bernoulli];" : "graph.add(\"a\", Bernoulli{}, {});";
}

std::string HelpLines::add_reward(NodeId read) const {
  return is_for_file() ? fmt::format("reward [kind=reward]; {} -> reward;", dot_id(graph_.name(read)))
                       : fmt::format("graph.reward(\"reward\", {{{}}});", graph_.name(read));
}

std::string HelpLines::read_stochastic_node(NodeId instead_of) const {
  const std::string advice = "let the reward read a stochastic node instead, e.g. ";
  const std::string& name = graph_.name(instead_of);
  return advice + (is_for_file()
                       ? fmt::format("action [kind=categorical classes=2]; {} -> action;", dot_id(name))
                       : fmt::format("graph.add(\"action\", Categorical{{.classes = 2}}, {{{}}});", name));
}

std::string HelpLines::prefer_reinforce(NodeId node) const {
  return is_for_file() ? attribute(node, "estimator", {}, "reinforce") : "catalogue.prefer(Reinforce{});";
}

std::string HelpLines::estimate_with(NodeId node, std::optional<RewardId> reward,
                                     const Alternative& alternative) const {
  const bool in_file = is_for_file() && !alternative.in_file.empty();
  return with_remark(
      in_file ? attribute(node, "estimator", reward, alternative.in_file)
              : fmt::format("graph.estimate_with({}, {});", arguments(node, reward), alternative.expression),
      alternative.remark);
}

std::string HelpLines::estimate_with_auto(NodeId node, std::optional<RewardId> reward,
                                          std::string_view remark) const {
  return estimate_with(node, reward, {"Auto{}", std::string(remark), "auto"});
}

std::string HelpLines::estimate_as_for(NodeId node, RewardId reward, RewardId other) const {
  const auto& chosen = graph_.choice(node, other).chosen();
  return estimate_with(
      node, reward,
      {fmt::format("graph.choice({})", arguments(node, other)), "for all", chosen ? chosen->name() : "auto"});
}

std::string HelpLines::compare_with_nothing(NodeId node, std::optional<RewardId> reward,
                                            std::string_view remark) const {
  return with_remark(is_for_file()
                         ? attribute(node, "baseline", reward, "none")
                         : fmt::format("graph.baseline({}, NoBaseline{{}});", arguments(node, reward)),
                     remark);
}

std::string HelpLines::smaller_values(NodeId node) const {
  return is_for_file() ? attribute(node, "values", {}, "-1,1") : ".values = {-1, 1}";
}

std::string HelpLines::fewer_weights() const {
  return is_for_file() ? "use fewer units, or density=0.1 on the largest edges"
                       : "use fewer units, or Pattern::random(density, seed) on the largest edges";
}

std::string HelpLines::fewer_steps(NodeId node) const {
  return estimate_with(node, {}, {"Hnca{.steps = 2}", "and the like on other nodes", "hnca(steps=2)"});
}

std::string HelpLines::raise_limit(std::string_view limit, double to) const {
  return fmt::format("or {}compile(graph, {{.{} = {:.3g}}});",
                     is_for_file() ? "in the program that reads the file: " : "", limit, to);
}

}  // namespace hindsight::internal
