#include <hindsight/core/optimizers.hpp>
#include <hindsight/core/report.hpp>

#include <cmath>
#include <span>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

using namespace hindsight;

namespace {

/// One parameter by the formulas of Kingma and Ba, one operation after another, each rounded to S.
template <class S>
struct AdamByHand {
  using Options = typename BasicAdam<S>::Options;

  void step(S& parameter, S gradient, const Options& options, int steps) {
    const auto first_decay = static_cast<S>(options.first_decay),
               second_decay = static_cast<S>(options.second_decay);
    const auto rate = static_cast<S>(options.rate / (1 - std::pow(options.first_decay, steps)));
    const auto correction = static_cast<S>(1 / (1 - std::pow(options.second_decay, steps)));
    first = first_decay * first + (1 - first_decay) * gradient;
    second = second_decay * second + (1 - second_decay) * gradient * gradient;
    parameter += rate * first / (std::sqrt(second * correction) + static_cast<S>(options.epsilon));
  }

  S first = 0, second = 0;
};

}  // namespace

TEST_CASE_TEMPLATE("Sgd steps along the gradient by its rate", S, float, double) {
  std::vector<S> parameters = {S(1), S(-2), S(0)};
  const std::vector<S> gradient = {S(4), S(-8), S(0.5)};
  const Sgd sgd{{.rate = 0.25}};
  sgd.step(std::span<S>(parameters), std::span<const S>(gradient));
  CHECK(parameters == std::vector<S>{S(2), S(-4), S(0.125)});
}

// The reward -(p - 3)² has gradient -2·(p - 3): each step of rate 0.25 halves the distance to its top.
TEST_CASE_TEMPLATE("Sgd climbs to the top of a reward", S, float, double) {
  std::vector<S> parameter = {S(-5)};
  const Sgd sgd{{.rate = 0.25}};
  for (int i = 0; i < 10; ++i) {
    const std::vector<S> gradient = {S(-2) * (parameter[0] - S(3))};
    sgd.step(std::span<S>(parameter), std::span<const S>(gradient));
  }
  CHECK(parameter[0] == S(3) - S(8) / S(1024));
}

TEST_CASE("Sgd steps by a hundredth unless told otherwise") {
  std::vector<double> parameters = {1};
  const std::vector<double> gradient = {2};
  Sgd{{}}.step(std::span<double>(parameters), std::span<const double>(gradient));
  CHECK(parameters[0] == doctest::Approx(1.02));
}

TEST_CASE_TEMPLATE("Sgd refuses a gradient of another size and changes nothing", S, float, double) {
  std::vector<S> parameters = {1, 2, 3};
  const std::vector<S> gradient = {1, 1};
  CHECK_THROWS_WITH_AS(Sgd{{.rate = 1}}.step(std::span<S>(parameters), std::span<const S>(gradient)),
                       "error[gradient-size]: 3 parameters cannot take a step along a gradient of 2 numbers\n"
                       "  help: sgd.step(model.parameters(), run.gradient());   // of one and the same model",
                       Error);
  CHECK(parameters == std::vector<S>{1, 2, 3});
}

TEST_CASE("Sgd takes a step of nothing") {
  CHECK_NOTHROW(Sgd{{.rate = 1}}.step(std::span<float>(), std::span<const float>()));
}

// 2000 parameters: more than a block holds. Each rounded after each operation, as on every instruction set.
TEST_CASE_TEMPLATE("Momentum is what its formula says, operation by operation", S, float, double) {
  const S rate = S(0.3), decay = S(0.9);
  std::vector<S> parameters, gradient, expected, velocity(2000, S(0));
  for (int i = 0; i < 2000; ++i) parameters.push_back(S(1) / static_cast<S>(i + 3));
  expected = parameters;
  BasicMomentum<S> momentum{{.rate = rate, .decay = decay}};
  for (int step = 0; step < 5; ++step) {
    gradient.clear();
    for (int i = 0; i < 2000; ++i) gradient.push_back(static_cast<S>(i % 7 - 3) / static_cast<S>(step + 3));
    momentum.step(parameters, gradient);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const S decayed = decay * velocity[i];
      velocity[i] = decayed + gradient[i];
      const S along = rate * velocity[i];
      expected[i] = expected[i] + along;
    }
    CHECK(parameters == expected);
    CHECK(momentum.state().velocity == velocity);
  }
  BasicMomentum<S> resumed{{.rate = rate, .decay = decay}};
  resumed.restore(momentum.state());
  std::vector<S> other = parameters;
  resumed.step(other, gradient);
  momentum.step(parameters, gradient);
  CHECK(other == parameters);
}

TEST_CASE("Momentum without decay is plain ascent, and one that does not settle is refused") {
  std::vector<double> parameters = {1, 1};
  const std::vector<double> gradient = {2, -4};
  BasicMomentum<double> none{{.rate = 0.5, .decay = 0}};
  none.step(parameters, gradient);
  none.step(parameters, gradient);
  CHECK(parameters == std::vector<double>{3, -3});
  for (const double decay : {-0.1, 1.0, std::nan("")})
    CHECK_THROWS_AS((Momentum{{.rate = 0.5, .decay = decay}}), Error);
  CHECK_THROWS_WITH_AS((Momentum{{.rate = 0.5, .decay = 1.5}}),
                       "error[optimizer-option]: a velocity that decays by 1.5 does not settle\n"
                       "  help: Momentum{{.rate = 0.01, .decay = 0.9}}   // at least 0, less than 1",
                       Error);
  std::vector<double> more(3), slope(3, 1.0);
  CHECK_THROWS_WITH_AS(
      none.step(more, slope),
      "error[gradient-size]: this Momentum remembers 2 parameters and cannot step 3 of them\n"
      "  help: Momentum momentum{{.rate = 0.01}};   // one of its own for each model",
      Error);
}

// By hand: after one step both moments are the gradient and its square, corrected, so the step is ±rate.
TEST_CASE_TEMPLATE("Adam takes its first step by the rate, whatever the gradient's size", S, float, double) {
  std::vector<S> parameters = {1, 1, 1};
  const std::vector<S> gradient = {S(1e-3), S(-50), 0};
  BasicAdam<S> adam{{.rate = 0.125}};
  adam.step(parameters, gradient);
  CHECK(parameters[0] == doctest::Approx(1.125).epsilon(1e-4));
  CHECK(parameters[1] == doctest::Approx(0.875).epsilon(1e-4));
  CHECK(parameters[2] == 1);
}

TEST_CASE_TEMPLATE("Adam follows its formulas", S, float, double) {
  const double rate = 0.01, b1 = 0.8, b2 = 0.95, epsilon = 1e-3;
  BasicAdam<S> adam{{.rate = rate, .first_decay = b1, .second_decay = b2, .epsilon = epsilon}};
  std::vector<S> parameter = {S(0.5)};
  double expected = 0.5, first = 0, second = 0;
  for (int step = 1; step <= 20; ++step) {
    const double gradient = std::sin(step);
    first = b1 * first + (1 - b1) * gradient;
    second = b2 * second + (1 - b2) * gradient * gradient;
    expected +=
        rate * first / (1 - std::pow(b1, step)) / (std::sqrt(second / (1 - std::pow(b2, step))) + epsilon);
    const std::vector<S> given = {static_cast<S>(gradient)};
    adam.step(parameter, given);
  }
  CHECK(static_cast<double>(parameter[0]) == doctest::Approx(expected).epsilon(1e-5));
  CHECK(adam.state().steps == 20);
}

// Sizes around the widths of vectors and of blocks, at addresses aligned and not; squares of gradients from
// nothing to infinity.
TEST_CASE_TEMPLATE("Adam has the bits of its formulas, one parameter at a time", S, float, double) {
  const double reach = std::is_same_v<S, float> ? 30 : 250;
  const typename BasicAdam<S>::Options options{.rate = 0.02, .first_decay = 0.7, .second_decay = 0.93};
  for (const std::size_t size : {1, 2, 3, 4, 5, 7, 8, 15, 17, 63, 64, 65, 1023, 1024, 1025, 5003})
    for (const std::size_t offset : {0, 1, 3}) {
      BasicAdam<S> adam{options};
      std::vector<S> parameters(size + offset), gradient(size + offset);
      for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] = S(3) * std::sin(static_cast<S>(i));
      std::vector<S> expected = parameters;
      std::vector<AdamByHand<S>> by_hand(size);
      for (int step = 1; step <= 6; ++step) {
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          const double phase = static_cast<double>(i) + 10.0 * step;
          gradient[i] = static_cast<S>(std::sin(phase) * std::pow(10.0, reach * std::cos(3 * phase)));
        }
        adam.step(std::span(parameters).subspan(offset), std::span<const S>(gradient).subspan(offset));
        for (std::size_t i = 0; i < size; ++i)
          by_hand[i].step(expected[offset + i], gradient[offset + i], options, step);
      }
      CAPTURE(size);
      CAPTURE(offset);
      CHECK(parameters == expected);
      std::vector<S> first, second;
      for (const AdamByHand<S>& one : by_hand) {
        first.push_back(one.first);
        second.push_back(one.second);
      }
      CHECK(adam.state().first_moment == first);
      CHECK(adam.state().second_moment == second);
    }
}

TEST_CASE("Adam goes on from a state bit by bit, and refuses other sizes") {
  const std::vector<float> gradient = {0.3F, -0.7F};
  std::vector<float> straight = {1, 2}, halted = {1, 2};
  Adam whole{{}}, before{{}}, after{{}};
  for (int i = 0; i < 10; ++i) whole.step(straight, gradient);
  for (int i = 0; i < 4; ++i) before.step(halted, gradient);
  after.restore(before.state());
  for (int i = 0; i < 6; ++i) after.step(halted, gradient);
  CHECK(straight == halted);
  std::vector<float> three = {1, 2, 3};
  CHECK_THROWS_AS(after.step(three, gradient), Error);
  CHECK_THROWS_AS(after.step(three, three), Error);
  CHECK(three == std::vector<float>{1, 2, 3});
}
