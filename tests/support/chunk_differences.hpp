#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <hindsight/hindsight.hpp>

#include "support/finite_differences.hpp"
#include "support/larger_error.hpp"

namespace hindsight::testing {

/// Numbers of some samples, a row each, with gaps between the columns as in a workspace.
template <class T>
class GappedMatrix {
 public:
  GappedMatrix(std::ptrdiff_t rows, std::ptrdiff_t cols, T everywhere)
      : numbers_(static_cast<std::size_t>((rows + gap) * cols), everywhere), rows_(rows), cols_(cols) {}

  MatrixView<T> view() { return {numbers_.data(), rows_, cols_, 1, rows_ + gap}; }
  MatrixView<const T> view() const { return {numbers_.data(), rows_, cols_, 1, rows_ + gap}; }
  /// The same in another precision.
  template <class S>
  GappedMatrix<S> as() const {
    GappedMatrix<S> other(rows_, cols_, S(0));
    for (std::ptrdiff_t i = 0; i < rows_; ++i)
      for (std::ptrdiff_t j = 0; j < cols_; ++j) other.view()(i, j) = static_cast<S>(view()(i, j));
    return other;
  }

 private:
  static constexpr std::ptrdiff_t gap = 3;
  std::vector<T> numbers_;
  std::ptrdiff_t rows_, cols_;
};

/// What some parents show in several samples.
struct MadeUpChunk {
  MadeUpChunk(std::span<const ParentShape> of, int samples, std::mt19937_64& rng)
      : parents(of), features(0, 0, 0.0), outcomes(0, 0, Outcome(0)) {
    for (int i = 0; i < samples; ++i) {
      const MadeUpReading one(of, rng);
      if (i == 0) {
        features = {samples, std::ssize(one.features), 0.0};
        outcomes = {samples, std::ssize(one.outcomes), Outcome(0)};
      }
      for (std::size_t j = 0; j < one.features.size(); ++j)
        features.view()(i, static_cast<std::ptrdiff_t>(j)) = one.features[j];
      for (std::size_t j = 0; j < one.outcomes.size(); ++j)
        outcomes.view()(i, static_cast<std::ptrdiff_t>(j)) = one.outcomes[j];
    }
  }

  std::span<const ParentShape> parents;
  GappedMatrix<double> features;
  GappedMatrix<Outcome> outcomes;
};

/// What a node made of a chunk, on top of what was there already: 0.5 everywhere.
struct ChunkDerivatives {
  std::vector<double> by_parameter;
  GappedMatrix<double> by_feature;
};

struct ChunkErrors {
  double in_double = 0;  ///< largest |derivative - central finite difference of Σ weight·value|
  double in_float = 0;   ///< largest |derivative in float - the same in double|
};

/// Judges derivatives at random parameters, readings and weights, over chunks of 5 samples.
///   values(theta, reading, out), in double
///   derivatives<S>(theta, reading, weights, parameters, features)
/// Weights are 0 where a value is -∞. The step of 1e-5 leaves an error of about 1e-10 in a right derivative
/// whose third derivatives are of order 1.
template <class Node, class Values, class Derivatives>
ChunkErrors chunk_errors(const Node& node, std::span<const ParentShape> parents, std::ptrdiff_t columns,
                         std::uint64_t seed, bool by_features, const Values& values,
                         const Derivatives& derivatives) {
  constexpr double step = 1e-5, infinity = std::numeric_limits<double>::infinity();
  constexpr int samples = 5;
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  ChunkErrors errors;
  for (int trial = 0; trial < 10; ++trial) {
    MadeUpChunk chunk(parents, samples, rng);
    std::vector<double> theta(node.shape(parents).parameter_count());
    for (double& parameter : theta) parameter = uniform(rng);
    const auto value = [&] {
      GappedMatrix<double> out(samples, columns, 0.0);
      values(std::span<const double>(theta),
             ChunkReading<double>{std::as_const(chunk.features).view(), std::as_const(chunk.outcomes).view(),
                                  parents},
             out.view());
      return out;
    };
    GappedMatrix<double> weights = value();
    for (int i = 0; i < samples; ++i)
      for (std::ptrdiff_t k = 0; k < columns; ++k)
        weights.view()(i, k) = weights.view()(i, k) == -infinity ? 0 : uniform(rng);
    const auto objective = [&] {
      const GappedMatrix<double> at = value();
      double sum = 0;
      for (int i = 0; i < samples; ++i)
        for (std::ptrdiff_t k = 0; k < columns; ++k)
          if (weights.view()(i, k) != 0) sum += weights.view()(i, k) * at.view()(i, k);
      return sum;
    };
    const auto derive = [&]<class S>(S already) {
      const std::vector<S> parameters(theta.begin(), theta.end());
      const GappedMatrix<S> features = chunk.features.as<S>(), given = weights.as<S>();
      std::vector<S> by_parameter(theta.size(), already);
      GappedMatrix<S> by_feature(samples, chunk.features.view().cols(), already);
      derivatives(std::span<const S>(parameters),
                  ChunkReading<S>{features.view(), std::as_const(chunk.outcomes).view(), parents},
                  given.view(), std::span<S>(by_parameter), by_feature.view());
      return ChunkDerivatives{{by_parameter.begin(), by_parameter.end()}, by_feature.template as<double>()};
    };
    const ChunkDerivatives in_double = derive(0.5), in_float = derive(0.5F);
    const auto compare = [&](double& at, double derivative, double float_derivative) {
      const double kept = at;
      at = kept + step;
      const double above = objective();
      at = kept - step;
      const double below = objective();
      at = kept;
      errors.in_double =
          larger_error(errors.in_double, std::abs(derivative - 0.5 - (above - below) / (2 * step)));
      errors.in_float = larger_error(errors.in_float, std::abs(derivative - float_derivative));
    };
    for (std::size_t i = 0; i < theta.size(); ++i)
      compare(theta[i], in_double.by_parameter[i], in_float.by_parameter[i]);
    if (!by_features) continue;
    for (int i = 0; i < samples; ++i)
      for (std::ptrdiff_t j = 0; j < chunk.features.view().cols(); ++j)
        compare(chunk.features.view()(i, j), in_double.by_feature.view()(i, j),
                in_float.by_feature.view()(i, j));
  }
  return errors;
}

/// Of a node's accumulate and, if it has one, backpropagate.
template <ChunkNode N>
ChunkErrors chunk_errors_of(const N& node, std::span<const ParentShape> parents, std::uint64_t seed) {
  const Shape shape = node.shape(parents);
  return chunk_errors(
      node, parents, static_cast<std::ptrdiff_t>(shape.units) * shape.outcome_count(), seed,
      BackpropagatingNode<N>,
      [&](auto theta, const auto& reading, auto out) { node.log_probs(theta, reading, out); },
      [&](auto theta, const auto& reading, auto credit, auto parameters, auto features) {
        node.accumulate(theta, reading, credit, parameters);
        if constexpr (BackpropagatingNode<N>) node.backpropagate(theta, reading, credit, features);
      });
}

/// Of a function's backpropagate.
template <ChunkFunction F>
ChunkErrors chunk_errors_of(const F& function, std::span<const ParentShape> parents, std::uint64_t seed) {
  return chunk_errors(
      function, parents, function.shape(parents).units, seed, true,
      [&](auto theta, const auto& reading, auto out) { function.evaluate(theta, reading, out); },
      [&](auto theta, const auto& reading, auto slopes, auto parameters, auto features) {
        function.backpropagate(theta, reading, slopes, parameters, features);
      });
}

}  // namespace hindsight::testing
