#include <hindsight/nodes/linear.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/custom_nodes.hpp"
#include "support/larger_error.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

using Long = long double;

constexpr auto as_it_is = [](auto node) { return AnyNode(node); };
constexpr auto as_mathematics = [](auto node) { return AnyNode(Plain<decltype(node)>{node}); };

//  x ─→ a ─→ c ─→ e ─→ reward      a and b are also read by d and c, and x by all but e:
//  └──→ b ─→ d ──↗                 real, binary and one-hot features into binary and categorical units
struct Network {
  template <class Wrap>
  Network(const Wrap& wrap, bool sparse) {
    std::uint64_t seed = 0;
    const auto edge = [&](NodeId parent) {
      return Edge(parent, sparse ? Pattern::random(0.6, ++seed) : Pattern::dense());
    };
    x = graph.input("x", 3);
    nodes.push_back(graph.add("a", wrap(Bernoulli{.units = 5}), {edge(x)}));
    nodes.push_back(graph.add("b", wrap(Categorical{.units = 3, .classes = 3}), {edge(x)}));
    nodes.push_back(graph.add("c", wrap(Bernoulli{.units = 4, .values = zero_one}),
                              {edge(nodes[0]), edge(nodes[1]), edge(x)}));
    nodes.push_back(graph.add("d", wrap(Categorical{.units = 2, .classes = 4}),
                              {edge(nodes[0]), edge(nodes[1]), edge(x)}));
    nodes.push_back(graph.add("e", wrap(Bernoulli{.units = 3}), {edge(nodes[2]), edge(nodes[3])}));
    reward = graph.reward("reward", {nodes[4]});
  }
  Graph graph;
  NodeId x;
  std::vector<NodeId> nodes;
  RewardId reward;
};

/// Largest difference, relative where numbers are above 1.
template <class View>
double difference(const View& a, const View& b) {
  REQUIRE(a.rows() == b.rows());
  REQUIRE(a.cols() == b.cols());
  double largest = 0;
  for (std::ptrdiff_t i = 0; i < a.rows(); ++i)
    for (std::ptrdiff_t j = 0; j < a.cols(); ++j) {
      const auto left = static_cast<double>(a(i, j)), right = static_cast<double>(b(i, j));
      largest =
          larger_error(largest, std::abs(left - right) / std::max({1.0, std::abs(left), std::abs(right)}));
    }
  return largest;
}

Long log_sigmoid_of(Long x) { return x > 0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x)); }

/// σ(l + λ) - σ(l) without cancellation.
Long sigmoid_step(Long l, Long lambda) {
  const Long high = std::max(l, l + lambda), low = std::min(l, l + lambda);
  const Long size = std::exp(log_sigmoid_of(high) + log_sigmoid_of(-low)) * -std::expm1(-std::abs(lambda));
  return lambda < 0 ? -size : size;
}

std::vector<Long> log_softmax_of(std::vector<Long> logits) {
  const Long largest = *std::max_element(logits.begin(), logits.end());
  Long sum = 0;
  for (const Long logit : logits) sum += std::exp(logit - largest);
  for (Long& logit : logits) logit = logit - largest - std::log(sum);
  return logits;
}

template <class S>
bool close(S value, Long expected, double relative, double absolute = std::numeric_limits<S>::min()) {
  return std::isfinite(value) &&
         std::abs(static_cast<Long>(value) - expected) <= relative * std::abs(expected) + absolute;
}

}  // namespace

// Seed 11. Both sum in different orders; a uniform that falls into the rounding between them (chance 1e-4 in
// float) would change an outcome, so all else is compared on the same outcomes.
TEST_CASE_TEMPLATE("the linear block equals the plain mathematics of its nodes", S, float, double) {
  const double tolerance = std::is_same_v<S, float> ? 1e-5 : 1e-12;
  for (const InstructionSet set : available_instruction_sets())
    for (const bool sparse : {false, true}) {
      const Network fused(as_it_is, sparse), plain(as_mathematics, sparse);
      auto model = compile<S>(fused.graph, {.seed = 11, .instructions = set}),
           reference = compile<S>(plain.graph, {.seed = 11, .instructions = set});
      CHECK(std::equal(model.parameters().begin(), model.parameters().end(), reference.parameters().begin()));
      std::mt19937_64 rng(12);
      std::normal_distribution<double> normal;
      for (std::size_t i = 0; i < model.parameters().size(); ++i)
        reference.parameters()[i] = model.parameters()[i] =
            2 * model.parameters()[i] + static_cast<S>(0.3 * normal(rng));

      const int samples = 70;  // more than one chunk, and no multiple of the padding
      std::vector<S> inputs(3 * samples), rewards(samples);
      for (S& value : inputs) value = static_cast<S>(normal(rng));
      for (S& value : rewards) value = static_cast<S>(normal(rng));
      const MatrixView<const S> given(inputs.data(), samples, 3);
      auto run = model.workspace(samples), expected = reference.workspace(samples);
      model.forward(run, {{fused.x, given}});
      reference.forward(expected, {{plain.x, given}});
      ForwardOptions same;
      for (const NodeId node : fused.nodes) {
        CHECK(difference(run.outcomes(node), expected.outcomes(node)) == 0);
        same.clamp.push_back({node, run.outcomes(node)});
      }
      reference.forward(expected, {{plain.x, given}}, same);
      model.backward(run, {{fused.reward, rewards}});
      reference.backward(expected, {{plain.reward, rewards}});
      for (const NodeId node : fused.nodes) {
        INFO("node ", fused.graph.name(node), sparse ? ", sparse, by " : ", dense, by ",
             std::string(name(set)));
        CHECK(difference(run.log_probs(node), expected.log_probs(node)) < tolerance);
        CHECK(difference(run.evidence(node), expected.evidence(node)) < tolerance);
        CHECK(difference(run.credit(node), expected.credit(node)) < tolerance);
      }
      CHECK(difference(MatrixView<const S>(run.gradient()), MatrixView<const S>(expected.gradient())) <
            tolerance);
      // The test would be empty if nobody had sent anything.
      for (std::size_t n = 0; n < 4; ++n) {
        const auto evidence = run.evidence(fused.nodes[n]);
        double most = 0;
        for (std::ptrdiff_t j = 0; j < evidence.cols(); ++j)
          most = std::max(most, std::abs(static_cast<double>(evidence(0, j))));
        CHECK(most > 0.01);
      }
    }
}

// Logits of a and c reach ±1e4, where float rounds to 1e-3: biases and weights are multiples of 2^-10, so
// that sums of them are exact. What is left is the rounding of messages up to 60, in an exponent (60·eps,
// relative), and of the closed form (eps·e^{2|h|}, absolute; beyond |h| = 2.5 the safe form has none of it).
//  a ─→ c ─→ r
TEST_CASE_TEMPLATE("saturated binary units send and receive finite and right messages", S, float, double) {
  const double tolerance = 64 * static_cast<double>(std::numeric_limits<S>::epsilon());
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), c = graph.add("c", Bernoulli{}, {a});
  const RewardId r = graph.reward("r", {c});
  for (const InstructionSet set : available_instruction_sets()) {
    auto model = compile<S>(graph, {.instructions = set});
    auto run = model.workspace(4);
    const std::vector<Outcome> of_a = {0, 0, 1, 1}, of_c = {0, 1, 0, 1};
    const std::vector<S> rewards = {0, 0, 0, 4};  // the mean of four
    for (const double l : {-1e4, -50.0, -0.5, 20.0, 1e4})
      for (const double bias : {-1e4, -40.0, 0.25, 40.0, 1e4})
        for (const double weight : {-30.0, -0.125, 0x1p-10, 2.5, 30.0}) {
          INFO("l ", l, ", bias ", bias, ", weight ", weight);
          const S closed_form = std::abs(weight) > 2.5 ? std::numeric_limits<S>::min()
                                                       : static_cast<S>(std::exp(2 * std::abs(weight))) *
                                                             std::numeric_limits<S>::epsilon();
          model.parameters("a/bias")(0) = static_cast<S>(l);
          model.parameters("c/bias")(0) = static_cast<S>(bias);
          model.parameters("c/weights/a")(0) = static_cast<S>(weight);
          model.forward(run, {}, {.clamp = {{a, of_a}, {c, of_c}}});
          for (std::size_t only = 0; only < 4; ++only) {
            std::vector<S> one(4, S(0));
            one[only] = S(4);
            model.backward(run, {{r, one}});
            const Long sign = of_c[only] ? 1 : -1, actual = of_a[only] ? weight : -weight;
            const Long lambda =
                log_sigmoid_of(sign * (bias + weight)) - log_sigmoid_of(sign * (bias - Long(weight)));
            const auto sample = static_cast<std::ptrdiff_t>(only);
            CHECK(run.evidence(a)(sample, of_a[only]) == S(0));
            CHECK(close(run.evidence(a)(sample, 1 - of_a[only]), of_a[only] ? -lambda : lambda, tolerance,
                        closed_form));
            CHECK(close(run.gradient("a/bias")(0), sigmoid_step(l, lambda), tolerance, closed_form));
            const Long delta = sign * std::exp(log_sigmoid_of(-sign * (bias + actual)));
            CHECK(close(run.gradient("c/bias")(0), delta, tolerance));
            CHECK(close(run.gradient("c/weights/a")(0), of_a[only] ? delta : -delta, tolerance));
          }
        }
  }
}

// THEORY §1: l = 20 and λ = 5. c is far in its tail, where log σ(u) - log σ(v) = u - v = (-50) - (-55).
//  a ─→ c ─→ r
TEST_CASE_TEMPLATE("a saturated unit learns by 2e-9 and not by zero", S, float, double) {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), c = graph.add("c", Bernoulli{}, {a});
  const RewardId r = graph.reward("r", {c});
  for (const InstructionSet set : available_instruction_sets()) {
    auto model = compile<S>(graph, {.instructions = set});
    model.parameters("a/bias")(0) = S(20);
    model.parameters("c/bias")(0) = S(-52.5);
    model.parameters("c/weights/a")(0) = S(2.5);
    auto run = model.workspace(1);
    const std::vector<Outcome> one = {1}, zero = {0};
    const std::vector<S> reward = {S(1)};
    for (const auto& sampled : {zero, one}) {
      model.forward(run, {}, {.clamp = {{a, sampled}, {c, one}}});
      model.backward(run, {{r, reward}});
      CHECK(run.gradient("a/bias")(0) == doctest::Approx(2.0472655e-9).epsilon(1e-5));
    }
  }
}

// As above with three classes on both sides: logits up to 1e4 that are exact in float, messages up to 2e4.
//  a ─→ c ─→ r
TEST_CASE_TEMPLATE("saturated categorical units send and receive finite and right messages", S, float,
                   double) {
  const double tolerance = 64 * static_cast<double>(std::numeric_limits<S>::epsilon());
  Graph graph;
  const NodeId a = graph.add("a", Categorical{.classes = 3}, {}),
               c = graph.add("c", Categorical{.classes = 3}, {a});
  const RewardId r = graph.reward("r", {c});
  for (const InstructionSet set : available_instruction_sets()) {
    auto model = compile<S>(graph, {.instructions = set});
    auto run = model.workspace(1);
    const std::vector<S> reward = {S(1)};
    const std::vector<std::vector<Long>> biases = {
        {0, 0.5L, -0.25L}, {1e4L, 0, -1e4L}, {20, 0, 0}, {-1e4L, -1e4L, 3}};
    const Long weights[3][3] = {{1, -2, 0.5L}, {0, 30, -0.25L}, {-0.125L, 4, 1}};
    for (const auto& of_a : biases)
      for (const auto& of_c : biases)
        for (const Long scale : {Long(1), Long(256)}) {
          for (int k = 0; k < 3; ++k) {
            model.parameters("a/bias")(k) = static_cast<S>(of_a[static_cast<std::size_t>(k)]);
            model.parameters("c/bias")(k) = static_cast<S>(of_c[static_cast<std::size_t>(k)]);
            for (int j = 0; j < 3; ++j)
              model.parameters("c/weights/a")(k, j) = static_cast<S>(scale * weights[k][j]);
          }
          const std::vector<Long> prior = log_softmax_of(of_a);
          for (Outcome was = 0; was < 3; ++was)
            for (Outcome own = 0; own < 3; ++own) {
              const std::vector<Outcome> clamp_a = {was}, clamp_c = {own};
              model.forward(run, {}, {.clamp = {{a, clamp_a}, {c, clamp_c}}});
              model.backward(run, {{r, reward}});
              std::vector<Long> likelihood, joint;
              for (std::size_t j = 0; j < 3; ++j) {
                std::vector<Long> logits;
                for (std::size_t k = 0; k < 3; ++k) logits.push_back(of_c[k] + scale * weights[k][j]);
                likelihood.push_back(log_softmax_of(logits)[static_cast<std::size_t>(own)]);
                joint.push_back(likelihood[j] + prior[j]);
              }
              const std::vector<Long> posterior = log_softmax_of(joint);
              for (std::size_t j = 0; j < 3; ++j) {
                const auto at = static_cast<std::ptrdiff_t>(j);
                INFO("own ", own, ", was ", was, ", candidate ", j);
                CHECK(close(run.evidence(a)(0, at), likelihood[j] - likelihood[static_cast<std::size_t>(was)],
                            tolerance, tolerance));
                CHECK(close(run.gradient("a/bias")(at), std::exp(posterior[j]) - std::exp(prior[j]),
                            tolerance, tolerance));
              }
            }
        }
  }
}
