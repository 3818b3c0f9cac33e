// Who is credited by what: the part of the plan that follows from the estimators and baselines.
#include <algorithm>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/memory.hpp>
#include <hindsight/graph/plan.hpp>

namespace hindsight {
namespace {

std::size_t index(NodeId node) { return static_cast<std::size_t>(node.index); }

}  // namespace

template <class S>
auto Plan<S>::plan_eliminations(const Graph& graph, const Contraction& contraction,
                                std::span<const Assignment> assignments, double limit) -> Eliminated {
  Eliminated eliminated;
  EliminationPlanner planner(graph, contraction);
  constexpr double bytes_of_a_factor = 700;  // the plan's and, at the same time, what it is compiled to
  double bytes = 0;
  for (const Assignment& assignment : assignments) {
    const auto [node, reward] = std::pair(assignment.node, assignment.reward);
    const int steps = assignment.estimator.needs().hindsight_steps;
    if (steps < 2) continue;
    std::vector<EliminationPlan> units;
    for (int unit = 0; unit < graph.shape(node).units; ++unit) {
      units.push_back(planner.plan({node, unit}, reward, steps, limit));
      bytes += bytes_of_a_factor * static_cast<double>(units.back().factors.size());
    }
    require_memory(bytes, "the sums of hindsight over several steps",
                   "graph.estimate_with(node, Hnca{.steps = 2});   // or on fewer nodes");
    if (std::any_of(units.begin(), units.end(), [](const auto& plan) { return !plan.is_one_step; }))
      eliminated.emplace(std::pair(node, reward), std::move(units));
  }
  return eliminated;
}

template <class S>
std::size_t Plan<S>::signal_of(const Assignment& assignment) {
  const auto same = [&](const SignalPlan& signal) {
    return signal.reward == assignment.reward.index && signal.baseline == assignment.baseline;
  };
  const auto found = std::find_if(signals.begin(), signals.end(), same);
  if (found != signals.end()) return static_cast<std::size_t>(found - signals.begin());
  SignalPlan signal{assignment.reward.index, assignment.baseline, baseline_scalars, 0};
  if (const auto& baseline = assignment.baseline) {
    guarded_call({"baseline-threw", nullptr, "the state_size of a baseline"},
                 [&] { signal.state_size = baseline->state_size(input_rows); });
    replicas = std::max(replicas, baseline->replicas());
    baseline_scalars += signal.state_size;
  }
  signals.push_back(std::move(signal));
  return signals.size() - 1;
}

template <class S>
void Plan<S>::credit(const std::vector<Assignment>& assignments, const Contraction& contraction,
                     const Eliminated& eliminated) {
  std::vector<const Assignment*> sorted;
  for (const Assignment& assignment : assignments)
    if (!assignment.estimator.needs().pathwise) sorted.push_back(&assignment);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Assignment* a, const Assignment* b) {
    return std::pair(a->reward, placements[index(a->node)].unit_row) <
           std::pair(b->reward, placements[index(b->node)].unit_row);
  });
  for (const Assignment* const sought : sorted) {
    const Assignment& assignment = *sought;
    const Placement& at = placements[index(assignment.node)];
    const int reward = assignment.reward.index, outcomes = at.shape.outcomes();
    const std::size_t signal = signal_of(assignment);
    std::optional<std::size_t> eliminated_row;
    if (const auto found = eliminated.find({assignment.node, assignment.reward}); found != eliminated.end()) {
      eliminated_row = eliminations.evidence_rows();
      for (const EliminationPlan& unit : found->second) eliminations.add(unit);
    }
    std::optional<std::size_t> asked;
    if (reward_plans[static_cast<std::size_t>(reward)].value &&
        assignment.estimator.needs().candidate_rewards &&
        !contraction.route_to_reward(assignment.node, assignment.reward).empty()) {
      asked = candidates.size();
      Downstream follows = contraction.below_functions(assignment.node);
      follows.children.clear();
      candidates.emplace_back(at, follows, placements, nodes_);
      candidate_rows = std::max(
          candidate_rows, static_cast<std::size_t>(at.shape.units) * static_cast<std::size_t>(outcomes));
    }
    if (!credits.empty() && !asked) {
      CreditRun& last = credits.back();
      const std::size_t next_unit = last.unit_row + static_cast<std::size_t>(last.units);
      if (last.signal == signal && !last.candidates && last.outcomes == outcomes &&
          next_unit == at.unit_row && last.estimator == assignment.estimator &&
          last.eliminated_row.has_value() == eliminated_row.has_value()) {
        last.units += at.shape.units;
        continue;
      }
    }
    credits.push_back({at.name, assignment.estimator, reward, signal, at.shape.units, outcomes, at.unit_row,
                       at.table_row, asked, eliminated_row});
  }
  eliminations.lower();
}

template <class S>
const CreditRun* Plan<S>::credit_of(const Placement& at, RewardId reward) const {
  const auto after = std::upper_bound(credits.begin(), credits.end(), std::pair(reward.index, at.unit_row),
                                      [](const auto& sought, const CreditRun& credit) {
                                        return sought < std::pair(credit.reward, credit.unit_row);
                                      });
  if (after == credits.begin()) return nullptr;
  const CreditRun& credit = *std::prev(after);
  const bool holds =
      credit.reward == reward.index && at.unit_row < credit.unit_row + static_cast<std::size_t>(credit.units);
  return holds ? &credit : nullptr;
}

/// Slopes hold all rewards, so a node counts once, however many credit it.
template <class S>
void Plan<S>::credit_pathwise(const std::vector<Assignment>& assignments) {
  std::vector<const Assignment*> sorted;
  for (const Assignment& assignment : assignments)
    if (assignment.estimator.needs().pathwise) sorted.push_back(&assignment);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Assignment* a, const Assignment* b) {
    const Placement &of_a = placements[index(a->node)], &of_b = placements[index(b->node)];
    return std::pair(-of_a.level, of_a.unit_row) < std::pair(-of_b.level, of_b.unit_row);
  });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && sorted[i]->node == sorted[i - 1]->node) continue;
    const Placement& at = placements[index(sorted[i]->node)];
    if (!pathwise.empty()) {
      auto& [last, level, feature_row, encoding] = pathwise.back();
      const auto units = static_cast<std::size_t>(last.units),
                 width = static_cast<std::size_t>(encoding->width);
      if (level == at.level && last.unit_row + units == at.unit_row &&
          feature_row + units * width == at.feature_row && *encoding == at.shape.encoding &&
          last.estimator == sorted[i]->estimator) {
        last.units += at.shape.units;
        continue;
      }
    }
    pathwise.push_back({{at.name,
                         sorted[i]->estimator,
                         CreditRun::all_rewards,
                         0,
                         at.shape.units,
                         at.shape.outcomes(),
                         at.unit_row,
                         at.table_row,
                         {},
                         {}},
                        at.level,
                        at.feature_row,
                        &at.shape.encoding});
  }
}

template std::size_t Plan<float>::signal_of(const Assignment&);
template Plan<float>::Eliminated Plan<float>::plan_eliminations(const Graph&, const Contraction&,
                                                                std::span<const Assignment>, double);
template void Plan<float>::credit(const std::vector<Assignment>&, const Contraction&, const Eliminated&);
template void Plan<float>::credit_pathwise(const std::vector<Assignment>&);
template std::size_t Plan<double>::signal_of(const Assignment&);
template Plan<double>::Eliminated Plan<double>::plan_eliminations(const Graph&, const Contraction&,
                                                                  std::span<const Assignment>, double);
template void Plan<double>::credit(const std::vector<Assignment>&, const Contraction&, const Eliminated&);
template void Plan<double>::credit_pathwise(const std::vector<Assignment>&);
template const CreditRun* Plan<float>::credit_of(const Placement&, RewardId) const;
template const CreditRun* Plan<double>::credit_of(const Placement&, RewardId) const;

}  // namespace hindsight
