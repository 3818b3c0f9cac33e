#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/instruction_set.hpp>
#include <hindsight/core/node.hpp>
#include <hindsight/graph/clamped_rerun.hpp>
#include <hindsight/graph/credit_plan.hpp>
#include <hindsight/graph/layout.hpp>
#include <hindsight/graph/parameter_places.hpp>

namespace hindsight::internal {

/// A reward as it is worked out.
struct RewardPlan {
  std::string name;
  std::vector<NodeId> reads;
  KnownReward value;  ///< empty: it is given with every backward pass
  bool is_known() const { return static_cast<bool>(value); }
};

/// What runs, and in which order.
template <class S>
struct Schedule {
  std::vector<std::optional<AnyNode>> nodes;  ///< what the blocks refer to; none: an input
  Blocks<S> blocks;                           ///< in the order of the forward pass
  std::vector<std::size_t> first_table;       ///< per block: where its tables begin
  std::size_t table_scalars = 0;
  /// Evidence of nodes whose children are reached through deterministic nodes.
  std::vector<ClampedRerun<S>> reruns;
};

/// The compiled graph. Complete from the start, and const: everything that changes while it runs is in a
/// RunState.
template <class S>
struct Plan {
  const std::uint64_t seed;
  const InstructionSet instructions;
  const std::vector<RewardPlan> rewards;
  const Layout layout;                       ///< where everything lies
  const Schedule<S> schedule;                ///< what runs
  const ParameterPlaces parameters;          ///< by name; refers to both
  const CreditPlan<S> credit;                ///< who is credited by what
  const std::vector<RowRange> packed_after;  ///< per block: unit rows to be packed into bits once it has run

  /// Evidence needs it: blocks run on copies of a chunk.
  bool tries_chunks() const { return !schedule.reruns.empty() || credit.eliminations.uses_trials(); }
  /// Whether parts of the graph are computed anew for outcomes that were not sampled.
  bool tries_outcomes() const { return tries_chunks() || !credit.reward_reruns.empty(); }
  bool packs_outcomes() const;
};

/// "the function of reward 'r'": how errors call what a user gave for it.
template <class S>
std::string reward_subject(const Plan<S>& plan, RewardId reward);

/// Refers to the placements of the layout.
template <class S>
Schedule<S> make_schedule(const Graph& graph, const Contraction& contraction,
                          std::span<const NodeGroup> groups, const Wants& wants, const Layout& layout);

struct PlanOptions {
  std::uint64_t seed = 0;
  InstructionSet instructions = InstructionSet::baseline;
  double elimination_limit = 0;  ///< that the assignments were validated with
};

template <class S>
std::shared_ptr<const Plan<S>> make_plan(const Graph& graph, std::span<const Assignment> assignments,
                                         const PlanOptions& options);

/// Where learning starts. Takes the graph that was compiled.
template <class S>
std::vector<S> initial_parameters(const Graph& graph, const Plan<S>& plan);

}  // namespace hindsight::internal
