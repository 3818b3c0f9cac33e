#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Dense>

#include <hindsight/hindsight.hpp>

#include "support/random_graphs.hpp"

namespace hindsight::testing {

/// The exact covariance of the gradient, parameters × parameters.
template <class S>
Eigen::MatrixXd exact_covariance(const RandomGraph& random, const BasicModel<S>& model) {
  std::vector<std::vector<S>> storage;
  const Enumeration exact =
      enumerate<S>(model, random.bind(storage), random.rewards, {.variance = false, .covariance = true});
  return as_eigen(exact.covariance_matrix());
}

/// The least and the largest variance that the first of two covariances has more than the second along any
/// direction of some parameters.
struct Gain {
  Gain(const Eigen::MatrixXd& before, const Eigen::MatrixXd& after,
       const std::vector<std::size_t>& parameters) {
    const Eigen::MatrixXd difference = before(parameters, parameters) - after(parameters, parameters);
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(difference).eigenvalues();
    least = values.minCoeff();
    largest = values.maxCoeff();
  }

  double least = 0, largest = 0;
};

}  // namespace hindsight::testing
