#include <hindsight/core/optimizers.hpp>
#include <hindsight/core/report.hpp>

#include <vector>

#include <doctest/doctest.h>

using namespace hindsight;

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
