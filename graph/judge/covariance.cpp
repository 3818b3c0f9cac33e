#include <hindsight/graph/covariance.hpp>

#include <utility>

#include <fmt/format.h>
#include <Eigen/Core>

#include <hindsight/core/memory.hpp>

namespace hindsight::internal {
namespace {

std::size_t checked_entries(std::size_t parameters) {
  const auto each = static_cast<double>(parameters);
  require_memory(each * each * sizeof(double), fmt::format("the covariance of {} parameters", parameters),
                 "enumerate(model, inputs, rewards)   // the variance takes one number per parameter");
  return parameters * parameters;
}

/// Columns and rows of a symmetric matrix are the same.
Eigen::Map<Eigen::MatrixXd> as_square(std::vector<double>& entries, std::size_t size) {
  const auto side = static_cast<Eigen::Index>(size);
  return {entries.data(), side, side};
}

}  // namespace

CovarianceSum::CovarianceSum(std::size_t parameters)
    : deviation_(parameters), sum_(checked_entries(parameters), 0.0) {}

template <class S>
void CovarianceSum::add(double probability, std::span<const S> gradient, std::span<const double> mean) {
  for (std::size_t i = 0; i < deviation_.size(); ++i)
    deviation_[i] = static_cast<double>(gradient[i]) - mean[i];
  const Eigen::Map<const Eigen::VectorXd> deviation(deviation_.data(),
                                                    static_cast<Eigen::Index>(deviation_.size()));
  as_square(sum_, deviation_.size()).selfadjointView<Eigen::Lower>().rankUpdate(deviation, probability);
}

std::vector<double> CovarianceSum::take() {
  Eigen::Map<Eigen::MatrixXd> sum = as_square(sum_, deviation_.size());
  sum.triangularView<Eigen::StrictlyUpper>() = sum.transpose();
  return std::move(sum_);
}

template void CovarianceSum::add(double, std::span<const float>, std::span<const double>);
template void CovarianceSum::add(double, std::span<const double>, std::span<const double>);

}  // namespace hindsight::internal
