#include <map>

#include <hindsight/graph/lowering.hpp>
#include <hindsight/graph/plan.hpp>

namespace hindsight::internal {

template <class S>
Schedule<S> make_schedule(const Graph& graph, const Contraction& contraction,
                          std::span<const NodeGroup> groups, const Wants& wants, const Layout& layout) {
  Schedule<S> schedule;
  schedule.nodes.reserve(layout.placements.size());
  for (const NodeId id : graph.nodes()) {
    const AnyNode* const node = graph.node(id);
    schedule.nodes.push_back(node ? std::optional(*node) : std::nullopt);
  }
  std::map<int, std::vector<AnyNode::Placed>> by_kind;
  for (const NodeGroup& group : groups)
    if (!group.holds_inputs())
      for (const NodeId node : group.nodes)
        by_kind[group.kind].push_back({&*schedule.nodes[index(node)], &layout.placements[index(node)]});
  std::vector<std::vector<AnyNode::Placed>> of_one_kind;
  for (auto& of_kind : by_kind) of_one_kind.push_back(std::move(of_kind.second));
  schedule.blocks = lower_groups<S>(of_one_kind);
  for (const auto& block : schedule.blocks) {
    schedule.first_table.push_back(schedule.table_scalars);
    schedule.table_scalars += padded(block->table_size());
  }
  for (const NodeId node : layout.nodes()) {
    if (!wants.messages[index(node)]) continue;
    const Downstream& below = contraction.below_functions(node);
    if (!below.children.empty())
      schedule.reruns.emplace_back(layout.placements[index(node)], below, layout.placements, schedule.nodes);
  }
  return schedule;
}

template Schedule<float> make_schedule(const Graph&, const Contraction&, std::span<const NodeGroup>,
                                       const Wants&, const Layout&);
template Schedule<double> make_schedule(const Graph&, const Contraction&, std::span<const NodeGroup>,
                                        const Wants&, const Layout&);

}  // namespace hindsight::internal
