#pragma once

#include <span>
#include <vector>

#include <hindsight/core/estimator.hpp>

namespace hindsight {

/// The estimators that parts of the library may speak of without including them. A value: copy it and add
/// your own.
class Catalogue {
 public:
  /// Reports give an opinion on it for every node and reward.
  Catalogue& offer(AnyEstimator estimator);
  /// Auto considers it too, after those preferred before it.
  Catalogue& prefer(AnyEstimator estimator);

  std::span<const AnyEstimator> offered() const { return offered_; }
  std::span<const AnyEstimator> preferred() const { return preferred_; }

 private:
  std::vector<AnyEstimator> offered_, preferred_;
};

}  // namespace hindsight
