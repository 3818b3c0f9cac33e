#include <hindsight/graph/plan.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/memory.hpp>
#include <hindsight/graph/help_lines.hpp>

namespace hindsight::internal {
namespace {

void refuse_oversize(const Graph& graph, std::size_t bytes_per_parameter) {
  double parameters = 0;
  for (const NodeId node : graph.nodes())
    parameters += static_cast<double>(graph.shape(node).parameter_count);
  const double bytes = parameters * static_cast<double>(bytes_per_parameter) +
                       static_cast<double>(graph.unit_count()) * sizeof(std::size_t);
  require_memory(bytes, fmt::format("{:.4g} parameters", parameters), HelpLines(graph).fewer_weights());
}

std::vector<RewardPlan> plan_rewards(const Graph& graph) {
  std::vector<RewardPlan> rewards;
  for (const RewardId reward : graph.rewards()) {
    const auto reads = graph.reads(reward);
    rewards.push_back({graph.name(reward), {reads.begin(), reads.end()}, graph.known(reward)});
  }
  return rewards;
}

Wants wants_of(const Graph& graph, std::span<const Assignment> assignments, const Eliminated& eliminated) {
  const std::size_t count = index(graph.node_count());
  Wants wants{std::vector<bool>(count, false), std::vector<bool>(count, false)};
  for (const NodeId node : graph.nodes()) wants.slopes[index(node)] = graph.is_deterministic(node);
  for (const Assignment& assignment : assignments) {
    const Needs needs = assignment.estimator.needs();
    if (needs.hindsight_steps > 0 && !eliminated.contains({assignment.node, assignment.reward}))
      wants.messages[index(assignment.node)] = true;
    if (needs.pathwise) wants.slopes[index(assignment.node)] = true;
  }
  return wants;
}

/// Rows of one level lie together, and the last of its blocks completes them.
template <class S>
std::vector<RowRange> pack_levels(const Layout& layout, const Schedule<S>& schedule,
                                  const CreditPlan<S>& credit) {
  const auto any_reads_bits = [](const auto& runs) {
    return std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.reads_bits(); });
  };
  const Blocks<S>& blocks = schedule.blocks;
  std::vector<RowRange> packed_after(blocks.size());
  if (std::none_of(blocks.begin(), blocks.end(), [](const auto& block) { return block->reads_bits(); }) &&
      !credit.eliminations.reads_bits() && !any_reads_bits(schedule.reruns) &&
      !any_reads_bits(credit.reward_reruns))
    return packed_after;
  std::map<int, RowRange> rows;
  for (const NodeId node : layout.nodes()) {
    if (!layout.is_stochastic(node)) continue;
    const Placement& at = layout.placements[index(node)];
    const std::size_t last = at.unit_row + index(at.shape.units);
    RowRange& level = rows.emplace(at.level, RowRange{at.unit_row, last}).first->second;
    level = {std::min(level.first, at.unit_row), std::max(level.last, last)};
  }
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (b + 1 == blocks.size() || blocks[b + 1]->level() != blocks[b]->level())
      packed_after[b] = rows[blocks[b]->level()];
  return packed_after;
}

/// Per unit of the graph: how many logits read it.
class FanOut {
 public:
  explicit FanOut(const Graph& graph) : readers_(graph.unit_count(), 0) {
    for (const NodeId node : graph.nodes()) first_.push_back(graph.first_unit(node));
    first_.push_back(static_cast<std::uint32_t>(graph.unit_count()));
    for (const NodeId node : graph.nodes()) {
      const std::size_t logits = index(graph.shape(node).logits), units = index(graph.shape(node).units);
      for (const Graph::Parent& parent : graph.parents(node)) {
        std::size_t* const counts = readers_.data() + first_unit(parent.node);
        if (!parent.connectivity)
          for (std::size_t i = 0; i < of(parent.node).size(); ++i) counts[i] += logits * units;
        else
          for (std::size_t unit = 0; unit < units; ++unit)
            for (const int read : parent.connectivity->parents_of(static_cast<int>(unit)))
              counts[read] += logits;
      }
    }
  }

  std::uint32_t first_unit(NodeId node) const { return first_[index(node)]; }
  std::span<const std::size_t> of(NodeId node) const {
    return std::span(readers_).subspan(first_[index(node)], first_[index(node) + 1] - first_[index(node)]);
  }

 private:
  std::vector<std::uint32_t> first_;  ///< per node: its first unit; and how many there are
  std::vector<std::size_t> readers_;
};

}  // namespace

template <class S>
bool Plan<S>::packs_outcomes() const {
  return std::any_of(packed_after.begin(), packed_after.end(),
                     [](const RowRange& rows) { return !rows.empty(); });
}

template <class S>
std::shared_ptr<const Plan<S>> make_plan(const Graph& graph, std::span<const Assignment> assignments,
                                         const PlanOptions& options) {
  refuse_oversize(graph, sizeof(S) + sizeof(double));
  const Contraction contraction(graph);
  const Eliminated eliminated = plan_eliminations(graph, contraction, assignments, options.elimination_limit);
  const Wants wants = wants_of(graph, assignments, eliminated);
  const std::vector<NodeGroup> groups = group_nodes(graph);
  Layout layout = lay_out(graph, contraction, groups, wants);
  Schedule<S> schedule = make_schedule<S>(graph, contraction, groups, wants, layout);
  CreditPlan<S> credit = plan_credit<S>(graph, contraction, assignments, eliminated, layout, schedule.nodes);
  std::vector<RowRange> packed_after = pack_levels(layout, schedule, credit);
  const std::span<const Placement> placements = layout.placements;
  const std::span<const std::optional<AnyNode>> nodes = schedule.nodes;
  return std::shared_ptr<const Plan<S>>(new Plan<S>{
      options.seed, options.instructions, plan_rewards(graph), std::move(layout), std::move(schedule),
      ParameterPlaces(placements, nodes), std::move(credit), std::move(packed_after)});
}

template <class S>
std::string reward_subject(const Plan<S>& plan, RewardId reward) {
  const bool exists = reward.index >= 0 && index(reward) < plan.rewards.size();
  return fmt::format("the function of reward '{}'", exists ? plan.rewards[index(reward)].name : "?");
}

template <class S>
std::vector<S> initial_parameters(const Graph& graph, const Plan<S>& plan) {
  const FanOut fan_out(graph);
  std::vector<S> theta(plan.layout.parameter_count, S(0));
  std::vector<double> own;
  for (const NodeId node : graph.nodes()) {
    if (graph.is_input(node)) continue;
    const Placement& at = plan.layout.placements[index(node)];
    std::vector<ParentStart> starts;
    starts.reserve(at.parents.size());
    for (const Graph::Parent& parent : graph.parents(node))
      starts.push_back({fan_out.first_unit(parent.node), fan_out.of(parent.node)});
    const std::vector<ParentShape> parents = at.parent_shapes();
    const Initialisation start{plan.seed, at.first_unit, at.shape.units, parents, starts};
    own.assign(at.shape.parameter_count, 0.0);
    guarded_call({"node-threw", &at.name, "its initialise"},
                 [&] { graph.node(node)->initialise(start, std::span(own)); });
    std::transform(own.begin(), own.end(), theta.begin() + static_cast<std::ptrdiff_t>(at.first_parameter),
                   [](double value) { return static_cast<S>(value); });
  }
  return theta;
}

template struct Plan<float>;
template struct Plan<double>;
template std::shared_ptr<const Plan<float>> make_plan(const Graph&, std::span<const Assignment>,
                                                      const PlanOptions&);
template std::shared_ptr<const Plan<double>> make_plan(const Graph&, std::span<const Assignment>,
                                                       const PlanOptions&);
template std::string reward_subject(const Plan<float>&, RewardId);
template std::string reward_subject(const Plan<double>&, RewardId);
template std::vector<float> initial_parameters(const Graph&, const Plan<float>&);
template std::vector<double> initial_parameters(const Graph&, const Plan<double>&);

}  // namespace hindsight::internal
