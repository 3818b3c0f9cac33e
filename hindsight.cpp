#include <hindsight/core/catalogue.hpp>
#include <hindsight/estimators/baselines.hpp>
#include <hindsight/estimators/hnca.hpp>
#include <hindsight/estimators/reinforce.hpp>
#include <hindsight/estimators/straight_through.hpp>
#include <hindsight/nodes/activations.hpp>
#include <hindsight/nodes/bernoulli.hpp>
#include <hindsight/nodes/categorical.hpp>
#include <hindsight/nodes/table.hpp>

namespace hindsight {

// Declared in hindsight.hpp, which a source of the library does not include: it includes Eigen.
Catalogue standard_catalogue();

Catalogue standard_catalogue() {
  Catalogue catalogue;
  catalogue.prefer(Hnca{}).prefer(Reinforce{}).offer(Hnca{.assumption = Assumption::relaxed});
  catalogue.offer(Hnca{.steps = 2}).offer(HindsightCredit{});
  for (const Surrogate through : {Surrogate::probabilities, Surrogate::identity, Surrogate::clipped})
    catalogue.offer(StraightThrough{through});
  catalogue.know<Bernoulli>().know<Categorical>().know<Table>();
  catalogue.know<Hnca>().know<StraightThrough>();
  catalogue.know<RunningMean>().know<LeaveOneOut>().know<LinearCritic>();
  catalogue.know<Tanh>().know<Relu>().know<Sigmoid>().know<Identity>();
  return catalogue;
}

}  // namespace hindsight
