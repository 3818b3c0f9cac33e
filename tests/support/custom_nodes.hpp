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
  static constexpr std::size_t outcome_count = 3;

  Shape shape(std::span<const ParentShape> parents) const {
    std::size_t features = 0;
    for (const ParentShape& parent : parents) features += parent.features();
    return {.units = 1,
            .encoding = scalar_encoding({-0.5, 0.25, 2}),
            .parameters = {{"votes", outcome_count, features + 1}}};
  }

  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    const std::size_t row = reading.features.size() + 1;
    for (std::size_t k = 0; k < outcome_count; ++k) {
      out[k] = theta[k * row];
      for (std::size_t f = 0; f + 1 < row; ++f)
        out[k] += theta[k * row + f + 1] * std::sin(reading.features[f] + S(0.3));
    }
    log_softmax(out.data(), outcome_count);
  }

  template <class S>
  void accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                  std::span<S> out) const {
    std::vector<S> log_prob(outcome_count);
    log_probs(theta, reading, std::span<S>(log_prob));
    S total = 0;
    for (const S w : credit) total += w;
    const std::size_t row = reading.features.size() + 1;
    for (std::size_t k = 0; k < outcome_count; ++k) {
      const S delta = softmax_gradient(credit[k], log_prob[k], total);
      out[k * row] += delta;
      for (std::size_t f = 0; f + 1 < row; ++f)
        out[k * row + f + 1] += delta * std::sin(reading.features[f] + S(0.3));
    }
  }

  template <class S>
  void backpropagate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                     std::span<S> out) const {
    std::vector<S> log_prob(outcome_count);
    log_probs(theta, reading, std::span<S>(log_prob));
    S total = 0;
    for (const S w : credit) total += w;
    const std::size_t row = reading.features.size() + 1;
    for (std::size_t k = 0; k < outcome_count; ++k)
      for (std::size_t f = 0; f + 1 < row; ++f)
        out[f] += softmax_gradient(credit[k], log_prob[k], total) * theta[k * row + f + 1] *
                  std::cos(reading.features[f] + S(0.3));
  }

  static SineVote read(AttributeReader&) { return {}; }
  void write(Attributes&) const {}
};

static_assert(Node<SineVote> && BackpropagatingNode<SineVote> && WrittenNode<SineVote>);

/// A deterministic node as a user would write one: units that are sums of weighted squares, unit 1 with the
/// sign turned.
struct SquareSums {
  static constexpr std::string_view kind = "SquareSums";
  static constexpr std::size_t units = 2;

  Shape shape(std::span<const ParentShape> parents) const {
    std::size_t features = 0;
    for (const ParentShape& parent : parents) features += parent.features();
    return {.units = units, .parameters = {{"weights", units, features + 1}}};
  }

  template <class S>
  void evaluate(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    const std::size_t row = reading.features.size() + 1;
    for (std::size_t unit = 0; unit < units; ++unit) {
      out[unit] = theta[unit * row];
      for (std::size_t f = 0; f + 1 < row; ++f)
        out[unit] += sign<S>(unit) * theta[unit * row + f + 1] * (reading.features[f] + S(0.5)) *
                     (reading.features[f] + S(0.5));
    }
  }

  template <class S>
  void backpropagate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> slopes,
                     std::span<S> parameters, std::span<S> features) const {
    const std::size_t row = reading.features.size() + 1;
    for (std::size_t unit = 0; unit < units; ++unit) {
      parameters[unit * row] += slopes[unit];
      for (std::size_t f = 0; f + 1 < row; ++f) {
        const S root = reading.features[f] + S(0.5);
        parameters[unit * row + f + 1] += slopes[unit] * sign<S>(unit) * root * root;
        features[f] += slopes[unit] * sign<S>(unit) * theta[unit * row + f + 1] * 2 * root;
      }
    }
  }

  static SquareSums read(AttributeReader&) { return {}; }
  void write(Attributes&) const {}

 private:
  template <class S>
  static S sign(std::size_t unit) {
    return unit == 0 ? S(1) : S(-1);
  }
};

static_assert(WrittenNode<SquareSums> && Function<SquareSums>);

/// A deterministic unit without parameters: the product of all that it reads, each moved off zero.
struct FeatureProduct {
  static constexpr std::string_view kind = "FeatureProduct";

  Shape shape(std::span<const ParentShape>) const { return {.units = 1}; }

  template <class S>
  void evaluate(std::span<const S>, const Reading<S>& reading, std::span<S> out) const {
    out[0] = 1;
    for (const S feature : reading.features) out[0] *= feature + S(0.3);
  }

  template <class S>
  void backpropagate(std::span<const S>, const Reading<S>& reading, std::span<const S> slopes, std::span<S>,
                     std::span<S> features) const {
    for (std::size_t f = 0; f < reading.features.size(); ++f) {
      S others = slopes[0];
      for (std::size_t g = 0; g < reading.features.size(); ++g)
        if (g != f) others *= reading.features[g] + S(0.3);
      features[f] += others;
    }
  }
};

static_assert(Function<FeatureProduct>);

/// Silent unless some parent that is on gets through: parent i does with probability σ(θ_i), each on its own.
struct NoisyOr {
  Shape shape(std::span<const ParentShape> parents) const {
    std::size_t units = 0;
    for (const ParentShape& parent : parents) units += static_cast<std::size_t>(parent.units);
    return {.encoding = scalar_encoding({0, 1}), .parameters = {{"strengths", units}}};
  }
  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    out[0] = 0;
    for (std::size_t i = 0; i < theta.size(); ++i)
      if (reading.outcomes[i] == 1) out[0] -= softplus(theta[i]);
    out[1] = std::log(-std::expm1(out[0]));
  }
  template <class S>
  void accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                  std::span<S> out) const {
    S log_prob[2];
    log_probs(theta, reading, std::span<S>(log_prob));
    for (std::size_t i = 0; i < theta.size(); ++i)
      if (reading.outcomes[i] == 1)
        out[i] += sigmoid(theta[i]) * (credit[1] * std::exp(log_prob[0] - log_prob[1]) - credit[0]);
  }
};

/// Three outcomes by a row of logits that the sum of its parents' outcomes selects; children see two numbers.
struct Tally {
  int most = 0;  ///< the largest sum

  static constexpr std::string_view kind = "Tally";

  Shape shape(std::span<const ParentShape>) const {
    return {.encoding = Encoding{3, 2, {1, 0, -0.5, 2, 0, -1}}, .parameters = {{"logits", most + 1, 3}}};
  }
  static std::size_t first(std::span<const Outcome> outcomes) {
    std::size_t sum = 0;
    for (const Outcome outcome : outcomes) sum += static_cast<std::size_t>(outcome);
    return 3 * sum;
  }
  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    for (std::size_t k = 0; k < 3; ++k) out[k] = theta[first(reading.outcomes) + k];
    log_softmax(out.data(), 3);
  }
  template <class S>
  void accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                  std::span<S> out) const {
    S log_prob[3];
    log_probs(theta, reading, std::span<S>(log_prob));
    for (std::size_t k = 0; k < 3; ++k)
      out[first(reading.outcomes) + k] +=
          softmax_gradient(credit[k], log_prob[k], credit[0] + credit[1] + credit[2]);
  }
  void initialise(const Initialisation& start, std::span<double> theta) const {
    for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = 4 * start.uniform(0, i) - 2;
  }
};

static_assert(Node<NoisyOr> && Node<Tally>);

/// The same mathematics without blocks of its own: what runs is a generic block.
template <class N>
struct Plain {
  N node;
  static constexpr bool reads_patterns = true;

  Shape shape(std::span<const ParentShape> parents) const { return node.shape(parents); }

  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading,
                 std::span<S> out) const requires Node<N> {
    node.log_probs(theta, reading, out);
  }
  template <class S>
  void accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                  std::span<S> out) const requires Node<N> {
    node.accumulate(theta, reading, credit, out);
  }
  template <class S>
  void backpropagate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                     std::span<S> out) const requires BackpropagatingNode<N> {
    node.backpropagate(theta, reading, credit, out);
  }

  template <class S>
  void evaluate(std::span<const S> theta, const Reading<S>& reading,
                std::span<S> out) const requires Function<N> {
    node.evaluate(theta, reading, out);
  }
  template <class S>
  void backpropagate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> slopes,
                     std::span<S> parameters, std::span<S> features) const requires Function<N> {
    node.backpropagate(theta, reading, slopes, parameters, features);
  }

  void initialise(const Initialisation& start, std::span<double> theta) const {
    node.initialise(start, theta);
  }
};

}  // namespace hindsight::testing
