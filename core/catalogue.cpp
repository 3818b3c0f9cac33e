#include <hindsight/core/catalogue.hpp>

#include <utility>

namespace hindsight {

Catalogue& Catalogue::offer(AnyEstimator estimator) {
  offered_.push_back(std::move(estimator));
  return *this;
}

Catalogue& Catalogue::prefer(AnyEstimator estimator) {
  preferred_.push_back(estimator);
  return offer(std::move(estimator));
}

}  // namespace hindsight
