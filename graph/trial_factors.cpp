#include <hindsight/graph/trial_factors.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/lowering.hpp>

namespace hindsight {

template <class S>
auto TrialFactors<S>::lower(const std::vector<NodeId>& functions, const std::vector<NodeId>& readers)
    -> const Lowered& {
  const auto [found, is_new] = lowered_.try_emplace({functions, readers});
  Lowered& lowered = found->second;
  if (!is_new) return lowered;
  std::map<std::type_index, std::vector<AnyNode::Placed>> by_kind;
  const auto place = [&](const std::vector<NodeId>& ids, std::vector<Placement>& placed) {
    placed.reserve(ids.size());
    for (const NodeId id : ids) {
      const auto index = static_cast<std::size_t>(id.index);
      Placement& at = placed.emplace_back(placements_[index]);
      for (ParentPlace& parent : at.parents) parent.wants_messages = parent.wants_slopes = false;
      by_kind[nodes_[index]->type()].push_back({&*nodes_[index], &at});
    }
  };
  place(functions, lowered.functions);
  place(readers, lowered.readers);
  std::vector<std::vector<AnyNode::Placed>> groups;
  for (auto& of_kind : by_kind) groups.push_back(std::move(of_kind.second));
  lowered.blocks = lower_groups<S>(groups);
  return lowered;
}

template <class S>
std::size_t TrialFactors<S>::add(const EliminationPlan& plan, const EliminationPlan::Trial& trial,
                                 std::span<const TrialTable> tables) {
  const auto place = [&](NodeId node) { return &placements_[static_cast<std::size_t>(node.index)]; };
  Trial made;
  for (const int variable : trial.open) {
    const UnitRef& unit = plan.variables[static_cast<std::size_t>(variable)];
    made.open.push_back({place(unit.node), static_cast<std::size_t>(unit.unit)});
    made.outcomes.push_back(made.open.back().at->shape.outcomes());
  }
  std::set<NodeId> readers;
  std::set<std::size_t> started;
  for (const TrialTable& table : tables) {
    const UnitRef& unit = plan.factors[table.factor].unit;
    readers.insert(unit.node);
    made.entries.push_back({place(unit.node), static_cast<std::size_t>(unit.unit), table.first_row,
                            table.own_stride, table.strides, started.insert(table.first_row).second});
  }
  made.lowered = &lower(trial.functions, {readers.begin(), readers.end()});
  trials_.push_back(std::move(made));
  return trials_.size() - 1;
}

template <class S>
void TrialFactors<S>::show(const Frame<S>& trial, const OpenUnit& open, const Outcome* outcomes) {
  const Encoding& encoding = open.at->shape.encoding;
  const std::size_t row = open.at->unit_row + open.unit;
  std::copy_n(outcomes, trial.lanes, trial.outcome(row));
  write_features(trial, encoding, outcomes,
                 trial.feature(open.at->feature_row + open.unit * static_cast<std::size_t>(encoding.width)));
  if (!trial.outcome_bits) return;
  std::uint64_t& word = trial.outcome_bits[row] = 0;
  for (int i = 0; i < trial.lanes; ++i) word |= static_cast<std::uint64_t>(outcomes[i] != 0) << i;
}

template <class S>
void TrialFactors<S>::read(const Frame<S>& actual, const Frame<S>& trial, const Trial& of, const Entry& entry,
                           S* row) const {
  const auto outcomes = static_cast<std::size_t>(entry.at->shape.outcomes());
  const std::size_t table_row = entry.at->table_row + entry.unit * outcomes;
  const auto lanes = static_cast<std::size_t>(trial.lanes);
  const auto check = [&](S log_prob) {
    if (std::isnan(log_prob))
      refuse({.code = "value-not-a-number",
              .node = entry.at->name,
              .message = fmt::format("its log-probabilities are not numbers once '{}' takes another outcome",
                                     of.open.empty() ? entry.at->name : of.open.front().at->name),
              .help = {"sums have overflowed or an evaluate is wrong: scale the inputs, or check it by "
                       "finite differences"}});
    return log_prob;
  };
  if (entry.own_stride > 0) {
    for (std::size_t k = 0; k < outcomes; ++k) {
      S* const out = row + k * entry.own_stride * lanes;
      const S* const log_probs = trial.log_prob(table_row + k);
      std::fill_n(out, lanes, S(0));
      for (int i = 0; i < trial.samples; ++i) out[i] = check(log_probs[i]);
    }
    return;
  }
  const Outcome* const sampled = actual.outcome(entry.at->unit_row + entry.unit);
  if (entry.starts) std::fill_n(row, lanes, S(0));
  for (int i = 0; i < trial.samples; ++i)
    row[i] += check(trial.log_prob(table_row + static_cast<std::size_t>(sampled[i]))[i]);
}

template <class S>
void TrialFactors<S>::fill(const Frame<S>& actual, const Frame<S>& trial, std::size_t number, S* rows) const {
  const Trial& of = trials_[number];
  OutcomeCounter counter(of.outcomes);
  do {
    for (std::size_t i = 0; i < of.open.size(); ++i) {
      Outcome tried[chunk_samples];
      std::fill_n(tried, trial.lanes, counter[i]);
      show(trial, of.open[i], tried);
    }
    for (const auto& block : of.lowered->blocks) block->forward(trial);
    for (const Entry& entry : of.entries)
      read(actual, trial, of, entry,
           rows + (entry.first_row + counter.row(entry.strides)) * static_cast<std::size_t>(trial.lanes));
  } while (counter.advance());
  for (const OpenUnit& open : of.open) show(trial, open, actual.outcome(open.at->unit_row + open.unit));
  for (const Placement& function : of.lowered->functions)
    for (std::size_t u = 0; u < static_cast<std::size_t>(function.shape.units); ++u)
      std::copy_n(actual.feature(function.feature_row + u), actual.lanes,
                  trial.feature(function.feature_row + u));
}

template <class S>
bool TrialFactors<S>::reads_bits() const {
  return std::any_of(lowered_.begin(), lowered_.end(), [](const auto& lowered) {
    const Blocks<S>& blocks = lowered.second.blocks;
    return std::any_of(blocks.begin(), blocks.end(), [](const auto& block) { return block->reads_bits(); });
  });
}

template <class S>
ScratchSize TrialFactors<S>::scratch(int lanes) const {
  ScratchSize most;
  for (const auto& [key, lowered] : lowered_)
    for (const auto& block : lowered.blocks) {
      const ScratchSize wanted = block->scratch(lanes);
      most = {std::max(most.scalars, wanted.scalars), std::max(most.outcomes, wanted.outcomes)};
    }
  return most;
}

template class TrialFactors<float>;
template class TrialFactors<double>;

}  // namespace hindsight
