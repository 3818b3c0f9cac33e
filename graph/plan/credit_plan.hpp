#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hindsight/core/baseline.hpp>
#include <hindsight/core/estimator.hpp>
#include <hindsight/graph/clamped_rerun.hpp>
#include <hindsight/graph/elimination_program.hpp>
#include <hindsight/graph/layout.hpp>
#include <hindsight/graph/validation_result.hpp>

namespace hindsight::internal {

/// A reward as some nodes see it: less a baseline.
struct SignalPlan {
  int reward = 0;
  std::optional<AnyBaseline> baseline;
  std::size_t first_state = 0, state_size = 0;  ///< what the baseline remembers
};

/// Neighbouring units that one estimator credits with one reward.
struct CreditRun {
  static constexpr int all_rewards = -1;
  std::string node;  ///< the first of them
  AnyEstimator estimator;
  int reward = 0;
  std::size_t signal = 0;  ///< in CreditPlan::signals
  int units = 0;
  int outcome_count = 0;
  std::size_t unit_row = 0;
  std::size_t table_row = 0;
  std::optional<std::size_t> reward_rerun = {};    ///< in CreditPlan: the reward is known and reads the units
  std::optional<std::size_t> eliminated_row = {};  ///< of evidence that elimination writes; none: messages
};

/// Neighbouring units of one level and encoding whose credit is made of their slopes, for all rewards at
/// once.
struct PathwiseRun {
  CreditRun credit;
  int level = 0;
  std::size_t feature_row = 0;
  const Encoding* encoding = nullptr;
};

/// Who is credited by what.
template <class S>
struct CreditPlan {
  std::vector<CreditRun> runs;        ///< by reward, then by unit
  std::vector<PathwiseRun> pathwise;  ///< by level, the last first
  std::vector<SignalPlan> signals;
  std::size_t baseline_scalars = 0;            ///< that all baselines remember
  int replicas = 1;                            ///< samples of each input, side by side
  std::vector<ClampedRerun<S>> reward_reruns;  ///< of units that known rewards read
  std::size_t candidate_rows = 0;              ///< one per unit and outcome: the most that one of them needs
  EliminationProgram<S> eliminations;          ///< evidence of several steps
  double elimination_cost = 0;                 ///< its operations per sample

  /// How the reward credits the units of a stochastic node, slopes aside. None: it does not.
  const CreditRun* find(const Placement& at, RewardId reward) const;
};

/// The plans of a node's units, where messages cannot say what the reward's estimator wants to know.
using Eliminated = std::map<std::pair<NodeId, RewardId>, std::vector<EliminationPlan>>;

/// The limit is the one that the assignments were validated with: it decides in which order units are summed
/// out.
Eliminated plan_eliminations(const Graph& graph, const Contraction& contraction,
                             std::span<const Assignment> assignments, double limit);

/// Refers to the placements of the layout and to the nodes.
template <class S>
CreditPlan<S> plan_credit(const Graph& graph, const Contraction& contraction,
                          std::span<const Assignment> assignments, const Eliminated& eliminated,
                          const Layout& layout, std::span<const std::optional<AnyNode>> nodes);

}  // namespace hindsight::internal
