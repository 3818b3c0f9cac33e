#include <hindsight/core/numerics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace hindsight;

namespace {

using Long = long double;

template <class S>
constexpr S infinity = std::numeric_limits<S>::infinity();

/// Distance from the reference in units of its rounding; below the smallest normal number, of that number's.
template <class S>
double roundings(S value, Long reference) {
  if (static_cast<Long>(value) == reference) return 0;
  const Long size = std::max(std::abs(reference), static_cast<Long>(std::numeric_limits<S>::min()));
  return static_cast<double>(std::abs(static_cast<Long>(value) - reference) /
                             (size * static_cast<Long>(std::numeric_limits<S>::epsilon())));
}

Long long_softplus(Long x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
Long long_sigmoid(Long x) { return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

template <class S>
std::vector<S> points() {
  std::vector<S> points = {S(0), S(1e-30), S(1e-10), S(1e-4), S(0.1), S(0.5),
                           S(1), S(10),    S(20),    S(50),   S(85),  S(1e4)};
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> uniform(0, 90);
  for (int i = 0; i < 200; ++i) points.push_back(static_cast<S>(uniform(rng)));
  const std::size_t positive = points.size();
  for (std::size_t i = 0; i < positive; ++i) points.push_back(-points[i]);
  return points;
}

std::vector<Long> reference_log_softmax(const std::vector<Long>& logits) {
  const Long largest = *std::max_element(logits.begin(), logits.end());
  // Ascending, so that what is small counts; the largest term is 1 and enters through log1p.
  std::vector<Long> rest;
  bool top_seen = false;
  for (const Long logit : logits)
    if (logit == largest && !top_seen)
      top_seen = true;
    else
      rest.push_back(std::exp(logit - largest));
  std::sort(rest.begin(), rest.end());
  Long sum = 0;
  for (const Long term : rest) sum += term;
  std::vector<Long> out;
  for (const Long logit : logits) out.push_back((logit - largest) - std::log1p(sum));
  return out;
}

}  // namespace

TEST_CASE_TEMPLATE("softplus and log-sigmoid and sigmoid are right to 3 roundings everywhere", S, float,
                   double) {
  for (const S x : points<S>()) {
    INFO("x = ", x);
    CHECK(roundings(softplus(x), long_softplus(x)) <= 3);
    CHECK(roundings(log_sigmoid(x), -long_softplus(-static_cast<Long>(x))) <= 3);
    CHECK(roundings(sigmoid(x), long_sigmoid(x)) <= 3);
  }
}

TEST_CASE_TEMPLATE("softplus and log-sigmoid and sigmoid saturate without overflow", S, float, double) {
  CHECK(softplus(S(1e4)) == S(1e4));
  CHECK(softplus(S(-1e4)) == S(0));
  CHECK(log_sigmoid(S(-1e4)) == S(-1e4));
  CHECK(log_sigmoid(S(1e4)) == S(0));
  CHECK(sigmoid(S(1e4)) == S(1));
  CHECK(sigmoid(S(-1e4)) == S(0));
  CHECK(softplus(S(0)) == doctest::Approx(std::log(2.0)));
  CHECK(sigmoid(S(0)) == S(0.5));
  CHECK(softplus(-infinity<S>) == S(0));
  CHECK(softplus(infinity<S>) == infinity<S>);
  CHECK(sigmoid(-infinity<S>) == S(0));
  CHECK(sigmoid(infinity<S>) == S(1));
}

// e^(l - largest) carries |l - largest| roundings of its argument: 90 at most here.
TEST_CASE_TEMPLATE("log-softmax is right to 100 roundings of each entry", S, float, double) {
  std::mt19937_64 rng(2);
  for (const std::size_t count : {1U, 2U, 3U, 5U, 10U})
    for (const double spread : {1e-3, 1.0, 20.0, 45.0})
      for (int trial = 0; trial < 50; ++trial) {
        std::uniform_real_distribution<double> uniform(-spread, spread);
        std::vector<S> logits(count);
        for (S& logit : logits) logit = static_cast<S>(uniform(rng));
        const std::vector<Long> expected =
            reference_log_softmax(std::vector<Long>(logits.begin(), logits.end()));
        log_softmax(logits.data(), count);
        for (std::size_t k = 0; k < count; ++k) CHECK(roundings(logits[k], expected[k]) <= 100);
      }
}

TEST_CASE_TEMPLATE("log-softmax keeps how far the largest probability is from one", S, float, double) {
  std::vector<S> logits = {S(20), S(0), S(-20)};
  const std::vector<Long> expected = reference_log_softmax({20, 0, -20});
  log_softmax(logits.data(), 3);
  CHECK(roundings(logits[0], expected[0]) <= 30);
  CHECK(logits[0] < S(0));
  std::vector<S> two = {S(-40), S(40)};
  log_softmax(two.data(), 2);
  CHECK(roundings(two[1], -std::log1p(std::exp(Long(-80)))) <= 100);
}

TEST_CASE_TEMPLATE("log-softmax takes logits of 1e4 and minus infinity", S, float, double) {
  std::vector<S> logits = {S(1e4), S(-1e4), S(0)};
  log_softmax(logits.data(), 3);
  CHECK(logits == std::vector<S>{S(0), S(-2e4), S(-1e4)});

  std::vector<S> impossible = {-infinity<S>, S(3), -infinity<S>, S(3)};
  log_softmax(impossible.data(), 4);
  CHECK(impossible[0] == -infinity<S>);
  CHECK(impossible[2] == -infinity<S>);
  CHECK(roundings(impossible[1], -std::log(Long(2))) <= 3);
  CHECK(impossible[1] == impossible[3]);

  std::vector<S> certain = {-infinity<S>, S(-5)};
  log_softmax(certain.data(), 2);
  CHECK(certain == std::vector<S>{-infinity<S>, S(0)});
}

TEST_CASE_TEMPLATE("log-softmax leaves what lies between its strides alone", S, float, double) {
  std::vector<S> strided = {S(1), S(77), S(2), S(77), S(-1), S(77)}, plain = {S(1), S(2), S(-1)};
  log_softmax(strided.data(), 3, 2);
  log_softmax(plain.data(), 3);
  CHECK(strided == std::vector<S>{plain[0], S(77), plain[1], S(77), plain[2], S(77)});
}

// The result may be as near to 0 as it likes while its terms are not: the bound is absolute, 3 roundings of
// the larger of 1 and the terms.
TEST_CASE_TEMPLATE("log-add is right to 3 roundings of the larger term", S, float, double) {
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<double> uniform(-30, 30);
  for (int trial = 0; trial < 500; ++trial) {
    const S a = static_cast<S>(uniform(rng)), b = static_cast<S>(uniform(rng) * (trial % 2 ? 1 : 1e-3));
    const Long expected = std::log(std::exp(static_cast<Long>(a)) + std::exp(static_cast<Long>(b)));
    const Long bound = 3 * static_cast<Long>(std::numeric_limits<S>::epsilon()) *
                       std::max({Long(1), std::abs(static_cast<Long>(a)), std::abs(static_cast<Long>(b))});
    CHECK(std::abs(static_cast<Long>(log_add(a, b)) - expected) <= bound);
    CHECK(log_add(a, b) == log_add(b, a));
  }
}

TEST_CASE_TEMPLATE("log-add takes minus infinity and 1e4", S, float, double) {
  CHECK(log_add(-infinity<S>, -infinity<S>) == -infinity<S>);
  CHECK(log_add(-infinity<S>, S(-3)) == S(-3));
  CHECK(log_add(S(-3), -infinity<S>) == S(-3));
  CHECK(log_add(S(1e4), S(-1e4)) == S(1e4));
  CHECK(log_add(S(-1e4), S(-1e4)) == doctest::Approx(-1e4 + std::log(2.0)));
}

TEST_CASE_TEMPLATE("softmax gradient is right to 4 roundings of its two terms", S, float, double) {
  std::mt19937_64 rng(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const double log_prob : {-1e-9, -1e-5, -0.1, -0.7, -5.0, -30.0, -1e4})
    for (int trial = 0; trial < 50; ++trial) {
      const S credit = static_cast<S>(uniform(rng)), total = static_cast<S>(uniform(rng)),
              at = static_cast<S>(log_prob);
      const Long p = std::exp(static_cast<Long>(at)),
                 rest = static_cast<Long>(total) - static_cast<Long>(credit);
      const Long first = static_cast<Long>(credit) * -std::expm1(static_cast<Long>(at)), second = p * rest;
      const Long bound =
          4 * static_cast<Long>(std::numeric_limits<S>::epsilon()) * (std::abs(first) + std::abs(second));
      const auto value = static_cast<Long>(softmax_gradient(credit, at, total));
      CHECK(std::abs(value - (first - second)) <= bound + static_cast<Long>(std::numeric_limits<S>::min()));
    }
}

TEST_CASE_TEMPLATE("softmax gradient of a nearly certain outcome does not vanish", S, float, double) {
  // All credit on an outcome of probability 1 - 1e-9: what is left is 1 - p, far below a float's rounding of
  // p.
  CHECK(roundings(softmax_gradient(S(1), S(-1e-9), S(1)), -std::expm1(static_cast<Long>(S(-1e-9)))) <= 3);
  CHECK(softmax_gradient(S(0.25), -infinity<S>, S(3)) == S(0.25));
  CHECK(softmax_gradient(S(0), -infinity<S>, S(3)) == S(0));
  CHECK(softmax_gradient(S(2), S(0), S(2)) == S(0));
}
