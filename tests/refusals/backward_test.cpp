// What a backward pass and an optimizer refuse.
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <algorithm>
#include <span>
#include <stdexcept>

#include <hindsight/hindsight.hpp>

#include "support/chain.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

constexpr const char* nothing_to_go_back_over =
    R"(error[no-forward]: there is nothing to go back over: no forward pass has succeeded in this workspace
  help: model.forward(run, …);   // before model.backward(run, …))";

}  // namespace

TEST_CASE("a backward pass needs a forward pass that succeeded") {
  Chain chain;
  const auto backward = [&] { chain.model.backward(chain.run, {{chain.r, chain.rewards}}); };
  CHECK(chain.refused(backward) == nothing_to_go_back_over);
  chain.check_runs();
  backward();
  CHECK_THROWS_AS(chain.model.forward(chain.run, {}), Error);
  CHECK(chain.refused(backward) == nothing_to_go_back_over);
  chain.check_runs();
}

TEST_CASE("a forward pass that failed late leaves nothing to go back over either") {
  Chain chain;
  chain.forward();
  const std::vector<Outcome> outcomes{0, 1, 2};
  CHECK_THROWS_AS(chain.model.forward(chain.run, {{chain.x, chain.good()}}, {.clamp = {{chain.b, outcomes}}}),
                  Error);
  CHECK(chain.refused([&] {
    chain.model.backward(chain.run, {{chain.r, chain.rewards}});
  }) == nothing_to_go_back_over);
  chain.check_runs();
}

TEST_CASE("a part cannot be larger than the batch it is a part of") {
  Chain chain;
  chain.forward();
  const auto text = [&](int of) {
    return chain.refused([&] { chain.model.backward(chain.run, {{chain.r, chain.rewards}}, {.of = of}); });
  };
  CHECK(text(2) == R"(error[batch-size]: 3 samples cannot be a part of a batch of 2
  help: .of = the samples of all parts together)");
  CHECK(text(-1) == R"(error[batch-size]: 3 samples cannot be a part of a batch of -1
  help: .of = the samples of all parts together)");
  chain.model.backward(chain.run, {{chain.r, chain.rewards}}, {.of = 3});
  chain.check_runs();
}

TEST_CASE("a reward needs one value per sample of the last forward pass") {
  Chain chain;
  chain.forward();
  const std::vector<float> values(9, 1.0F);
  const auto text = [&](MatrixView<const float> given) {
    return chain.refused([&] { chain.model.backward(chain.run, {{chain.r, given}}); });
  };
  CHECK(text({values.data(), 2, 1}) ==
        R"(error[reward-length]: reward 'r' was given 2 × 1 values for 3 samples
  help: give one value per sample of the last forward pass)");
  CHECK(text({values.data(), 4, 1}) ==
        R"(error[reward-length]: reward 'r' was given 4 × 1 values for 3 samples
  help: give one value per sample of the last forward pass)");
  CHECK(text({values.data(), 3, 3}) ==
        R"(error[reward-length]: reward 'r' was given 3 × 3 values for 3 samples
  help: give one value per sample of the last forward pass)");
  CHECK(text({}) == R"(error[reward-length]: reward 'r' was given 0 × 0 values for 3 samples
  help: give one value per sample of the last forward pass)");
  chain.model.backward(chain.run, {{chain.r, {values.data(), 1, 3}}});
  chain.check_runs();
}

TEST_CASE("a reward that is missing, given twice or unknown is refused") {
  Chain chain;
  chain.forward();
  CHECK(chain.refused([&] { chain.model.backward(chain.run, {}); }) ==
        R"(error[missing-reward]: reward 'r' was not given
  help: model.backward(run, {{r, values}});)");
  CHECK(chain.refused([&] {
    chain.model.backward(chain.run, {{chain.r, chain.rewards}, {chain.r, chain.rewards}});
  }) == R"(error[given-twice]: reward 'r' is given twice as a value
  help: give it once)");
  CHECK(chain.refused([&] {
    chain.model.backward(chain.run, {{RewardId{}, chain.rewards}});
  }) ==
        R"(error[unknown-reward]: reward number -1, given as a value, does not exist; the model has 1 reward
  help: use the id that the graph returned when it was added)");
  CHECK(chain.refused([&] {
    chain.model.backward(chain.run, {{chain.r, chain.rewards}, {RewardId{1}, chain.rewards}});
  }) == R"(error[unknown-reward]: reward number 1, given as a value, does not exist; the model has 1 reward
  help: use the id that the graph returned when it was added)");
  chain.model.backward(chain.run, {{chain.r, chain.rewards}});
  chain.check_runs();
}

TEST_CASE("a reward that is not finite is refused with its place") {
  Chain chain;
  chain.forward();
  const auto text = [&](float value) {
    const std::vector<float> rewards{1.0F, value, 0.0F};
    return chain.refused([&] { chain.model.backward(chain.run, {{chain.r, rewards}}); });
  };
  constexpr float infinite = std::numeric_limits<float>::infinity();
  CHECK(text(std::numeric_limits<float>::quiet_NaN()) ==
        R"(error[reward-not-finite]: reward 'r' is nan in sample 1
  help: give finite rewards; use 0 where there is none)");
  CHECK(text(infinite) == R"(error[reward-not-finite]: reward 'r' is inf in sample 1
  help: give finite rewards; use 0 where there is none)");
  CHECK(text(-infinite) == R"(error[reward-not-finite]: reward 'r' is -inf in sample 1
  help: give finite rewards; use 0 where there is none)");
  chain.model.backward(chain.run, {{chain.r, chain.rewards}});
  chain.check_runs();
}

TEST_CASE("a step along a gradient of another size is refused") {
  Chain chain;
  const Sgd sgd{{.rate = 0.5}};
  const std::vector<float> gradient(3, 1.0F);
  CHECK(chain.refused([&] { sgd.step(chain.model.parameters(), gradient); }) ==
        R"(error[gradient-size]: 9 parameters cannot take a step along a gradient of 3 numbers
  help: sgd.step(model.parameters(), run.gradient());   // of one and the same model)");
  sgd.step(chain.model.parameters(), chain.run.gradient());
  chain.check_runs();
}

namespace {

/// Predicts nothing and cannot learn.
struct Stubborn {
  std::string name() const { return "stubborn"; }
  int replicas() const { return 1; }
  std::size_t state_size(std::size_t) const { return 1; }
  template <class S>
  void predict(const BaselineView<S>&, std::span<const double>, std::span<S> out) const {
    std::fill(out.begin(), out.end(), S(0));
  }
  template <class S>
  void learn(const BaselineView<S>&, std::span<double> state) const {
    state[0] = 1;
    throw std::runtime_error("never");
  }
  bool operator==(const Stubborn&) const = default;
};

}  // namespace

TEST_CASE("a baseline that cannot learn leaves gradient and memory as they were") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {});
  const RewardId r = graph.reward("r", {a});
  graph.baseline(r, Stubborn{});
  const Model model = compile(graph);
  Workspace run = model.workspace(1);
  const std::vector<float> one{1};
  model.forward(run, {});
  CHECK_THROWS_AS(model.backward(run, {{r, one}}, {.of = 2, .continues = true}), Error);
  CHECK(run.gradient()[0] == 0);
  CHECK(run.baselines()[0] == 0);
}
