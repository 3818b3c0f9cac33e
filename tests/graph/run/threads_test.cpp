// The number of threads is no part of a result, not even of its last bit, and neither is how a batch is cut.
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/bits.hpp"
#include "support/chunk_nodes.hpp"
#include "support/cut_batches.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"
#include "support/share.hpp"
#include "support/two_rewards.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// x ─→ a(35) ─ dense ──→ c(9) ───────→ y(4 classes) ─→ r1
///  │     └─── sparse ──→ d(17) ──────────↗ ↑  ↑
///  └→ b(3 units of 3) ─→ e(5 of 4) ────────┘  │
///  └→ s ─→ t (table) ─→ v (written by a user) ┘        r2 reads v and c
///     f (tanh) reads a and x, g (a user's function) reads f and b; c reads f too, and y reads g;
///     h and w are like g and v, but written for chunks; h reads f and e, w reads h, s and x, and y reads w
struct ThreadedNet {
  Graph graph;
  NodeId x;
  std::vector<NodeId> nodes;
  RewardId r1, r2;

  ThreadedNet() {
    const auto add = [&](const char* name, AnyNode node, std::vector<Edge> edges) {
      nodes.push_back(graph.add(name, std::move(node), std::move(edges)));
      graph.estimate_with(nodes.back(), Hnca{.assumption = Assumption::relaxed});
      return nodes.back();
    };
    x = graph.input("x", TwoRewards<float>::features);
    const NodeId a = add("a", Bernoulli{.units = 35}, {x});
    const NodeId b = add("b", Categorical{.units = 3, .classes = 3}, {x});
    const NodeId s = add("s", Bernoulli{.values = zero_one}, {Edge{x, Pattern::random(0.5, 1)}});
    const NodeId f = graph.add("f", Tanh{6}, {a, x}), g = graph.add("g", SquareSums{}, {f, b});
    const NodeId c = add("c", Bernoulli{.units = 9}, {a, f});
    const NodeId d =
        add("d", Bernoulli{.units = 17, .values = {0.3, -2}}, {Edge{a, Pattern::random(0.3, 2)}});
    const NodeId e = add("e", Categorical{.units = 5, .classes = 4}, {b, Edge{a, Pattern::random(0.2, 3)}});
    const NodeId t = add("t", Table{.rows = {{0.2, 0.5, 0.3}, {0.6, 0.4, 0}}}, {s});
    const NodeId v = add("v", SineVote{}, {t, b});
    const NodeId h = graph.add("h", ChunkSquareSums{}, {f, e}), w = add("w", ChunkSineVote{}, {h, s, x});
    const NodeId y = add("y", Categorical{.classes = 4}, {c, d, e, v, g, w});
    r1 = graph.reward("r1", {y});
    r2 = graph.reward("r2", {v, c});
    graph.estimate_with(y, Reinforce{});
    graph.estimate_with(v, r2, Reinforce{});
    graph.estimate_with(c, r2, Reinforce{});
  }
};

/// Where a user's node fails.
enum class Failing { in_log_probs, in_messages, in_accumulate };

/// One outcome of two, and an exception in samples whose first feature is above 50.
struct Touchy {
  Failing failing;

  Shape shape(std::span<const ParentShape>) const {
    return {.encoding = scalar_encoding({-1, 1}), .parameters = {{"logit", 1}}};
  }
  template <class S>
  static void refuse(const Reading<S>& reading, const char* what) {
    if (reading.features[0] > S(50))
      throw std::runtime_error(fmt::format("no {} of {}", what, reading.features[0]));
  }
  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    if (failing == Failing::in_log_probs) refuse(reading, "likelihood");
    // The parent's outcome is never 1 in this test; as a candidate it is.
    if (failing == Failing::in_messages && reading.outcomes.back() == 1) refuse(reading, "message");
    const S logit = theta[0] + reading.features.back();
    out[0] = log_sigmoid(-logit);
    out[1] = log_sigmoid(logit);
  }
  template <class S>
  void accumulate(std::span<const S>, const Reading<S>& reading, std::span<const S> credit,
                  std::span<S> out) const {
    if (failing == Failing::in_accumulate) refuse(reading, "gradient");
    out[0] += credit[1];
  }
};

}  // namespace

TEST_CASE_TEMPLATE("threads do not change a bit of what a run leaves", S, float, double) {
  const ThreadedNet net;
  for (const InstructionSet set : available_instruction_sets()) {
    const auto model = random_model<S>(net.graph, 8, 0.7, set);
    for (const int samples : {1, 64, 65, 300}) {
      const TwoRewards<S> data(samples);
      auto alone = model.workspace(samples);
      CHECK(alone.threads() == 1);
      data.run(net, model, alone, 0, samples);
      const std::vector<unsigned char> expected = bits(alone, net.nodes);
      for (const int threads : under_sanitizer ? std::vector{3} : std::vector{2, 3, 7}) {
        auto run = model.workspace(samples, {.threads = threads});
        CHECK(run.threads() == threads);
        // Twice from the same position: what is left of the first pass must not show.
        for (int repetition = 0; repetition < 2; ++repetition) {
          run.seek({});
          data.run(net, model, run, 0, samples);
          INFO(threads, " threads, ", samples, " samples, by ", std::string(name(set)));
          CHECK(bits(run, net.nodes) == expected);
          CHECK(same_gradient(run, alone));
        }
      }
    }
  }
  // All parts of the network were in use.
  const auto model = random_model<S>(net.graph, 8, 0.7);
  auto run = model.workspace(300, {.threads = 2});
  TwoRewards<S>(300).run(net, model, run, 0, 300);
  for (std::size_t n = 0; n + 1 < net.nodes.size(); ++n) {
    double most = 0;
    for (std::ptrdiff_t j = 0; j < run.evidence(net.nodes[n]).cols(); ++j)
      most = std::max(most, std::abs(static_cast<double>(run.evidence(net.nodes[n])(5, j))));
    INFO(net.graph.name(net.nodes[n]));
    CHECK(most > 1e-3);
  }
}

TEST_CASE_TEMPLATE("a batch that several threads work in parts gives the bits of the whole", S, float,
                   double) {
  const ThreadedNet net;
  const TwoRewards<S> data(300);
  const auto model = random_model<S>(net.graph, 8, 0.7);
  check_cuts(model, net.nodes, {}, [&](auto& run, int begin, int end, const BackwardOptions& options) {
    data.run(net, model, run, begin, end, options);
  });
}

//  x ─→ a ─→ bad ─→ r
//  └─────────↗                 it fails in samples of several chunks
TEST_CASE("what a user's node throws in some sample is the same for every number of threads") {
  constexpr int samples = 300;
  const std::vector<float> calm(samples, 0.5F), rewards(samples, 1.0F);
  const std::vector<Outcome> zeros(samples, 0);
  std::vector<float> wild = calm;
  for (const std::size_t i : {290U, 199U, 140U, 139U, 77U}) wild[i] = static_cast<float>(i);
  const auto threw = [](const char* function, const char* what) {
    return fmt::format(
        "error[node-threw]: node 'bad': its {} threw: no {} of 77\n  help: let it answer whatever it "
        "is asked; to refuse with a reason of its own, let it throw Error",
        function, what);
  };
  const auto check_node = [&](Failing failing, const AnyNode& touchy, const std::string& expected) {
    Graph graph;
    const NodeId x = graph.input("x", 1), a = graph.add("a", Bernoulli{}, {x}),
                 bad = graph.add("bad", touchy, {x, a});
    const RewardId r = graph.reward("r", {bad});
    const Model model = compile(graph, {.seed = 9});
    for (const int threads : {1, 2, 3, 7}) {
      INFO(threads, " threads");
      auto run = model.workspace(samples, {.threads = threads});
      CHECK(refusal([&] {
              model.forward(run, {{x, wild}}, {.clamp = {{a, zeros}}});
              model.backward(run, {{r, rewards}});
            }) == expected);
      CHECK(run.position().step == (failing == Failing::in_log_probs ? 0 : 1));
      // The workspace goes on as one that has never failed.
      auto fresh = model.workspace(samples);
      fresh.seek(run.position());
      for (auto* each : {&run, &fresh}) {
        model.forward(*each, {{x, calm}});
        model.backward(*each, {{r, rewards}});
      }
      CHECK(bits(run, {a, bad}) == bits(fresh, {a, bad}));
      CHECK(same_gradient(run, fresh));
    }
  };
  const auto check = [&](Failing failing, const std::string& expected) {
    check_node(failing, Touchy{failing}, expected);
    check_node(failing, InChunks<Touchy>{{failing}}, expected);
  };
  check(Failing::in_log_probs, threw("log_probs", "likelihood"));
  check(Failing::in_messages, threw("log_probs", "message"));
  check(Failing::in_accumulate, threw("accumulate", "gradient"));
}

TEST_CASE_TEMPLATE("two threads that each run a workspace of one model get what each gets alone", S, float,
                   double) {
  const ThreadedNet net;
  constexpr int samples = 200, steps = 5;
  const TwoRewards<S> data(samples);
  const auto model = random_model<S>(net.graph, 8, 0.7);
  for (const int threads : {1, 2}) {
    const auto work = [&](BasicWorkspace<S>& run, std::uint32_t stream) {
      run.seek({.stream = stream});
      for (int step = 0; step < steps; ++step) data.run(net, model, run, 0, samples);
    };
    std::vector<BasicWorkspace<S>> together, alone;
    for (int i = 0; i < 2; ++i) {
      together.push_back(model.workspace(samples, {.threads = threads}));
      alone.push_back(model.workspace(samples));
      work(alone.back(), static_cast<std::uint32_t>(i));
    }
    {
      std::atomic<int> ready = 0;
      const auto start = [&](int i) {
        ++ready;
        while (ready < 2) std::this_thread::yield();
        work(together[static_cast<std::size_t>(i)], static_cast<std::uint32_t>(i));
      };
      std::thread other(start, 1);
      start(0);
      other.join();
    }
    for (std::size_t i = 0; i < 2; ++i) {
      INFO("workspace ", i, " of two, ", threads, " threads each");
      CHECK(bits(together[i], net.nodes) == bits(alone[i], net.nodes));
      CHECK(same_gradient(together[i], alone[i]));
      CHECK(together[i].position() == alone[i].position());
    }
  }
}
