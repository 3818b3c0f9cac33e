#pragma once

#include <string>

#include <hindsight/core/estimator.hpp>

namespace hindsight {

/// The local REINFORCE estimator: all credit goes to the outcome that was sampled. Unbiased everywhere.
struct Reinforce {
  Needs needs() const { return {}; }
  Verdict admissible(const Facts& facts) const;
  std::string name() const { return "reinforce"; }

  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const;

  bool operator==(const Reinforce&) const = default;
};

static_assert(Estimator<Reinforce>);

}  // namespace hindsight
