// The gradient of a batch is a sum over its chunks of 64 samples whose order is that of a tree.
#include <hindsight/graph/chunk_tree.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/chunk_nodes.hpp"
#include "support/custom_nodes.hpp"
#include "support/random_dags.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;
using internal::ChunkTree;

namespace {

/// The largest power of two that is less than the count.
std::size_t left_half(std::size_t count) {
  std::size_t half = 1;
  while (2 * half < count) half *= 2;
  return half;
}

/// "((0+1)+2)": what the tree over chunks first … last-1 is, by its definition.
std::string tree(std::size_t first, std::size_t last) {
  if (last - first == 1) return std::to_string(first);
  const std::size_t middle = first + left_half(last - first);
  return "(" + tree(first, middle) + "+" + tree(middle, last) + ")";
}

template <class S>
std::vector<S> tree(const std::vector<std::vector<S>>& chunks, std::size_t first, std::size_t last) {
  if (last - first == 1) return chunks[first];
  const std::size_t middle = first + left_half(last - first);
  std::vector<S> sum = tree(chunks, first, middle);
  const std::vector<S> right = tree(chunks, middle, last);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

///  x ─→ a ─→ t ─→ f ─→ y ─→ r      nodes that ship, and users' own for samples and for chunks
struct Medley {
  Graph graph;
  NodeId x = graph.input("x", 3), y;
  RewardId r;

  Medley() {
    const NodeId a = graph.add("a", Bernoulli{.units = 2, .values = zero_one}, {x});
    const NodeId t = graph.add(
        "t", Table{.rows = {{0.2, 0.5, 0.3}, {0.6, 0.3, 0.1}, {0.1, 0.1, 0.8}, {0.4, 0.4, 0.2}}}, {a});
    const NodeId o = graph.add("o", NoisyOr{}, {a});
    const NodeId p = graph.add("p", ChunkNoisyOr{}, {a});
    const NodeId f = graph.add("f", SquareSums{}, {t, o});
    const NodeId g = graph.add("g", ChunkSquareSums{}, {t, p});
    y = graph.add("y", Categorical{.classes = 3}, {f, g, a});
    r = graph.reward("r", {y});
    for (const NodeId node : {a, t, o, p}) graph.estimate_with(node, Reinforce{});
  }
};

}  // namespace

TEST_CASE("chunks are added up as the tree over them is defined, in as many slots as are said") {
  for (std::size_t count = 1; count <= 200; ++count) {
    std::vector<std::string> slots;
    std::size_t most = 0;
    for (std::size_t chunk = 0; chunk < count; ++chunk) {
      CHECK(slots.size() == ChunkTree::slots_after(chunk));
      const ChunkTree::Step step = ChunkTree::step(chunk, chunk + 1 == count);
      if (step.starts)
        slots.push_back(std::to_string(chunk));
      else
        slots.back() = "(" + slots.back() + "+" + std::to_string(chunk) + ")";
      REQUIRE(step.slot + 1 == slots.size());
      most = std::max(most, slots.size());
      for (std::size_t i = 0; i < step.pairings; ++i) {
        const std::string right = slots.back();
        slots.pop_back();
        slots.back() = "(" + slots.back() + "+" + right + ")";
      }
    }
    CHECK(slots == std::vector{tree(0, count)});
    CHECK(most == ChunkTree::slots_of_whole(count));
    CHECK(ChunkTree::slots_after(count) <= ChunkTree::slots_of_parts(count));
  }
}

TEST_CASE_TEMPLATE("a batch's gradient is the tree over the gradients of its chunks, bit for bit", S, float,
                   double) {
  const Medley net;
  const auto model = compile<S>(net.graph, {.seed = 3});
  Dice dice(4);
  for (const int samples : {40, 128, 200, 64 * 5, 64 * 7 + 10, 64 * 13}) {
    std::vector<S> x, rewards;
    for (int i = 0; i < 3 * samples; ++i) x.push_back(static_cast<S>(dice.between(-1, 1)));
    for (int i = 0; i < samples; ++i) rewards.push_back(static_cast<S>(dice.between(-1, 1)));
    const auto run_part = [&](BasicWorkspace<S>& run, int first, int last, const BackwardOptions& options) {
      run.seek({.first_sample = static_cast<std::uint32_t>(first)});
      model.forward(run, {{net.x, MatrixView<const S>(x.data() + 3 * first, last - first, 3)}});
      model.backward(
          run, {{net.r, std::span<const S>(rewards.data() + first, static_cast<std::size_t>(last - first))}},
          options);
      return std::vector<S>(run.gradient().begin(), run.gradient().end());
    };
    std::vector<std::vector<S>> chunks;
    auto alone = model.workspace(64), together = model.workspace(64);
    for (int first = 0; first < samples; first += 64) {
      const int last = std::min(first + 64, samples);
      chunks.push_back(run_part(alone, first, last, {.of = samples}));
      const std::vector<S> so_far = run_part(together, first, last, {.of = samples, .continues = first > 0});
      CHECK(so_far == tree(chunks, 0, chunks.size()));
    }
    for (const int threads : {1, 2, 3}) {
      auto whole = model.workspace(samples, {.threads = threads});
      CHECK(run_part(whole, 0, samples, {}) == tree(chunks, 0, chunks.size()));
      // In parts of three chunks and one, after a batch that was left open.
      auto parts = model.workspace(192, {.threads = threads});
      run_part(parts, 0, std::min(64, samples), {.of = samples + 1});
      std::vector<S> sum;
      for (int first = 0, next; first < samples; first = next) {
        next = std::min(first + (first % 256 == 0 ? 192 : 64), samples);
        sum = run_part(parts, first, next, {.of = samples, .continues = first > 0});
      }
      CHECK(sum == tree(chunks, 0, chunks.size()));
    }
  }
}

TEST_CASE("a batch that was whole and goes on is added to") {
  const Medley net;
  const auto model = compile<double>(net.graph, {.seed = 3});
  auto run = model.workspace(200);
  const std::vector<double> x(600, 0.5), rewards(200, 1.0);
  const auto step = [&](const BackwardOptions& options) {
    run.seek({});
    model.forward(run, {{net.x, {x.data(), 200, 3}}});
    model.backward(run, {{net.r, rewards}}, options);
    return std::vector<double>(run.gradient().begin(), run.gradient().end());
  };
  const std::vector<double> once = step({}), twice = step({.continues = true});
  for (std::size_t i = 0; i < once.size(); ++i)
    CHECK(twice[i] == doctest::Approx(2 * once[i]).epsilon(1e-12));
}

TEST_CASE("parts that do not fit their batch are refused, and those that do go on") {
  const Medley net;
  const Model model = compile(net.graph, {.seed = 3});
  auto run = model.workspace(64);
  const std::vector<float> x(192, 0.5F), rewards(64, 1.0F);
  const auto part = [&](const BackwardOptions& options) {
    model.forward(run, {{net.x, {x.data(), 64, 3}}});
    model.backward(run, {{net.r, rewards}}, options);
  };
  part({.of = 160});
  CHECK(refusal([&] { part({.continues = true}); }) ==
        "error[batch-size]: this part continues a batch of 160 samples, and says that it is one of 0\n"
        "  help: .of = 160   // in every part, the first included");
  part({.of = 160, .continues = true});
  CHECK(refusal([&] { part({.of = 160, .continues = true}); }) ==
        "error[batch-size]: 64 samples are too many for the rest of a batch of 160, of which 128 were given\n"
        "  help: .of = the samples of all parts together");
  CHECK(refusal([&] { model.workspace(64, {.batch = -1}); }) ==
        "error[batch-size]: a batch of -1 samples cannot come in parts\n"
        "  help: .batch = the samples of all parts together");
}
