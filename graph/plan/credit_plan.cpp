#include <hindsight/graph/credit_plan.hpp>

#include <algorithm>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/memory.hpp>
#include <hindsight/graph/help_lines.hpp>

namespace hindsight::internal {
namespace {

/// Collects what a CreditPlan holds, one assignment after another.
template <class S>
class CreditPlanner {
 public:
  CreditPlanner(const Graph& graph, const Contraction& contraction, const Eliminated& eliminated,
                const Layout& layout, std::span<const std::optional<AnyNode>> nodes)
      : graph_(graph), contraction_(contraction), eliminated_(eliminated), layout_(layout), nodes_(nodes) {}

  CreditPlan<S> plan(std::span<const Assignment> assignments) && {
    std::vector<const Assignment*> by_signals, by_slopes;
    for (const Assignment& assignment : assignments)
      (assignment.estimator.needs().pathwise ? by_slopes : by_signals).push_back(&assignment);
    std::stable_sort(by_signals.begin(), by_signals.end(), [&](const Assignment* a, const Assignment* b) {
      return std::pair(a->reward, place(*a).unit_row) < std::pair(b->reward, place(*b).unit_row);
    });
    std::stable_sort(by_slopes.begin(), by_slopes.end(), [&](const Assignment* a, const Assignment* b) {
      return std::pair(-place(*a).level, place(*a).unit_row) <
             std::pair(-place(*b).level, place(*b).unit_row);
    });
    for (const Assignment* const assignment : by_signals) credit(*assignment);
    for (std::size_t i = 0; i < by_slopes.size(); ++i)
      if (i == 0 || by_slopes[i]->node != by_slopes[i - 1]->node) credit_by_slopes(*by_slopes[i]);
    double elimination_cost = 0;
    for (const EliminationPlan& unit : summed_out_) elimination_cost += unit.cost;
    return {std::move(runs_),    std::move(pathwise_),
            std::move(signals_), baseline_scalars_,
            replicas_,           std::move(reward_reruns_),
            candidate_rows_,     {summed_out_, layout_.placements, nodes_},
            elimination_cost};
  }

 private:
  const Placement& place(const Assignment& assignment) const {
    return layout_.placements[index(assignment.node)];
  }

  void credit(const Assignment& assignment) {
    const Placement& at = place(assignment);
    const std::size_t signal = find_or_add_signal(assignment);
    const std::optional<std::size_t> reward_rerun = add_reward_rerun(assignment),
                                     eliminated_row = take_evidence_rows(assignment);
    CreditRun run{.node = at.name,
                  .estimator = assignment.estimator,
                  .reward = assignment.reward.index,
                  .signal = signal,
                  .units = at.shape.units,
                  .outcome_count = at.shape.outcome_count(),
                  .unit_row = at.unit_row,
                  .table_row = at.table_row,
                  .reward_rerun = reward_rerun,
                  .eliminated_row = eliminated_row};
    if (!runs_.empty() && continues(runs_.back(), run))
      runs_.back().units += run.units;
    else
      runs_.push_back(std::move(run));
  }

  static bool continues(const CreditRun& last, const CreditRun& next) {
    return !next.reward_rerun && !last.reward_rerun && last.signal == next.signal &&
           last.outcome_count == next.outcome_count && last.unit_row + index(last.units) == next.unit_row &&
           last.estimator == next.estimator &&
           last.eliminated_row.has_value() == next.eliminated_row.has_value();
  }

  std::size_t find_or_add_signal(const Assignment& assignment) {
    const auto same = [&](const SignalPlan& signal) {
      return signal.reward == assignment.reward.index && signal.baseline == assignment.baseline;
    };
    const auto found = std::find_if(signals_.begin(), signals_.end(), same);
    if (found != signals_.end()) return static_cast<std::size_t>(found - signals_.begin());
    SignalPlan signal{assignment.reward.index, assignment.baseline, baseline_scalars_, 0};
    if (const auto& baseline = assignment.baseline) {
      guarded_call({"baseline-threw", nullptr, "the state_size of a baseline"},
                   [&] { signal.state_size = baseline->state_size(layout_.input_rows); });
      replicas_ = std::max(replicas_, baseline->replicas());
      baseline_scalars_ += signal.state_size;
    }
    signals_.push_back(std::move(signal));
    return signals_.size() - 1;
  }

  /// None: no known reward can be asked for other outcomes of the units.
  std::optional<std::size_t> add_reward_rerun(const Assignment& assignment) {
    if (!graph_.is_known(assignment.reward) || !assignment.estimator.needs().candidate_rewards ||
        contraction_.route_to_reward(assignment.node, assignment.reward).empty())
      return std::nullopt;
    const Placement& at = place(assignment);
    Downstream follows = contraction_.below_functions(assignment.node);
    follows.children.clear();
    reward_reruns_.emplace_back(at, follows, layout_.placements, nodes_);
    candidate_rows_ = std::max(candidate_rows_, index(at.shape.units) * index(at.shape.outcome_count()));
    return reward_reruns_.size() - 1;
  }

  /// None: messages say all there is to know.
  std::optional<std::size_t> take_evidence_rows(const Assignment& assignment) {
    const auto found = eliminated_.find({assignment.node, assignment.reward});
    if (found == eliminated_.end()) return std::nullopt;
    const Placement& at = place(assignment);
    const std::size_t first = eliminated_rows_;
    eliminated_rows_ += index(at.shape.units) * index(at.shape.outcome_count());
    summed_out_.insert(summed_out_.end(), found->second.begin(), found->second.end());
    return first;
  }

  /// Slopes hold all rewards, so a node counts once, however many credit it.
  void credit_by_slopes(const Assignment& assignment) {
    const Placement& at = place(assignment);
    PathwiseRun run{{.node = at.name,
                     .estimator = assignment.estimator,
                     .reward = CreditRun::all_rewards,
                     .units = at.shape.units,
                     .outcome_count = at.shape.outcome_count(),
                     .unit_row = at.unit_row,
                     .table_row = at.table_row},
                    at.level,
                    at.feature_row,
                    &at.shape.encoding};
    if (!pathwise_.empty() && continues(pathwise_.back(), run))
      pathwise_.back().credit.units += run.credit.units;
    else
      pathwise_.push_back(std::move(run));
  }

  static bool continues(const PathwiseRun& last, const PathwiseRun& next) {
    const std::size_t units = index(last.credit.units), width = index(last.encoding->width);
    return last.level == next.level && last.credit.unit_row + units == next.credit.unit_row &&
           last.feature_row + units * width == next.feature_row && *last.encoding == *next.encoding &&
           last.credit.estimator == next.credit.estimator;
  }

  const Graph& graph_;
  const Contraction& contraction_;
  const Eliminated& eliminated_;
  const Layout& layout_;
  std::span<const std::optional<AnyNode>> nodes_;

  std::vector<CreditRun> runs_;
  std::vector<PathwiseRun> pathwise_;
  std::vector<SignalPlan> signals_;
  std::size_t baseline_scalars_ = 0, candidate_rows_ = 0, eliminated_rows_ = 0;
  int replicas_ = 1;
  std::vector<ClampedRerun<S>> reward_reruns_;
  std::vector<EliminationPlan> summed_out_;  ///< per unit, in the order of their rows
};

}  // namespace

Eliminated plan_eliminations(const Graph& graph, const Contraction& contraction,
                             std::span<const Assignment> assignments, double limit) {
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
    require_memory(bytes, "the sums of hindsight over several steps", HelpLines(graph).fewer_steps(node));
    if (std::any_of(units.begin(), units.end(), [](const auto& plan) { return !plan.is_one_step; }))
      eliminated.emplace(std::pair(node, reward), std::move(units));
  }
  return eliminated;
}

template <class S>
CreditPlan<S> plan_credit(const Graph& graph, const Contraction& contraction,
                          std::span<const Assignment> assignments, const Eliminated& eliminated,
                          const Layout& layout, std::span<const std::optional<AnyNode>> nodes) {
  return CreditPlanner<S>(graph, contraction, eliminated, layout, nodes).plan(assignments);
}

template <class S>
const CreditRun* CreditPlan<S>::find(const Placement& at, RewardId reward) const {
  const auto after = std::upper_bound(
      runs.begin(), runs.end(), std::pair(reward.index, at.unit_row),
      [](const auto& sought, const CreditRun& run) { return sought < std::pair(run.reward, run.unit_row); });
  if (after == runs.begin()) return nullptr;
  const CreditRun& run = *std::prev(after);
  const bool holds = run.reward == reward.index && at.unit_row < run.unit_row + index(run.units);
  return holds ? &run : nullptr;
}

template CreditPlan<float> plan_credit(const Graph&, const Contraction&, std::span<const Assignment>,
                                       const Eliminated&, const Layout&,
                                       std::span<const std::optional<AnyNode>>);
template CreditPlan<double> plan_credit(const Graph&, const Contraction&, std::span<const Assignment>,
                                        const Eliminated&, const Layout&,
                                        std::span<const std::optional<AnyNode>>);
template struct CreditPlan<float>;
template struct CreditPlan<double>;

}  // namespace hindsight::internal
