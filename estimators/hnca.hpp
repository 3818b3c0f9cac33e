#pragma once

#include <string>
#include <string_view>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/estimator.hpp>

namespace hindsight {

/// What to do where parents of a node's children are its descendants.
enum class Assumption {
  enforced,  ///< refuse, as the paper does
  relaxed,   ///< go on: the product over children is unbiased on any DAG (docs/theory.md)
};

/// Hindsight Network Credit Assignment: credit goes to each outcome by how probable it looks once the
/// outcomes of the node's children are known, less how probable it was before: w = (posterior -
/// prior)·signal. Where a known reward reads the node, each outcome is credited with what the reward would be
/// there: w = posterior·signal(outcome), which without children is the exact expectation. With more steps,
/// descendants that the reward does not read are summed out as far as less than `steps` edges away, and what
/// lies behind them is known instead: no more variance, for one reward, at a cost that compile works out and
/// limits.
struct Hnca {
  static constexpr std::string_view kind = "hnca";
  Assumption assumption = Assumption::enforced;
  int steps = 1;

  Needs needs() const { return {.hindsight_steps = steps, .candidate_rewards = true}; }
  Verdict admissible(const Facts& facts) const;
  std::string name() const;
  static Hnca read(AttributeReader& given);

  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const;

  bool operator==(const Hnca&) const = default;
};

static_assert(Estimator<Hnca>);

/// HNCA over every step there is: credit goes to each outcome by how probable it looks once everything is
/// known that does not follow from the node, and what the reward reads of the rest. Needs no assumption; of
/// all numbers of steps it has the least variance, for one reward, and costs the most.
struct HindsightCredit {
  Needs needs() const { return {.hindsight_steps = every_step, .candidate_rewards = true}; }
  Verdict admissible(const Facts& facts) const;
  std::string name() const { return "hindsight-credit"; }

  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const;

  bool operator==(const HindsightCredit&) const = default;
};

static_assert(Estimator<HindsightCredit>);

}  // namespace hindsight
