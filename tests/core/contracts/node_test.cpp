#include <hindsight/core/node.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

using namespace hindsight;

namespace {

/// Three outcomes by a row of logits each; what it does for one sample, whatever type the numbers come in.
struct Generic {
  Shape shape(std::span<const ParentShape>) const {
    return {.encoding = scalar_encoding({0, 1, 2}), .parameters = {{"logits", 3}}};
  }
  void log_probs(auto theta, const auto& reading, auto out) const {
    for (std::size_t k = 0; k < 3; ++k)
      out[k] = theta[k] * (static_cast<decltype(out[k] + 0)>(reading.outcomes[0]) + 1);
    log_softmax(out.data(), 3);
  }
  void accumulate(auto theta, const auto& reading, auto credit, auto gradient) const {
    auto log_prob = std::vector(credit.begin(), credit.end());
    log_probs(theta, reading, std::span(log_prob));
    const auto total = credit[0] + credit[1] + credit[2];
    for (std::size_t k = 0; k < 3; ++k)
      gradient[k] += softmax_gradient(credit[k], log_prob[k], total) *
                     (static_cast<decltype(credit[k] + 0)>(reading.outcomes[0]) + 1);
  }
  void backpropagate(auto, const auto&, auto, auto) const {}
};
/// The compiler must look inside to see what is returned, which it can only do for one sample.
struct Deduced : Generic {
  auto log_probs(auto theta, const auto& reading, auto out) const {
    Generic::log_probs(theta, reading, out);
    return out.size();
  }
  auto accumulate(auto theta, const auto& reading, auto credit, auto gradient) const {
    Generic::accumulate(theta, reading, credit, gradient);
    return credit.size();
  }
  auto backpropagate(auto, const auto&, auto credit, auto) const { return credit.size(); }
};
/// The same for chunks.
struct DeducedForChunks : Generic {
  static constexpr bool takes_chunks = true;

  auto log_probs(auto theta, const auto& reading, auto out) const {
    for (std::ptrdiff_t i = 0; i < out.rows(); ++i) {
      for (std::ptrdiff_t k = 0; k < 3; ++k)
        out(i, k) = theta[static_cast<std::size_t>(k)] *
                    (static_cast<decltype(out(i, k) + 0)>(reading.outcomes(i, 0)) + 1);
      log_softmax(&out(i, 0), 3, static_cast<std::size_t>(out.col_stride()));
    }
    return out.rows();
  }
  auto accumulate(auto theta, const auto& reading, auto credit, auto gradient) const {
    for (std::ptrdiff_t i = 0; i < credit.rows(); ++i) {
      auto log_prob = std::vector{credit(i, 0), credit(i, 1), credit(i, 2)};
      const auto row = log_prob;
      const Outcome outcome[] = {reading.outcomes(i, 0)};
      struct {
        std::span<const Outcome> outcomes;
      } const sample{outcome};
      Generic::accumulate(theta, sample, std::span(row), gradient);
    }
    return credit.rows();
  }
  auto backpropagate(auto, const auto&, auto credit, auto) const { return credit.rows(); }
};

/// A function of either kind.
struct GenericFunction {
  Shape shape(std::span<const ParentShape>) const { return {.units = 1}; }
  auto evaluate(auto, const auto& reading, auto out) const { return out[0] = 2 * reading.features[0]; }
  auto backpropagate(auto, const auto&, auto slopes, auto, auto features) const {
    return features[0] += 2 * slopes[0];
  }
};
struct GenericFunctionForChunks : GenericFunction {
  static constexpr bool takes_chunks = true;
  auto evaluate(auto, const auto& reading, auto out) const {
    for (std::ptrdiff_t i = 0; i < out.rows(); ++i) out(i) = 2 * reading.features(i);
    return out.rows();
  }
  auto backpropagate(auto, const auto&, auto slopes, auto, auto features) const {
    for (std::ptrdiff_t i = 0; i < slopes.rows(); ++i) features(i) += 2 * slopes(i);
    return slopes.rows();
  }
};

static_assert(SampleNode<Generic> && !ChunkNode<Generic> && Node<Generic> && BackpropagatingNode<Generic>);
static_assert(SampleNode<Deduced> && !ChunkNode<Deduced> && BackpropagatingNode<Deduced>);
static_assert(ChunkNode<DeducedForChunks> && !SampleNode<DeducedForChunks> &&
              BackpropagatingNode<DeducedForChunks>);
static_assert(SampleFunction<GenericFunction> && !ChunkFunction<GenericFunction>);
static_assert(ChunkFunction<GenericFunctionForChunks> && !SampleFunction<GenericFunctionForChunks>);

//  a ─→ f ─→ b ─→ node ─→ r
std::vector<double> gradient(const AnyNode& function, const AnyNode& node) {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), f = graph.add("f", function, {a}),
               b = graph.add("b", Bernoulli{}, {f}), n = graph.add("node", node, {b});
  const RewardId r = graph.reward("r", {n});
  auto model = compile<double>(graph, {.seed = 4});
  const std::vector<RewardFunction> reward{{r, [=](const JointOutcome& at) {
                                              return at(n) == 2 ? 3.0 : at(n) == 1 ? -1.0 : 0.5;
                                            }}};
  for (std::size_t i = 0; i < 3; ++i)
    model.parameters("node/logits")(static_cast<std::ptrdiff_t>(i)) = 0.3 * static_cast<double>(i * i) - 0.2;
  const Enumeration exact = enumerate<double>(model, {}, reward);
  double bias = 0;
  for (std::size_t i = 0; i < exact.gradient.size(); ++i)
    bias = std::max(bias, std::abs(exact.estimate[i] - exact.gradient[i]));
  CHECK(bias < 1e-14);
  return {exact.gradient.begin(), exact.gradient.end()};
}

}  // namespace

TEST_CASE("generic functions are given single samples, unless the node says that it takes chunks") {
  const std::vector<double> expected = gradient(GenericFunction{}, Generic{});
  CHECK(*std::max_element(expected.begin(), expected.end()) > 0.01);
  CHECK(gradient(GenericFunction{}, Deduced{}) == expected);
  CHECK(gradient(GenericFunctionForChunks{}, DeducedForChunks{}) == expected);
}
