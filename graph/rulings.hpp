#pragma once

#include <map>
#include <optional>
#include <string>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/contraction.hpp>

namespace hindsight {

/// What the catalogue says of one node and one reward.
struct Ruling {
  SharedList<Opinion> opinions;        ///< on every estimator that is offered
  std::optional<AnyEstimator> chosen;  ///< Auto's choice: the first preferred, admissible and unbiased one
  Verdict verdict;                     ///< on that
  std::string passed_over;             ///< what Auto refused before it, and why; empty: nothing
};

/// Asks estimators. A verdict follows from the facts alone, so that a catalogue is asked once per set of
/// facts and not once per node; the cost of re-evaluating deterministic nodes is the exception.
class Rulings {
 public:
  /// Refers to all but the limit.
  Rulings(const Graph&, const Contraction&, const Catalogue&, double reevaluation_limit);

  /// Valid until the next call.
  const Ruling& of(NodeId node, const Facts& known);
  Verdict ask(const AnyEstimator& estimator, NodeId node, const Facts& known) const;

 private:
  bool is_within_limit(NodeId node) const;
  Verdict over_limit(NodeId node) const;
  Ruling rule(NodeId node, const Facts& known) const;

  const Graph& graph_;
  const Contraction& contraction_;
  const Catalogue& catalogue_;
  const double limit_;
  std::map<Facts, Ruling> known_;
  Ruling of_its_own_;
};

}  // namespace hindsight
