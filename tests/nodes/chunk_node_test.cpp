#include <hindsight/core/node.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/bits.hpp"
#include "support/chunk_differences.hpp"
#include "support/chunk_nodes.hpp"
#include "support/cut_batches.hpp"
#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// In two forms at once, which is run sample by sample unless it says otherwise, and in a mixture of them.
struct TwiceWritten : SineVote {
  using SineVote::accumulate;
  using SineVote::log_probs;
  template <class S>
  void log_probs(std::span<const S>, const ChunkReading<S>&, MatrixView<S>) const {}
  template <class S>
  void accumulate(std::span<const S>, const ChunkReading<S>&, MatrixView<const S>, std::span<S>) const {}
};
struct HalfWritten : SineVote {
  template <class S>
  void accumulate(std::span<const S>, const ChunkReading<S>&, MatrixView<const S>, std::span<S>) const {}
};
struct TwiceForChunks : TwiceWritten {
  static constexpr bool takes_chunks = true;
};
static_assert(SampleNode<TwiceWritten> && !ChunkNode<TwiceWritten> && Node<TwiceWritten>);
static_assert(!SampleNode<TwiceForChunks> && ChunkNode<TwiceForChunks> && Node<TwiceForChunks>);
static_assert(!SampleNode<HalfWritten> && !ChunkNode<HalfWritten> && !Node<HalfWritten>);

/// The same kinds of nodes, in one form or another.
struct Forms {
  AnyNode noisy_or, tally, sine_vote, square_sums, feature_product;
};

Forms for_samples() { return {NoisyOr{}, Tally{.most = 3}, SineVote{}, SquareSums{}, FeatureProduct{}}; }
/// By products of matrices: equal up to rounding.
Forms for_chunks() {
  return {ChunkNoisyOr{}, InChunks<Tally>{{.most = 3}}, ChunkSineVote{}, ChunkSquareSums{},
          InChunks<FeatureProduct>{}};
}
/// Sample by sample inside chunks: equal to the last bit.
Forms for_chunks_of_samples() {
  return {InChunks<NoisyOr>{}, InChunks<Tally>{{.most = 3}}, InChunks<SineVote>{}, InChunks<SquareSums>{},
          InChunks<FeatureProduct>{}};
}

///  x(2) ─→ a(2) ─→ or ─→ tally ──→ v ─→ p ─→ y(2) ─→ r      every node of one's own reads something else:
///  ├─────→ k(3) ─────────↗         ↑ └───────↗              outcomes; outcomes of two nodes; a function, an
///  │       └───→ g(2, a too) ──────┤                        input and outcomes; outcomes and an input
///  └───────────↗ ──────────────────┘
struct FormsNet {
  Graph graph;
  NodeId x, a, k, either, tally, g, v, p, y;
  RewardId r;

  explicit FormsNet(const Forms& forms,
                    const EstimatorChoice& choice = Hnca{.assumption = Assumption::relaxed}) {
    x = graph.input("x", 2);
    a = graph.add("a", Bernoulli{.units = 2}, {x});
    k = graph.add("k", Categorical{.classes = 3}, {x});
    either = graph.add("or", forms.noisy_or, {a});
    tally = graph.add("tally", forms.tally, {either, k});
    g = graph.add("g", forms.square_sums, {k, x, a});
    v = graph.add("v", forms.sine_vote, {tally, g, x});
    p = graph.add("p", forms.feature_product, {v});
    y = graph.add("y", Bernoulli{.units = 2}, {p, v});
    r = graph.reward("r", {y});
    for (const NodeId node : {a, k, either, tally, v}) graph.estimate_with(node, choice);
    graph.estimate_with(y, Reinforce{});
  }
  std::vector<NodeId> stochastic() const { return {a, k, either, tally, v, y}; }
  std::vector<NodeId> functions() const { return {g, p}; }
};

/// Made-up inputs and rewards.
template <class S>
struct FormsData {
  explicit FormsData(int samples) {
    Dice dice(12);
    for (int i = 0; i < 2 * samples; ++i) x.push_back(static_cast<S>(dice.between(-1, 1)));
    for (int i = 0; i < samples; ++i) rewards.push_back(static_cast<S>(dice.between(-1, 1)));
  }
  /// Samples begin … end-1, with these outcomes or, if there are none, with such as are drawn.
  void run(const FormsNet& net, const BasicModel<S>& model, BasicWorkspace<S>& run, int begin, int end,
           const BackwardOptions& options = {}, const std::vector<ClampedOutcomes>& clamp = {}) const {
    model.forward(run, {{net.x, {x.data() + 2 * begin, end - begin, 2}}}, {.clamp = clamp});
    model.backward(run,
                   {{net.r, std::span(rewards).subspan(static_cast<std::size_t>(begin),
                                                       static_cast<std::size_t>(end - begin))}},
                   options);
  }
  std::vector<S> x, rewards;
};

}  // namespace

TEST_CASE("derivatives of nodes that are written for chunks are those of their values") {
  const std::vector<ParentShape> discrete = {{.name = "y", .units = 3, .encoding = scalar_encoding({-1, 1})},
                                             {.name = "k", .units = 1, .encoding = one_hot_encoding(2)}};
  const std::vector<ParentShape> mixed = {{.name = "x", .units = 3},
                                          {.name = "k", .units = 2, .encoding = one_hot_encoding(3)}};
  for (const ChunkErrors& errors :
       {chunk_errors_of(ChunkNoisyOr{}, discrete, 1),
        chunk_errors_of(InChunks<Tally>{{.most = 4}}, discrete, 2),
        chunk_errors_of(ChunkSineVote{}, mixed, 3), chunk_errors_of(InChunks<SineVote>{}, mixed, 4),
        chunk_errors_of(ChunkSquareSums{}, mixed, 5),
        chunk_errors_of(InChunks<FeatureProduct>{}, mixed, 6)}) {
    CHECK(errors.in_double < 1e-8);
    CHECK(errors.in_float < 2e-5);
  }
}

TEST_CASE("the exact gradient and the mean estimate do not depend on the form of a node") {
  for (const EstimatorChoice& choice : {EstimatorChoice(Hnca{.assumption = Assumption::relaxed}),
                                        EstimatorChoice(Hnca{.assumption = Assumption::relaxed, .steps = 2}),
                                        EstimatorChoice(HindsightCredit{}), EstimatorChoice(Reinforce{})}) {
    const FormsNet sample(for_samples(), choice), chunk(for_chunks(), choice);
    const std::vector<double> x{0.4, -0.9};
    const auto judge = [&](const FormsNet& net) {
      const auto model = random_model<double>(net.graph, 5, 0.8);
      const std::vector<RewardFunction> rewards{{net.r, [&](const JointOutcome& at) {
                                                   return 1.0 + 2 * at(net.y, 0) -
                                                          3 * at(net.y, 0) * at(net.y, 1);
                                                 }}};
      return enumerate<double>(model, {{net.x, one_sample(x)}}, rewards);
    };
    const Enumeration expected = judge(sample), found = judge(chunk);
    CHECK(expected.states == 4 * 3 * 2 * 3 * 3 * 4);
    REQUIRE(found.gradient.size() == expected.gradient.size());
    double difference = 0, bias = 0, largest = 0;
    for (std::size_t i = 0; i < found.gradient.size(); ++i) {
      difference = larger_error(difference, std::abs(found.gradient[i] - expected.gradient[i]));
      difference = larger_error(difference, std::abs(found.estimate[i] - expected.estimate[i]));
      bias = larger_error(bias, std::abs(found.estimate[i] - found.gradient[i]));
      largest = larger_error(largest, std::abs(found.gradient[i]));
    }
    CHECK(difference < 1e-12);
    CHECK(bias < 1e-12);
    CHECK(largest > 0.05);
  }
}

// 150 samples are chunks of 64, 64 and 22.
TEST_CASE_TEMPLATE("running a node chunk by chunk changes no bit of what its samples get", S, float, double) {
  constexpr int samples = 150;
  const FormsNet sample(for_samples()), chunk(for_chunks_of_samples());
  const FormsData<S> data(samples);
  const auto first = random_model<S>(sample.graph, 6, 0.8), second = random_model<S>(chunk.graph, 6, 0.8);
  auto expected = first.workspace(samples), found = second.workspace(samples);
  data.run(sample, first, expected, 0, samples);
  data.run(chunk, second, found, 0, samples);
  CHECK(bits(found, chunk.stochastic(), chunk.functions()) ==
        bits(expected, sample.stochastic(), sample.functions()));
  CHECK(same_gradient(found, expected));
}

TEST_CASE("messages and gradients by matrices are those of samples one by one") {
  constexpr int samples = 150;
  const FormsNet sample(for_samples()), chunk(for_chunks());
  const FormsData<double> data(samples);
  const auto first = random_model<double>(sample.graph, 6, 0.8),
             second = random_model<double>(chunk.graph, 6, 0.8);
  auto expected = first.workspace(samples), found = second.workspace(samples);
  data.run(sample, first, expected, 0, samples);
  std::vector<ClampedOutcomes> same;
  for (const NodeId node : sample.stochastic()) same.push_back({node, expected.outcomes(node)});
  data.run(chunk, second, found, 0, samples, {}, same);
  const auto difference = [](const auto& a, const auto& b) {
    double largest = 0;
    for (std::ptrdiff_t i = 0; i < a.rows(); ++i)
      for (std::ptrdiff_t j = 0; j < a.cols(); ++j)
        if (a(i, j) != b(i, j)) largest = larger_error(largest, std::abs(a(i, j) - b(i, j)));
    return largest;
  };
  for (const NodeId node : sample.stochastic()) {
    INFO(sample.graph.name(node));
    CHECK(difference(found.log_probs(node), expected.log_probs(node)) < 1e-12);
    CHECK(difference(found.evidence(node), expected.evidence(node)) < 1e-12);
    if (node != sample.y) CHECK(as_eigen(expected.evidence(node)).cwiseAbs().maxCoeff() > 0.1);
  }
  CHECK(difference(MatrixView<const double>(found.gradient()),
                   MatrixView<const double>(expected.gradient())) < 1e-12);
}

TEST_CASE_TEMPLATE("threads and cuts at multiples of 64 change no bit of nodes that are written for chunks",
                   S, float, double) {
  const FormsNet net(for_chunks());
  const FormsData<S> data(300);
  const auto model = random_model<S>(net.graph, 7, 0.8);
  check_cuts(model, net.stochastic(), net.functions(),
             [&](auto& run, int begin, int end, const BackwardOptions& options) {
               data.run(net, model, run, begin, end, options);
             });
}
