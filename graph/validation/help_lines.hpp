#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::internal {

/// Lines to paste where the graph is described: C++, or the attributes of a graph file.
class HelpLines {
 public:
  /// Refers to the graph.
  explicit HelpLines(const Graph& graph) : graph_(graph) {}

  std::string add_stochastic_node() const;
  std::string add_reward(NodeId read) const;
  std::string read_stochastic_node(NodeId instead_of) const;
  std::string prefer_reinforce(NodeId node) const;
  std::string estimate_with(NodeId node, std::optional<RewardId> reward,
                            const Alternative& alternative) const;
  std::string estimate_with_auto(NodeId node, std::optional<RewardId> reward,
                                 std::string_view remark = {}) const;
  /// As the node is credited by another reward.
  std::string estimate_as_for(NodeId node, RewardId reward, RewardId other) const;
  std::string compare_with_nothing(NodeId node, std::optional<RewardId> reward,
                                   std::string_view remark = {}) const;
  /// Values that a float can hold.
  std::string smaller_values(NodeId node) const;
  std::string fewer_weights() const;
  std::string fewer_steps(NodeId node) const;
  std::string raise_limit(std::string_view limit, double to) const;

 private:
  bool is_for_file() const { return graph_.origin() == Origin::file; }
  /// `a ["estimator:r"=hnca];`
  std::string attribute(NodeId node, std::string_view name, std::optional<RewardId> reward,
                        std::string_view value) const;
  std::string arguments(NodeId node, std::optional<RewardId> reward) const;

  const Graph& graph_;
};

}  // namespace hindsight::internal
