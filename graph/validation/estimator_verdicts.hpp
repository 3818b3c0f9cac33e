#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/elimination.hpp>
#include <hindsight/graph/validator.hpp>

namespace hindsight::internal {

/// What is wrong with the limits themselves.
std::vector<Diagnostic> check_limits(const ValidateOptions& options);

/// What the catalogue says of one node and one reward.
struct CatalogueVerdicts {
  SharedList<Opinion> opinions;        ///< on every estimator that is offered
  std::optional<AnyEstimator> chosen;  ///< Auto's choice: the first preferred, admissible and unbiased one
  Verdict verdict;                     ///< on that
  std::string passed_over;             ///< what Auto refused before it, and why; empty: nothing
};

/// Asks estimators. A verdict follows from the facts alone, so that a catalogue is asked once per set of
/// facts and not once per node. Costs are the exception: that of running deterministic nodes again, and that
/// of summing units out, which is worked out only for estimators that would run, never for mere opinions.
class EstimatorVerdicts {
 public:
  /// Refers to all but the options.
  EstimatorVerdicts(const Graph&, const Contraction&, const Catalogue&, const ValidateOptions&);

  /// Valid until the next call.
  const CatalogueVerdicts& of(NodeId node, RewardId reward, const Facts& facts);
  /// On an estimator that would run.
  Verdict ask(const AnyEstimator& estimator, NodeId node, RewardId reward, const Facts& facts);
  /// What to add to the help where summing out passed its limit: a limit that would do, if there is a
  /// reasonable one.
  std::optional<std::string> raise_limit(const AnyEstimator& estimator, NodeId node, RewardId reward);

 private:
  /// Whatever summing out may cost.
  Verdict consult(const AnyEstimator& estimator, NodeId node, const Facts& facts) const;
  bool is_within_limit(NodeId node, const Facts& facts) const;
  Verdict over_limit(NodeId node, const Facts& facts) const;
  /// Of what passes the limit: exact as far as that can be worked out in no time.
  EliminationPlan explained(EliminationPlan plan, int steps, NodeId node, RewardId reward);
  int most_steps(int fewer_than, NodeId node, RewardId reward);
  Verdict refuse_elimination(const EliminationPlan& plan, int steps, NodeId node, RewardId reward,
                             const Facts& facts);
  CatalogueVerdicts ask_catalogue(NodeId node, RewardId reward, const Facts& facts);

  const Graph& graph_;
  const Contraction& contraction_;
  const Catalogue& catalogue_;
  const double rerun_limit_, elimination_limit_;
  bool prefers_elimination_ = false;
  EliminationPlanner planner_;    ///< decides
  EliminationPlanner explainer_;  ///< works out what a refusal says, in a time of its own
  std::size_t refused_eliminations_ = 0;
  std::map<Facts, CatalogueVerdicts> known_;
  CatalogueVerdicts of_its_own_;
};

}  // namespace hindsight::internal
