#include <hindsight/graph/clamped_factors.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <hindsight/core/index.hpp>
#include <hindsight/core/node_runner.hpp>
#include <hindsight/core/outcome_counter.hpp>

namespace hindsight::internal {

template <class S>
const ClampedBlocks<S>& ClampedFactors<S>::blocks_of(const std::vector<NodeId>& functions,
                                                     const std::vector<NodeId>& readers) {
  const std::pair key(functions, readers);
  const auto found = blocks_.find(key);
  if (found != blocks_.end()) return found->second;
  return blocks_.emplace(key, ClampedBlocks<S>(functions, readers, placements_, nodes_)).first->second;
}

template <class S>
std::size_t ClampedFactors<S>::add(const EliminationPlan& plan, const EliminationPlan::Trial& trial,
                                   std::span<const TrialTable> tables) {
  const auto place = [&](NodeId node) { return &placements_[index(node)]; };
  Trial made;
  for (const int variable : trial.open) {
    const UnitRef& unit = plan.variables[static_cast<std::size_t>(variable)];
    made.open.push_back({place(unit.node), static_cast<std::size_t>(unit.unit)});
    made.outcome_counts.push_back(made.open.back().at->shape.outcome_count());
  }
  std::set<NodeId> readers;
  std::set<std::size_t> started;
  for (const TrialTable& table : tables) {
    const UnitRef& unit = plan.factors[table.factor].unit;
    readers.insert(unit.node);
    made.entries.push_back({place(unit.node), static_cast<std::size_t>(unit.unit), table.first_row,
                            table.own_stride, table.strides, started.insert(table.first_row).second});
  }
  made.blocks = &blocks_of(trial.functions, {readers.begin(), readers.end()});
  trials_.push_back(std::move(made));
  return trials_.size() - 1;
}

template <class S>
void ClampedFactors<S>::read(const Frame<S>& actual, const Frame<S>& trial, const Trial& of,
                             const Entry& entry, S* row) const {
  const auto outcome_count = static_cast<std::size_t>(entry.at->shape.outcome_count());
  const std::size_t table_row = entry.at->table_row + entry.unit * outcome_count;
  const auto lanes = static_cast<std::size_t>(trial.lanes);
  const auto check = [&](S log_prob) {
    if (std::isnan(log_prob))
      refuse_not_a_number(entry.at->name, of.open.empty() ? entry.at->name : of.open.front().at->name);
    return log_prob;
  };
  if (entry.own_stride > 0) {
    for (std::size_t k = 0; k < outcome_count; ++k) {
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
void ClampedFactors<S>::fill(const Frame<S>& actual, const Frame<S>& trial, std::size_t number,
                             S* rows) const {
  const Trial& of = trials_[number];
  internal::OutcomeCounter counter(of.outcome_counts);
  do {
    for (std::size_t i = 0; i < of.open.size(); ++i) {
      Outcome tried[chunk_samples];
      std::fill_n(tried, trial.lanes, counter[i]);
      show(trial, *of.open[i].at, of.open[i].unit, tried);
    }
    of.blocks->run(trial);
    for (const Entry& entry : of.entries)
      read(actual, trial, of, entry,
           rows + (entry.first_row + counter.row(entry.strides)) * static_cast<std::size_t>(trial.lanes));
  } while (counter.advance());
  for (const OpenUnit& open : of.open)
    show(trial, *open.at, open.unit, actual.outcome(open.at->unit_row + open.unit));
  of.blocks->restore(actual, trial);
}

template <class S>
bool ClampedFactors<S>::reads_bits() const {
  return std::any_of(blocks_.begin(), blocks_.end(), [](const auto& run) { return run.second.reads_bits(); });
}

template <class S>
ScratchSize ClampedFactors<S>::scratch(int lanes) const {
  ScratchSize most;
  for (const auto& [key, blocks] : blocks_) most = larger(most, blocks.scratch(lanes));
  return most;
}

template class ClampedFactors<float>;
template class ClampedFactors<double>;

}  // namespace hindsight::internal
