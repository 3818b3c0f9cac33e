#pragma once

#include <string>

#include <hindsight/core/estimator.hpp>

namespace hindsight {

/// HNCA over every step there is: credit goes to each outcome by how probable it looks once everything is
/// known that the reward reads, and nothing else that follows from the node. Needs no assumption; of all
/// numbers of steps it has the least variance and costs the most.
struct HindsightCredit {
  Needs needs() const { return {.hindsight_steps = every_step, .candidate_rewards = true}; }
  Verdict admissible(const Facts& facts) const;
  std::string name() const { return "hindsight-credit"; }

  template <class S>
  void add_weights(const LocalView<S>& view, const WeightTable<S>& weights) const;

  bool operator==(const HindsightCredit&) const = default;
};

static_assert(Estimator<HindsightCredit>);

}  // namespace hindsight
