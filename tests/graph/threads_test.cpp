// The number of threads is no part of a result, not even of its last bit, and neither is how a batch is cut.
#include <atomic>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/custom_nodes.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

constexpr int features = 21;

/// x ─→ a(35) ─ dense ──→ c(9) ───────→ y(4 classes) ─→ r1
///  │     └─── sparse ──→ d(17) ──────────↗ ↑  ↑
///  └→ b(3 units of 3) ─→ e(5 of 4) ────────┘  │
///  └→ s ─→ t (table) ─→ v (written by a user) ┘        r2 reads v and c
///     f (tanh) reads a and x, g (a user's function) reads f and b; c reads f too, and y reads g
struct Net {
  Graph graph;
  NodeId x;
  std::vector<NodeId> nodes;
  RewardId r1, r2;

  Net() {
    const auto add = [&](const char* name, AnyNode node, std::vector<Edge> edges) {
      nodes.push_back(graph.add(name, std::move(node), std::move(edges)));
      graph.estimate_with(nodes.back(), Hnca{.assumption = Assumption::relaxed});
      return nodes.back();
    };
    x = graph.input("x", features);
    const NodeId a = add("a", Bernoulli{.units = 35}, {x});
    const NodeId b = add("b", Categorical{.classes = 3, .units = 3}, {x});
    const NodeId s = add("s", Bernoulli{.values = zero_one}, {Edge{x, Pattern::random(0.5, 1)}});
    const NodeId f = graph.add("f", Tanh{6}, {a, x}), g = graph.add("g", SquareSums{}, {f, b});
    const NodeId c = add("c", Bernoulli{.units = 9}, {a, f});
    const NodeId d =
        add("d", Bernoulli{.units = 17, .values = {0.3, -2}}, {Edge{a, Pattern::random(0.3, 2)}});
    const NodeId e = add("e", Categorical{.classes = 4, .units = 5}, {b, Edge{a, Pattern::random(0.2, 3)}});
    const NodeId t = add("t", Table{.rows = {{0.2, 0.5, 0.3}, {0.6, 0.4, 0}}}, {s});
    const NodeId v = add("v", SineVote{}, {t, b});
    const NodeId y = add("y", Categorical{.classes = 4}, {c, d, e, v, g});
    r1 = graph.reward("r1", {y});
    r2 = graph.reward("r2", {v, c});
    graph.estimate_with(y, Reinforce{});
    graph.estimate_with(v, r2, Reinforce{});
    graph.estimate_with(c, r2, Reinforce{});
  }
};

template <class S>
struct Data {
  std::vector<S> x, first, second;
  explicit Data(int samples) {
    Dice dice(41);
    for (int i = 0; i < samples * features; ++i)
      x.push_back(dice.chance(0.4) ? S(0) : static_cast<S>(dice.between(-1, 1)));
    for (int i = 0; i < samples; ++i) {
      first.push_back(static_cast<S>(dice.between(-1, 1)));
      second.push_back(static_cast<S>(dice.between(-1, 1)));
    }
  }
  void run(const Net& net, const BasicModel<S>& model, BasicWorkspace<S>& run, int begin, int end,
           const BackwardOptions& options = {}) const {
    const auto from = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
    model.forward(run, {{net.x, {x.data() + begin * features, end - begin, features}}});
    model.backward(
        run,
        {{net.r1, std::span(first).subspan(from, count)}, {net.r2, std::span(second).subspan(from, count)}},
        options);
  }
};

/// Every bit that a run leaves for its user to see; the gradient apart.
template <class S>
std::vector<unsigned char> bits(const BasicWorkspace<S>& run, const std::vector<NodeId>& nodes) {
  std::vector<unsigned char> all;
  const auto append = [&](const auto& view, std::ptrdiff_t row) {
    for (std::ptrdiff_t j = 0; j < view.cols(); ++j) {
      const auto* const first = reinterpret_cast<const unsigned char*>(&view(row, j));
      all.insert(all.end(), first, first + sizeof(view(row, j)));
    }
  };
  for (int i = 0; i < run.samples(); ++i)
    for (const NodeId node : nodes) {
      append(run.outcomes(node), i);
      append(run.log_probs(node), i);
      append(run.evidence(node), i);
      append(run.weights(node), i);
    }
  return all;
}

template <class S>
bool same_gradient(const BasicWorkspace<S>& a, const BasicWorkspace<S>& b) {
  return a.gradient().size() == b.gradient().size() &&
         std::memcmp(a.gradient().data(), b.gradient().data(), a.gradient().size_bytes()) == 0;
}

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
  void accumulate(std::span<const S>, const Reading<S>& reading, std::span<const S> weights,
                  std::span<S> out) const {
    if (failing == Failing::in_accumulate) refuse(reading, "gradient");
    out[0] += weights[1];
  }
};

}  // namespace

TEST_CASE_TEMPLATE("threads do not change a bit of what a run leaves", S, float, double) {
  const Net net;
  for (const InstructionSet set : available_instruction_sets()) {
    const auto model = random_model<S>(net.graph, 8, 0.7, set);
    for (const int samples : {1, 64, 65, 300}) {
      const Data<S> data(samples);
      auto alone = model.workspace(samples);
      CHECK(alone.threads() == 1);
      data.run(net, model, alone, 0, samples);
      const std::vector<unsigned char> expected = bits(alone, net.nodes);
      for (const int threads : {2, 3, 7}) {
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
  Data<S>(300).run(net, model, run, 0, 300);
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
  const Net net;
  constexpr int samples = 300;
  const Data<S> data(samples);
  const auto model = random_model<S>(net.graph, 8, 0.7);
  auto whole = model.workspace(samples);
  data.run(net, model, whole, 0, samples);
  const std::vector<unsigned char> expected = bits(whole, net.nodes);
  for (const int threads : {1, 2, 3, 7})
    for (const std::vector<int>& cuts :
         {std::vector{0, 64, 300}, std::vector{0, 128, 192, 300}, std::vector{0, 64, 128, 192, 256, 300}}) {
      auto part = model.workspace(256, {.threads = threads});
      std::vector<unsigned char> seen;
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        part.seek({.first_sample = static_cast<std::uint32_t>(cuts[i])});
        data.run(net, model, part, cuts[i], cuts[i + 1], {.of = samples, .continues = i > 0});
        const auto more = bits(part, net.nodes);
        seen.insert(seen.end(), more.begin(), more.end());
      }
      INFO(threads, " threads, ", cuts.size() - 1, " parts");
      CHECK(seen == expected);
      CHECK(same_gradient(part, whole));
    }
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
  const auto check = [&](Failing failing, const std::string& expected) {
    Graph graph;
    const NodeId x = graph.input("x", 1), a = graph.add("a", Bernoulli{}, {x}),
                 bad = graph.add("bad", Touchy{failing}, {x, a});
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
  check(Failing::in_log_probs, threw("log_probs", "likelihood"));
  check(Failing::in_messages, threw("log_probs", "message"));
  check(Failing::in_accumulate, threw("accumulate", "gradient"));
}

TEST_CASE_TEMPLATE("two threads that each run a workspace of one model get what each gets alone", S, float,
                   double) {
  const Net net;
  constexpr int samples = 200, steps = 5;
  const Data<S> data(samples);
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
