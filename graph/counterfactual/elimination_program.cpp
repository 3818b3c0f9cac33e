#include <hindsight/graph/elimination_program.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/elimination_kernels.hpp>
#include <hindsight/core/index.hpp>

namespace hindsight::internal {
/// Turns one plan into steps. Rows of tables are handed out upwards: results stay, factors that a type makes
/// lie above them and are gone once their variable is summed out.
template <class S>
class EliminationProgram<S>::Compiler {
 public:
  Compiler(EliminationProgram& made, const EliminationPlan& plan, std::span<const Placement> placements,
           std::span<const std::optional<AnyNode>> nodes)
      : made_(made),
        plan_(plan),
        placements_(placements),
        nodes_(nodes),
        ready_(plan.variables.size()),
        groups_(plan.variables.size()) {
    for (const UnitRef& variable : plan.variables)
      outcome_counts_.push_back(place(variable.node).shape.outcome_count());
  }

  void run() {
    const UnitRef& own = plan_.variables.front();
    const Placement& at = place(own.node);
    Unit unit{.unit_row = at.unit_row + index(own.unit),
              .evidence_row = made_.evidence_rows_,
              .outcome_count = at.shape.outcome_count(),
              .first_trial = 0,
              .trials = plan_.trials.size(),
              .first_step = made_.steps_.size(),
              .steps = 0};
    made_.evidence_rows_ += index(unit.outcome_count);
    std::vector<bool> is_tried(plan_.factors.size(), false);
    for (const EliminationPlan::Trial& trial : plan_.trials) {
      const std::size_t number = add_trial(trial);
      if (&trial == &plan_.trials.front()) unit.first_trial = number;
      for (const std::size_t f : trial.factors) is_tried[f] = true;
    }
    for (std::size_t f = 0; f < plan_.factors.size(); ++f)
      if (!is_tried[f]) gather(plan_.factors[f]);
    for (std::size_t v = plan_.variables.size(); v-- > 1;) sum_out(static_cast<int>(v));
    leave_first();
    unit.steps = made_.steps_.size() - unit.first_step;
    made_.units_.push_back(unit);
  }

 private:
  const Placement& place(NodeId node) const { return placements_[index(node)]; }
  static Scope scope_of(const EliminationPlan::Factor& factor) {
    Scope scope = factor.open;
    if (factor.own >= 0) scope.insert(std::lower_bound(scope.begin(), scope.end(), factor.own), factor.own);
    return scope;
  }
  std::size_t rows(const Scope& scope) const {
    std::size_t rows = 1;
    for (const int variable : scope) rows *= index(outcome_counts_[index(variable)]);
    return rows;
  }
  /// Rows from one outcome of the variable to the next; 0 where the table does not depend on it.
  std::size_t stride(const Scope& scope, int variable) const {
    if (!std::binary_search(scope.begin(), scope.end(), variable)) return 0;
    std::size_t stride = 1;
    for (auto last = scope.rbegin(); *last != variable; ++last)
      stride *= index(outcome_counts_[index(*last)]);
    return stride;
  }
  std::vector<std::size_t> strides(const Scope& scope, const std::vector<int>& variables) const {
    std::vector<std::size_t> strides;
    for (const int variable : variables) strides.push_back(stride(scope, variable));
    return strides;
  }
  std::size_t take(std::size_t count) {
    const std::size_t first = next_row_;
    next_row_ += count;
    made_.table_rows_ = std::max(made_.table_rows_, next_row_);
    return first;
  }

  std::size_t add_trial(const EliminationPlan::Trial& trial) {
    std::vector<TrialTable> tables;
    std::optional<std::size_t> known;  // all factors whose own outcomes are known share a table
    for (const std::size_t f : trial.factors) {
      const EliminationPlan::Factor& factor = plan_.factors[f];
      const Scope scope = scope_of(factor);
      const bool is_own = factor.own >= 0;
      const bool is_new = is_own || !known;
      const std::size_t row = is_new ? take(rows(scope)) : *known;
      if (!is_own) known = row;
      if (is_new) ready_[index(scope.back())].push_back({scope, row});
      tables.push_back({f, row, strides(scope, trial.open), is_own ? stride(scope, factor.own) : 0});
    }
    return made_.trials_.add(plan_, trial, tables);
  }

  /// Puts the factor with those that share its table.
  void gather(const EliminationPlan::Factor& factor) {
    const Scope scope = scope_of(factor);
    const Placement& at = place(factor.unit.node);
    const std::size_t kind = kind_of(factor.unit.node);
    FactorGroup& group = groups_[index(scope.back())][{scope, kind, at.shape.logits, factor.own}];
    if (group.factors.empty()) {
      group.strides = strides(scope, factor.open);
      group.own_stride = factor.own >= 0 ? stride(scope, factor.own) : 0;
    }
    Factor open{.at = &at, .unit = factor.unit.unit, .open = {}};
    for (const int variable : factor.open) {
      const UnitRef& unit = plan_.variables[index(variable)];
      const std::size_t feature_row = place(unit.node).feature_row;
      const auto edge = std::find_if(at.parents.begin(), at.parents.end(), [&](const ParentPlace& parent) {
        return parent.from->feature_row == feature_row;
      });
      open.open.push_back({static_cast<std::size_t>(edge - at.parents.begin()), unit.unit});
    }
    group.factors.push_back(std::move(open));
  }

  std::size_t kind_of(NodeId node) {
    const AnyNode& of = *nodes_[index(node)];
    for (std::size_t k = 0; k < made_.kinds_.size(); ++k)
      if (made_.kinds_[k].type == of.type()) return k;
    made_.kinds_.push_back({of.type(), &of, {}, nullptr});
    return made_.kinds_.size() - 1;
  }

  void sum_out(int variable) {
    std::vector<Table>& tables = ready_[index(variable)];
    Scope clique;
    const auto merge = [&](const Scope& scope) {
      Scope merged;
      std::set_union(clique.begin(), clique.end(), scope.begin(), scope.end(), std::back_inserter(merged));
      clique = std::move(merged);
    };
    for (const Table& table : tables) merge(table.scope);
    for (const auto& [key, group] : groups_[index(variable)]) merge(std::get<0>(key));
    Scope rest = clique;
    rest.pop_back();
    const std::size_t result = take(rows(rest));
    const std::size_t above = next_row_;
    const std::size_t filled = fill_groups(variable, tables);
    const std::vector<Join> surplus = join_surplus(clique, tables);
    add_steps(surplus, {rest, tables, result}, outcome_counts_[index(variable)], filled);
    next_row_ = above;
    if (!rest.empty()) ready_[index(rest.back())].push_back({rest, result});
  }

  void leave_first() {
    std::vector<Table>& tables = ready_.front();
    const std::size_t result = take(index(outcome_counts_.front()));
    const std::size_t filled = fill_groups(0, tables);
    if (tables.empty()) return;
    const Scope scope{0};
    const std::vector<Join> surplus = join_surplus(scope, tables);
    add_steps(surplus, {scope, tables, result}, 0, filled);
  }

  /// Returns the first of what the next step fills.
  std::size_t fill_groups(int variable, std::vector<Table>& tables) {
    const std::size_t first = made_.filled_.size();
    for (auto& [key, group] : groups_[index(variable)]) {
      const Scope& scope = std::get<0>(key);
      Kind& kind = made_.kinds_[std::get<1>(key)];
      tables.push_back({scope, take(rows(scope))});
      made_.filled_.push_back({std::get<1>(key), kind.groups.size(), tables.back().row});
      kind.groups.push_back(std::move(group));
    }
    return first;
  }

  /// Tables that are summed, and where the result goes.
  struct Join {
    Scope scope;
    std::vector<Table> tables;
    std::size_t row = 0;
  };

  /// A call takes so many tables; the surplus becomes one, by what is to be joined before the call.
  std::vector<Join> join_surplus(const Scope& clique, std::vector<Table>& tables) {
    std::vector<Join> surplus;
    while (tables.size() > most_tables) {
      const std::vector<Table> some(tables.end() - most_tables, tables.end());
      tables.resize(tables.size() - most_tables);
      const std::size_t row = take(rows(clique));
      surplus.push_back({clique, some, row});
      tables.push_back({clique, row});
    }
    return surplus;
  }

  void add_steps(std::span<const Join> surplus, const Join& last, int summed, std::size_t first_filled) {
    // What is joined first belongs to the same variable: its tables are filled by the first of the steps.
    for (const Join& join : surplus) {
      add_step(join, 0, first_filled);
      first_filled = made_.filled_.size();
    }
    add_step(last, summed, first_filled);
  }

  void add_step(const Join& join, int summed, std::size_t first_filled) {
    Step step{.first_filled = first_filled,
              .filled = made_.filled_.size() - first_filled,
              .first_used = made_.used_.size(),
              .used = join.tables.size(),
              .first_kept = made_.outcome_counts_.size(),
              .kept = join.scope.size(),
              .summed = summed,
              .row = join.row};
    for (const int variable : join.scope) made_.outcome_counts_.push_back(outcome_counts_[index(variable)]);
    for (const Table& table : join.tables) {
      made_.used_.push_back({table.row, made_.strides_.size()});
      for (const int variable : join.scope)
        made_.strides_.push_back(static_cast<std::uint32_t>(stride(table.scope, variable)));
    }
    made_.steps_.push_back(step);
  }

  EliminationProgram& made_;
  const EliminationPlan& plan_;
  std::span<const Placement> placements_;
  std::span<const std::optional<AnyNode>> nodes_;
  std::vector<int> outcome_counts_;        ///< per variable
  std::vector<std::vector<Table>> ready_;  ///< per variable that is summed out of them
  /// Per such variable: factors by scope, kind, logits and the variable that they are.
  std::vector<std::map<std::tuple<Scope, std::size_t, int, int>, FactorGroup>> groups_;
  std::size_t next_row_ = 0;
};

template <class S>
EliminationProgram<S>::EliminationProgram(std::span<const EliminationPlan> units,
                                          std::span<const Placement> placements,
                                          std::span<const std::optional<AnyNode>> nodes)
    : trials_(placements, nodes) {
  for (const EliminationPlan& unit : units) Compiler(*this, unit, placements, nodes).run();
  for (Kind& kind : kinds_)
    guarded_call({"node-threw", nullptr, "the factors of a kind of node"},
                 [&] { kind.tables = kind.node->template factors<S>(std::move(kind.groups)); });
}

template <class S>
std::size_t EliminationProgram<S>::table_scalars(int lanes) const {
  std::size_t scratch = 0;
  for (const Kind& kind : kinds_) scratch = std::max(scratch, kind.tables->scratch(lanes));
  return table_rows_ * static_cast<std::size_t>(lanes) + padded(scratch);
}

template <class S>
void EliminationProgram<S>::run_step(const Frame<S>& actual, const Step& step, S* tables, S* scratch) const {
  const auto lanes = static_cast<std::size_t>(actual.lanes);
  for (std::size_t f = step.first_filled; f < step.first_filled + step.filled; ++f)
    kinds_[filled_[f].kind].tables->fill(actual, filled_[f].group, tables + filled_[f].row * lanes, scratch);
  std::array<LogTable<S>, most_tables> used;
  for (std::size_t u = 0; u < step.used; ++u) {
    const Used& table = used_[step.first_used + u];
    used[u] = {tables + table.row * lanes, std::span(strides_).subspan(table.first_stride, step.kept)};
  }
  const std::span<const LogTable<S>> summands(used.data(), step.used);
  const std::span<const int> outcome_counts = std::span(outcome_counts_).subspan(step.first_kept, step.kept);
  const auto& kernels = elimination_kernels<S>(actual.instructions);
  if (step.summed > 0)
    kernels.sum_out(summands, outcome_counts, step.summed, actual.lanes, tables + step.row * lanes);
  else
    kernels.join(summands, outcome_counts, actual.lanes, tables + step.row * lanes);
}

template <class S>
void EliminationProgram<S>::run(const Frame<S>& actual, const Frame<S>& trial, S* evidence, S* tables) const {
  const auto lanes = static_cast<std::size_t>(actual.lanes);
  S* const scratch = tables + table_rows_ * lanes;
  for (const Unit& unit : units_) {
    for (std::size_t t = unit.first_trial; t < unit.first_trial + unit.trials; ++t)
      trials_.fill(actual, trial, t, tables);
    for (std::size_t s = unit.first_step; s < unit.first_step + unit.steps; ++s)
      run_step(actual, steps_[s], tables, scratch);
    S* const rows = evidence + unit.evidence_row * actual.stride;
    if (unit.steps == 0) {
      for (int k = 0; k < unit.outcome_count; ++k) std::fill_n(rows + index(k) * actual.stride, lanes, S(0));
      continue;
    }
    const std::size_t last = steps_[unit.first_step + unit.steps - 1].row;
    elimination_kernels<S>(actual.instructions)
        .make_relative(tables + last * lanes, unit.outcome_count, actual.outcome(unit.unit_row), actual.lanes,
                       actual.stride, rows);
  }
}

template class EliminationProgram<float>;
template class EliminationProgram<double>;

}  // namespace hindsight::internal
