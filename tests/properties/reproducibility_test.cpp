#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/random_graphs.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

///  x ─→ a ─→ c ─→ d ─→ reward
///  └──→ b ────────↗
struct Net {
  static constexpr int features = 5;

  Graph graph;
  NodeId x, a, b, c, d;
  RewardId reward;

  Net() {
    x = graph.input("x", features);
    a = graph.add("a", Bernoulli{.units = 7}, {x});
    b = graph.add("b", Bernoulli{.units = 3, .values = zero_one}, {x});
    c = graph.add("c", Categorical{.units = 2, .classes = 4}, {Edge{a, Pattern::random(0.6, 3)}});
    d = graph.add("d", Categorical{.classes = 3}, {c, b});
    reward = graph.reward("reward", {d});
  }
  std::vector<NodeId> nodes() const { return {a, b, c, d}; }
};

template <class S>
struct Data {
  std::vector<S> x, reward;
  Data(int samples, std::uint64_t seed) {
    Dice dice(seed);
    for (int i = 0; i < samples * Net::features; ++i) x.push_back(static_cast<S>(dice.between(-1, 1)));
    for (int i = 0; i < samples; ++i) reward.push_back(static_cast<S>(dice.between(-1, 1)));
  }
  MatrixView<const S> rows(int first, int count) const {
    return {x.data() + first * Net::features, count, Net::features};
  }
  std::span<const S> rewards(int first, int count) const {
    return std::span(reward).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  }
};

template <class S>
std::vector<S> copy(std::span<const S> values) {
  return {values.begin(), values.end()};
}

template <class S>
std::vector<Outcome> outcomes(const BasicWorkspace<S>& run, const std::vector<NodeId>& nodes) {
  std::vector<Outcome> all;
  for (int i = 0; i < run.samples(); ++i)
    for (const NodeId node : nodes)
      for (std::ptrdiff_t unit = 0; unit < run.outcomes(node).cols(); ++unit)
        all.push_back(run.outcomes(node)(i, unit));
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("one seed gives bit-identical outcomes and gradients on every run", S, float, double) {
  const Net net;
  const Data<S> data(100, 1);
  std::vector<std::vector<Outcome>> seen;
  std::vector<std::vector<S>> gradients;
  for (int repetition = 0; repetition < 2; ++repetition) {
    const auto model = compile<S>(net.graph, {.seed = 11});
    auto run = model.workspace(repetition == 0 ? 100 : 333);  // the capacity is no part of the result
    for (int step = 0; step < 3; ++step) {
      model.forward(run, {{net.x, data.rows(0, 100)}});
      model.backward(run, {{net.reward, data.rewards(0, 100)}});
      seen.push_back(outcomes(run, net.nodes()));
      gradients.push_back(copy(run.gradient()));
    }
  }
  for (std::size_t step = 0; step < 3; ++step) {
    CHECK(seen[step] == seen[step + 3]);
    CHECK(gradients[step] == gradients[step + 3]);
  }
  CHECK(seen[0] != seen[1]);  // each step draws anew
}

TEST_CASE_TEMPLATE("a batch cut at chunk boundaries gives the bits of the whole", S, float, double) {
  const Net net;
  constexpr int samples = 200;  // chunks of 64, 64, 64 and 8
  const Data<S> data(samples, 2);
  const auto model = compile<S>(net.graph, {.seed = 5});
  auto whole = model.workspace(samples);
  model.forward(whole, {{net.x, data.rows(0, samples)}});
  model.backward(whole, {{net.reward, data.rewards(0, samples)}});
  const std::vector<Outcome> expected = outcomes(whole, net.nodes());

  for (const std::vector<int>& cuts :
       {std::vector{0, 64, 200}, std::vector{0, 128, 192, 200}, std::vector{0, 64, 128, 192, 200}}) {
    auto part = model.workspace(192);
    std::vector<Outcome> seen;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const int first = cuts[i], count = cuts[i + 1] - first;
      part.seek({.step = 0, .first_sample = static_cast<std::uint32_t>(first)});
      model.forward(part, {{net.x, data.rows(first, count)}});
      model.backward(part, {{net.reward, data.rewards(first, count)}}, {.of = samples, .continues = i > 0});
      const auto more = outcomes(part, net.nodes());
      seen.insert(seen.end(), more.begin(), more.end());
    }
    CHECK(seen == expected);
    CHECK(copy(part.gradient()) == copy(whole.gradient()));
  }
}

TEST_CASE("streams, steps and samples are independent coordinates of the draw") {
  const Net net;
  const Data<float> data(64, 3);
  const Model model = compile(net.graph, {.seed = 5});
  auto run = model.workspace(64);
  const auto draw = [&](StreamPosition position) {
    run.seek(position);
    model.forward(run, {{net.x, data.rows(0, 64)}});
    CHECK(run.position().step == position.step + 1);
    return outcomes(run, net.nodes());
  };
  const auto origin = draw({});
  CHECK(draw({}) == origin);
  CHECK(draw({.stream = 1}) != origin);
  CHECK(draw({.step = 1}) != origin);
  CHECK(draw({.first_sample = 64}) != origin);
  const Model other = compile(net.graph, {.seed = 6});
  auto run_of_other = other.workspace(64);
  other.forward(run_of_other, {{net.x, data.rows(0, 64)}});
  CHECK(outcomes(run_of_other, net.nodes()) != origin);
}

TEST_CASE_TEMPLATE(
    "a population and the same units written one by one draw the same uniforms and learn the same", S, float,
    double) {
  //  x ─→ a (6 units) ─→ c (4 units) ─→ y          x ─→ a0 … a5 ─→ c0 … c3 ─→ y
  constexpr int wide = 6, narrow = 4;
  Graph populations, neurons;
  const NodeId x = populations.input("x", Net::features);
  const NodeId a = populations.add("a", Bernoulli{.units = wide}, {x});
  const NodeId c = populations.add("c", Bernoulli{.units = narrow}, {a});
  const NodeId y = populations.add("y", Categorical{.classes = 3}, {c});
  const RewardId reward = populations.reward("r", {y});

  const NodeId x1 = neurons.input("x", Net::features);
  std::vector<NodeId> single_a, single_c;
  std::vector<Edge> all_a, all_c;
  for (int i = 0; i < wide; ++i)
    all_a.emplace_back(single_a.emplace_back(neurons.add("a" + std::to_string(i), Bernoulli{}, {x1})));
  for (int i = 0; i < narrow; ++i)
    all_c.emplace_back(single_c.emplace_back(neurons.add("c" + std::to_string(i), Bernoulli{}, all_a)));
  const NodeId y1 = neurons.add("y", Categorical{.classes = 3}, all_c);
  const RewardId reward1 = neurons.reward("r", {y1});

  const auto together = compile<S>(populations, {.seed = 9}), apart = compile<S>(neurons, {.seed = 9});
  const Data<S> data(100, 4);
  auto run = together.workspace(100), run1 = apart.workspace(100);
  together.forward(run, {{x, data.rows(0, 100)}});
  apart.forward(run1, {{x1, data.rows(0, 100)}});
  together.backward(run, {{reward, data.rewards(0, 100)}});
  apart.backward(run1, {{reward1, data.rewards(0, 100)}});

  CHECK(apart.parameters().size() == together.parameters().size());
  for (int i = 0; i < 100; ++i) {
    for (int unit = 0; unit < wide; ++unit)
      CHECK(run.outcomes(a)(i, unit) == run1.outcomes(single_a[static_cast<std::size_t>(unit)])(i));
    for (int unit = 0; unit < narrow; ++unit)
      CHECK(run.outcomes(c)(i, unit) == run1.outcomes(single_c[static_cast<std::size_t>(unit)])(i));
    CHECK(run.outcomes(y)(i) == run1.outcomes(y1)(i));
  }
  const double tolerance = std::is_same_v<S, float> ? 1e-6 : 1e-14;
  for (int unit = 0; unit < wide; ++unit) {
    const std::string name = "a" + std::to_string(unit);
    for (int f = 0; f < Net::features; ++f) {
      CHECK(together.parameters("a/weights/x")(unit, f) == apart.parameters(name + "/weights/x")(0, f));
      CHECK(std::abs(run.gradient("a/weights/x")(unit, f) - run1.gradient(name + "/weights/x")(0, f)) <=
            tolerance);
    }
    CHECK(std::abs(run.gradient("a/bias")(unit) - run1.gradient(name + "/bias")(0)) <= tolerance);
  }
}
