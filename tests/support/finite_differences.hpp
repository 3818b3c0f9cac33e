#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <hindsight/core/node.hpp>

#include "support/larger_error.hpp"
#include "support/shapes.hpp"

namespace hindsight::testing {

/// One sample of some parents: random outcomes with the features they show, random numbers for real-valued
/// parents.
struct MadeUpReading {
  MadeUpReading(std::span<const ParentShape> of, std::mt19937_64& rng) : parents(of) {
    std::uniform_real_distribution<double> value(-1.5, 1.5);
    for (const ParentShape& parent : parents)
      for (int unit = 0; unit < parent.units; ++unit) {
        if (!parent.encoding) {
          features.push_back(value(rng));
          outcomes.push_back(-1);
          continue;
        }
        outcomes.push_back(
            std::uniform_int_distribution<Outcome>(0, parent.encoding->outcome_count - 1)(rng));
        for (int feature = 0; feature < parent.encoding->width; ++feature)
          features.push_back(parent.encoding->value(outcomes.back(), feature));
      }
  }

  std::span<const ParentShape> parents;
  std::vector<double> features;
  std::vector<Outcome> outcomes;
};

/// The node's log-probabilities in S.
template <class S, Node N>
std::vector<S> log_probs_of(const N& node, const std::vector<double>& parameters,
                            const MadeUpReading& made_up) {
  const std::vector<S> theta(parameters.begin(), parameters.end()),
      features(made_up.features.begin(), made_up.features.end());
  const Shape shape = node.shape(made_up.parents);
  std::vector<S> out(static_cast<std::size_t>(shape.units) * static_cast<std::size_t>(shape.outcome_count()));
  const Reading<S> reading{features, made_up.outcomes, made_up.parents};
  if constexpr (SampleNode<N>)
    node.log_probs(std::span<const S>(theta), reading, std::span<S>(out));
  else
    node.log_probs(std::span<const S>(theta), as_chunk(reading), one_sample(out));
  return out;
}

/// Σ credit·∇log π in S, as the node accumulates it on top of what is there already.
template <class S, Node N>
std::vector<double> accumulated_by(const N& node, const std::vector<double>& parameters,
                                   const MadeUpReading& made_up, const std::vector<double>& table_credit) {
  const std::vector<S> theta(parameters.begin(), parameters.end()),
      features(made_up.features.begin(), made_up.features.end()),
      credit(table_credit.begin(), table_credit.end());
  const S already = S(0.5);
  std::vector<S> out(theta.size(), already);
  const Reading<S> reading{features, made_up.outcomes, made_up.parents};
  if constexpr (SampleNode<N>)
    node.accumulate(std::span<const S>(theta), reading, std::span<const S>(credit), std::span<S>(out));
  else
    node.accumulate(std::span<const S>(theta), as_chunk(reading), one_sample(credit), std::span<S>(out));
  std::vector<double> gradient;
  for (const S sum : out) gradient.push_back(static_cast<double>(sum - already));
  return gradient;
}

struct GradientErrors {
  double in_double = 0;  ///< largest |accumulate - central finite difference of Σ w·log π|
  double in_float = 0;   ///< largest |accumulate in float - accumulate in double|
};

/// Judges a node's `accumulate` at random parameters, readings and credit, which is 0 where log π is -∞.
/// The step of 1e-5 leaves an error of about 1e-10 in a right gradient whose third derivatives are of
/// order 1.
template <Node N>
GradientErrors gradient_errors(const N& node, std::span<const ParentShape> parents, std::uint64_t seed) {
  constexpr double step = 1e-5, infinity = std::numeric_limits<double>::infinity();
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  GradientErrors errors;
  for (int trial = 0; trial < 20; ++trial) {
    const MadeUpReading reading(parents, rng);
    std::vector<double> theta(node.shape(parents).parameter_count());
    for (double& parameter : theta) parameter = uniform(rng);
    std::vector<double> credit = log_probs_of<double>(node, theta, reading);
    for (double& weight : credit) weight = weight == -infinity ? 0 : uniform(rng);
    const auto objective = [&] {
      const std::vector<double> log_probs = log_probs_of<double>(node, theta, reading);
      double sum = 0;
      for (std::size_t k = 0; k < credit.size(); ++k)
        if (credit[k] != 0) sum += credit[k] * log_probs[k];
      return sum;
    };
    const std::vector<double> gradient = accumulated_by<double>(node, theta, reading, credit);
    const std::vector<double> in_float = accumulated_by<float>(node, theta, reading, credit);
    for (std::size_t i = 0; i < theta.size(); ++i) {
      const double at = theta[i];
      theta[i] = at + step;
      const double above = objective();
      theta[i] = at - step;
      const double below = objective();
      theta[i] = at;
      errors.in_double = larger_error(errors.in_double, std::abs(gradient[i] - (above - below) / (2 * step)));
      errors.in_float = larger_error(errors.in_float, std::abs(gradient[i] - in_float[i]));
    }
  }
  return errors;
}

}  // namespace hindsight::testing
