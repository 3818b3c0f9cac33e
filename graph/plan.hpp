#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/estimator.hpp>
#include <hindsight/core/instruction_set.hpp>
#include <hindsight/core/node.hpp>
#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/eliminations.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/reevaluation.hpp>
#include <hindsight/graph/validator.hpp>

namespace hindsight {

/// A named piece of the flat parameter vector, e.g. "a/weights/x".
struct ParameterPlace {
  std::string path;
  std::size_t first = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;
};

/// Neighbouring units that one estimator credits with one reward.
struct CreditRun {
  static constexpr int all_rewards = -1;
  std::string node;  ///< the first of them
  AnyEstimator estimator;
  int reward = 0;
  std::size_t signal = 0;  ///< in Plan::signals
  int units = 0;
  int outcomes = 0;
  std::size_t unit_row = 0;
  std::size_t table_row = 0;
  std::optional<std::size_t> candidates;  ///< in Plan::candidates: the reward is known and reads the units
  std::optional<std::size_t> eliminated_row = {};  ///< of evidence that elimination writes; none: messages
};

/// A reward as some nodes see it: less a baseline.
struct SignalPlan {
  int reward = 0;
  std::optional<AnyBaseline> baseline;
  std::size_t first_state = 0, state_size = 0;  ///< what the baseline remembers
};

/// A reward as it is worked out.
struct RewardPlan {
  KnownReward value;  ///< empty: it is given with every backward pass
  std::vector<NodeId> reads;
};

/// Neighbouring units of one level and encoding whose weights are made of their slopes, for all rewards at
/// once.
struct PathwiseRun {
  CreditRun credit;
  int level = 0;
  std::size_t feature_row = 0;
  const Encoding* encoding = nullptr;
};

struct RowRange {
  std::size_t first = 0, last = 0;
};

/// The compiled schedule. Immutable: everything that changes while it runs is in a workspace.
template <class S>
struct Plan {
  /// The limit is the one that the assignments were examined with: it decides in which order units are summed
  /// out.
  Plan(const Graph& graph, const std::vector<Assignment>& assignments, std::uint64_t seed_of_model,
       InstructionSet instruction_set, double elimination_limit);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  std::uint64_t seed = 0;
  InstructionSet instructions = InstructionSet::baseline;
  std::vector<Placement>
      placements;           ///< per node, in order of addition; an input has features and nothing else
  std::vector<Role> roles;  ///< per node
  std::vector<std::string> rewards;
  std::vector<ParameterPlace>
      parameters;                  ///< in canonical order: nodes as added, per node its edges, then its bias
  std::vector<CreditRun> credits;  ///< by reward, then by unit
  std::vector<RewardPlan> reward_plans;  ///< per reward
  std::vector<SignalPlan> signals;
  int replicas = 1;                         ///< samples of each input, side by side
  std::vector<Reevaluation<S>> candidates;  ///< of units that known rewards read
  std::vector<PathwiseRun> pathwise;        ///< by level, the last first
  std::vector<RowRange> told;               ///< rows of evidence of the nodes that want messages, in order
  std::vector<RowRange> sloped;             ///< rows of features of the nodes that want slopes, in order
  std::vector<Reevaluation<S>> reevaluations;
  Eliminations<S> eliminations{placements, nodes_};
  Blocks<S> blocks;  ///< in the order of the forward pass
  std::vector<RowRange>
      packed_after;  ///< per block: unit rows whose outcomes are wanted as bits once it has run
  std::vector<std::size_t> first_table;                  ///< per block: where its tables begin
  std::size_t input_rows = 0;                            ///< rows of features of the inputs, which come first
  std::size_t baseline_scalars = 0, candidate_rows = 0;  ///< of all baselines; the most of one credit
  std::size_t feature_rows = 0, unit_rows = 0, table_rows = 0, parameter_count = 0, table_scalars = 0;

  bool is_input(std::size_t node) const { return roles[node] == Role::input; }
  bool is_stochastic(std::size_t node) const { return roles[node] == Role::stochastic; }
  /// Whether parts of the graph are computed anew for outcomes that were not sampled.
  bool tries_outcomes() const { return tries_chunks() || !candidates.empty(); }
  bool packs_outcomes() const {
    return std::any_of(packed_after.begin(), packed_after.end(),
                       [](const RowRange& rows) { return rows.first < rows.last; });
  }
  /// Evidence needs it: blocks run on copies of a chunk.
  bool tries_chunks() const { return !reevaluations.empty() || eliminations.uses_trials(); }
  /// Where learning starts. Takes the graph that was compiled.
  std::vector<S> initial_parameters(const Graph& graph) const;
  /// Throws Error when there is no such node.
  const Placement& placement(NodeId node) const;
  /// How the reward credits the units of a stochastic node, slopes aside. None: it does not.
  const CreditRun* credit_of(const Placement& at, RewardId reward) const;
  /// Throws Error, naming what there is, when there is no such path.
  const ParameterPlace& parameter(std::string_view path) const;

 private:
  /// Nodes that lie together in the arena, by level, then kind, then order of addition, and so do the
  /// features of parents that were added one after another.
  struct Group {
    int level = 0;
    int kind = 0;  ///< in order of first appearance; -1: input
    std::vector<int> nodes = {};
    bool holds_inputs() const { return kind < 0; }
  };
  static std::vector<Group> group(const Graph& graph);
  /// One plan per unit, for what messages cannot say.
  using Eliminated = std::map<std::pair<NodeId, RewardId>, std::vector<EliminationPlan>>;
  static Eliminated plan_eliminations(const Graph& graph, const Contraction& contraction,
                                      std::span<const Assignment> assignments, double limit);

  void number_nodes(const Graph& graph);
  void lay_out_rows(std::span<const Group> groups);
  void join_parents(const Graph& graph, const Contraction& contraction,
                    const std::vector<bool>& wants_messages, const std::vector<bool>& wants_slopes);
  void list_rows(std::span<const Group> groups, const std::vector<bool>& wants_messages,
                 const std::vector<bool>& wants_slopes);
  void add_reevaluations(const Contraction& contraction, const std::vector<bool>& wants_messages);
  void lower(const Graph& graph, std::span<const Group> groups);
  void pack_levels();
  void credit(const std::vector<Assignment>& assignments, const Contraction& contraction,
              const Eliminated& eliminated);
  std::size_t signal_of(const Assignment& assignment);
  void credit_pathwise(const std::vector<Assignment>& assignments);

  std::unordered_map<std::string_view, std::size_t> by_path_;  ///< into `parameters`
  std::vector<std::optional<AnyNode>> nodes_;                  ///< what the blocks refer to; none: an input
  std::vector<std::shared_ptr<const Connectivity>> wirings_;   ///< kept alive for the placements
};

}  // namespace hindsight
