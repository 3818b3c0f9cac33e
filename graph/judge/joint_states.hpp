#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hindsight/core/index.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/model.hpp>
#include <hindsight/graph/plan.hpp>

namespace hindsight::internal {

/// Joint outcomes times rows.
template <class S>
double count_states(const Plan<S>& plan, std::ptrdiff_t rows) {
  double states = 1;
  for (const NodeId node : plan.layout.nodes()) {
    const NodeShape& shape = plan.layout.placement(node).shape;
    if (plan.layout.is_stochastic(node)) states *= std::pow(shape.outcome_count(), shape.units);
  }
  return std::pow(states, plan.credit.replicas) * static_cast<double>(rows);
}

/// Counts through all joint outcomes and input rows, the last unit of the last node of the last sample
/// fastest.
template <class S>
class Odometer {
 public:
  using Outcomes = std::vector<std::vector<Outcome>>;  ///< per node, per unit

  Odometer(const Plan<S>& plan, std::span<const InputValues<S>> inputs, std::size_t most_states)
      : plan_(plan), rows_(inputs.empty() ? 1 : static_cast<int>(inputs.front().values.rows())) {
    Outcomes outcomes;
    for (const NodeId node : plan.layout.nodes())
      outcomes.emplace_back(
          plan.layout.is_stochastic(node) ? index(plan.layout.placement(node).shape.units) : 0, 0);
    const double states = count_states(plan, rows_);
    if (states > static_cast<double>(most_states))
      refuse({.code = "too-many-states",
              .message = fmt::format(
                  "exact enumeration would visit {} states (joint outcomes × input rows); the limit is {}",
                  std::isinf(states) ? "more than 1e308" : fmt::format("{:.4g}", states), most_states),
              .help = {"enumerate(model, inputs, rewards, {.most_states = …})   // or a smaller graph"}});
    states_ = static_cast<std::size_t>(states);
    outcomes_.assign(index(plan.credit.replicas), std::move(outcomes));
  }

  std::size_t states() const { return states_; }
  int rows() const { return rows_; }
  int row() const { return row_; }
  /// Per sample of the state.
  std::span<const Outcomes> outcomes() const { return outcomes_; }

  void advance() {
    for (std::size_t sample = outcomes_.size(); sample-- > 0;)
      for (std::size_t n = outcomes_[sample].size(); n-- > 0;)
        for (std::size_t unit = outcomes_[sample][n].size(); unit-- > 0;) {
          if (++outcomes_[sample][n][unit] < plan_.layout.placements[n].shape.outcome_count()) return;
          outcomes_[sample][n][unit] = 0;
        }
    ++row_;
  }

 private:
  const Plan<S>& plan_;
  int rows_, row_ = 0;
  std::size_t states_ = 0;
  std::vector<Outcomes> outcomes_;
};

/// One joint outcome of the odometer.
template <class S>
class ListedSource final : public JointOutcome::Source {
 public:
  ListedSource(std::span<const std::vector<Outcome>> outcomes, std::span<const InputValues<S>> inputs,
               int row)
      : outcomes_(outcomes), inputs_(inputs), row_(row) {}

  Outcome outcome(NodeId node, int unit) const override {
    const std::size_t number = index(node), at = index(unit);
    if (number >= outcomes_.size() || at >= outcomes_[number].size())
      throw std::out_of_range(fmt::format("node number {} has no unit {} with an outcome", node.index, unit));
    return outcomes_[number][at];
  }
  double value(NodeId node, int unit) const override {
    for (const auto& [input, values] : inputs_)
      if (input == node && unit >= 0 && unit < values.cols()) return static_cast<double>(values(row_, unit));
    throw std::out_of_range(fmt::format("node number {} is no input with a unit {}", node.index, unit));
  }

 private:
  std::span<const std::vector<Outcome>> outcomes_;
  std::span<const InputValues<S>> inputs_;
  int row_;
};

}  // namespace hindsight::internal
