#pragma once

#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

/// A node as a user would write one: each of three outcomes gets a bias plus, for every parent unit, a weight
/// that is scaled by the sine of what that unit shows. Not linear in the features, no block of its own.
struct SineVote {
  static constexpr std::string_view kind = "SineVote";
  static constexpr std::size_t outcomes = 3;

  Shape shape(std::span<const ParentShape> parents) const {
    std::size_t features = 0;
    for (const ParentShape& parent : parents) features += parent.features();
    return {.units = 1,
            .encoding = scalar_encoding({-0.5, 0.25, 2}),
            .parameters = {{"votes", outcomes, features + 1}}};
  }

  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    const std::size_t row = reading.features.size() + 1;
    for (std::size_t k = 0; k < outcomes; ++k) {
      out[k] = theta[k * row];
      for (std::size_t f = 0; f + 1 < row; ++f)
        out[k] += theta[k * row + f + 1] * std::sin(reading.features[f] + S(0.3));
    }
    log_softmax(out.data(), outcomes);
  }

  template <class S>
  void accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> weights,
                  std::span<S> out) const {
    std::vector<S> log_prob(outcomes);
    log_probs(theta, reading, std::span<S>(log_prob));
    S total = 0;
    for (const S weight : weights) total += weight;
    const std::size_t row = reading.features.size() + 1;
    for (std::size_t k = 0; k < outcomes; ++k) {
      const S delta = softmax_gradient(weights[k], log_prob[k], total);
      out[k * row] += delta;
      for (std::size_t f = 0; f + 1 < row; ++f)
        out[k * row + f + 1] += delta * std::sin(reading.features[f] + S(0.3));
    }
  }
};

static_assert(Node<SineVote>);

/// The same mathematics without blocks of its own: what runs is the generic block.
template <Node N>
struct Plain {
  N node;
  static constexpr bool reads_patterns = true;

  Shape shape(std::span<const ParentShape> parents) const { return node.shape(parents); }
  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    node.log_probs(theta, reading, out);
  }
  template <class S>
  void accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> weights,
                  std::span<S> out) const {
    node.accumulate(theta, reading, weights, out);
  }
  void initialise(const Initialisation& start, std::span<double> theta) const {
    node.initialise(start, theta);
  }
};

}  // namespace hindsight::testing
