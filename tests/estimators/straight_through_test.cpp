#include <hindsight/estimators/straight_through.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/estimators/reinforce.hpp>

using namespace hindsight;

namespace {

/// One unit with these probabilities, in one sample.
template <class S>
struct Case {
  Encoding encoding;
  std::vector<double> log_probs, slopes;

  std::vector<double> credit(Surrogate through) const {
    const std::vector<S> own_log_probs(log_probs.begin(), log_probs.end()),
        own_slopes(slopes.begin(), slopes.end());
    const Outcome sampled = 0;
    const LocalView<S> view{.units = 1,
                            .outcome_count = encoding.outcome_count,
                            .samples = 1,
                            .stride = 1,
                            .log_probs = own_log_probs.data(),
                            .sampled = &sampled,
                            .slopes = own_slopes.data(),
                            .encoding = &encoding};
    std::vector<S> credit(own_log_probs.size(), S(0));
    StraightThrough{through}.add_credit(view, CreditTable<S>{&view, credit.data()});
    return {credit.begin(), credit.end()};
  }

  /// What the credit is at softmax logits: w - π·Σw.
  std::vector<double> deltas(Surrogate through) const {
    std::vector<double> at_logits = credit(through);
    double total = 0;
    for (const double weight : at_logits) total += weight;
    for (std::size_t k = 0; k < at_logits.size(); ++k) at_logits[k] -= std::exp(log_probs[k]) * total;
    return at_logits;
  }
};

std::vector<double> logs(std::vector<double> probabilities) {
  for (double& p : probabilities) p = std::log(p);
  return probabilities;
}

template <class S>
void check_close(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k)
    CHECK(found[k] ==
          doctest::Approx(expected[k]).epsilon(std::is_same_v<S, float> ? 1e-6 : 1e-14).scale(1e-3));
}

}  // namespace

TEST_CASE_TEMPLATE("a Bernoulli unit takes a·p(1-p)·g through its probabilities and a/2·g at its logit", S,
                   float, double) {
  for (const auto& [low, high] : {std::pair{-1.0, 1.0}, std::pair{0.0, 1.0}, std::pair{0.7, -0.4}})
    for (const double p : {0.5, 0.3, 0.7}) {
      const Case<S> unit{scalar_encoding({low, high}), logs({1 - p, p}), {1.5}};
      const double gap = high - low;
      const double through = gap * p * (1 - p) * 1.5, identity = gap / 2 * 1.5;
      check_close<S>(unit.deltas(Surrogate::probabilities), {-through, through});
      check_close<S>(unit.credit(Surrogate::identity), {-identity, identity});
      // |log 0.7/0.3| = 0.85
      check_close<S>(unit.credit(Surrogate::clipped), {-identity, identity});
    }
}

TEST_CASE_TEMPLATE("a clipped Bernoulli unit does not move where its logit is beyond 1", S, float, double) {
  const auto at = [](double logit) {
    return Case<S>{
        scalar_encoding({-1, 1}), {-std::log1p(std::exp(logit)), -std::log1p(std::exp(-logit))}, {2}};
  };
  for (const double logit : {-0.99, 0.0, 0.99}) check_close<S>(at(logit).credit(Surrogate::clipped), {-2, 2});
  for (const double logit : {-20.0, -1.01, 1.01, 3.0}) {
    CHECK(at(logit).credit(Surrogate::clipped) == std::vector<double>{0, 0});
    check_close<S>(at(logit).credit(Surrogate::identity), {-2, 2});
  }
}

TEST_CASE_TEMPLATE(
    "a softmax unit takes π·⟨g, x⟩ through its probabilities and g less its mean at its logits", S, float,
    double) {
  const std::vector<double> p{0.2, 0.5, 0.3}, g{1.0, -2.0, 0.25};
  const Case<S> one_hot{one_hot_encoding(3), logs(p), g};
  const double mean = p[0] * g[0] + p[1] * g[1] + p[2] * g[2];
  check_close<S>(one_hot.deltas(Surrogate::probabilities),
                 {p[0] * (g[0] - mean), p[1] * (g[1] - mean), p[2] * (g[2] - mean)});
  check_close<S>(one_hot.credit(Surrogate::identity), {1.25, -1.75, 0.5});

  // One number per outcome, and two.
  const std::vector<double> x{-0.5, 0.25, 2};
  const Case<S> scalar{scalar_encoding(x), logs(p), {3}};
  const double middle = p[0] * x[0] + p[1] * x[1] + p[2] * x[2], third = (x[0] + x[1] + x[2]) / 3;
  const Case<S> wide{Encoding{3, 2, {-0.5, 1, 0.25, 1, 2, 1}}, logs(p), {3, 7}};
  for (const Case<S>& unit : {scalar, wide}) {
    check_close<S>(unit.deltas(Surrogate::probabilities),
                   {3 * p[0] * (x[0] - middle), 3 * p[1] * (x[1] - middle), 3 * p[2] * (x[2] - middle)});
    check_close<S>(unit.credit(Surrogate::identity),
                   {3 * (x[0] - third), 3 * (x[1] - third), 3 * (x[2] - third)});
  }
}

TEST_CASE_TEMPLATE("clipped logits are measured against the mean of the others and centred among themselves",
                   S, float, double) {
  const std::vector<double> g{1.0, -2.0, 0.25, 5.0};
  // Equally likely outcomes have logits of 0, however many they are.
  const Case<S> uniform{one_hot_encoding(4), logs({0.25, 0.25, 0.25, 0.25}), g};
  CHECK(uniform.credit(Surrogate::clipped) == uniform.credit(Surrogate::identity));
  // Logits 0, 0.3, 0.6 and 6 before centring: less the mean of the others -2.3, -1.9, -1.5 and 5.7; of 0,
  // 0.3, 0.6 and 1.5 they are -0.8, -0.4, 0 and 1.2.
  const auto from = [&](std::vector<double> logits) {
    double total = 0;
    for (const double logit : logits) total += std::exp(logit);
    for (double& logit : logits) logit -= std::log(total);
    return Case<S>{one_hot_encoding(4), logits, g};
  };
  CHECK(from({0, 0.3, 0.6, 6}).credit(Surrogate::clipped) == std::vector<double>{0, 0, 0, 0});
  const double mean = (1.0 - 2.0 + 0.25) / 3;
  check_close<S>(from({0, 0.3, 0.6, 1.5}).credit(Surrogate::clipped), {1 - mean, -2 - mean, 0.25 - mean, 0});
}

TEST_CASE_TEMPLATE("what cannot occur gets no credit and takes no part", S, float, double) {
  const double never = -std::numeric_limits<double>::infinity();
  const Case<S> unit{one_hot_encoding(3), {std::log(0.5), never, std::log(0.5)}, {4, 1e6, 2}};
  check_close<S>(unit.credit(Surrogate::identity), {1, 0, -1});
  check_close<S>(unit.credit(Surrogate::clipped), {1, 0, -1});
  check_close<S>(unit.deltas(Surrogate::probabilities), {0.5, 0, -0.5});
  for (const Surrogate through : {Surrogate::probabilities, Surrogate::identity, Surrogate::clipped}) {
    const Case<S> sure{one_hot_encoding(3), {never, 0, never}, {4, 1, 2}},
        binary{scalar_encoding({-1, 1}), {never, 0}, {4}};
    CHECK(sure.credit(through) == std::vector<double>{0, 0, 0});
    for (const double credit : binary.credit(through)) CHECK(credit == 0);
  }
}

TEST_CASE("next to certainty credit through probabilities keeps its precision in float") {
  // Common parts of the features must not eat the small probabilities: 1e-9 is far below eps.
  const std::vector<double> log_probs{std::log(1e-9), std::log1p(-3e-9), std::log(2e-9)};
  const Case<float> one_hot{one_hot_encoding(3), log_probs, {1000, 1001, 1003}};
  const std::vector<double> credit = one_hot.credit(Surrogate::probabilities);
  CHECK(credit[0] == doctest::Approx(-1e-9).epsilon(1e-5));
  CHECK(credit[1] == 0);
  CHECK(credit[2] == doctest::Approx(4e-9).epsilon(1e-5));
  const Case<float> binary{scalar_encoding({-1, 1}), {-30, 0}, {1}};
  CHECK(binary.credit(Surrogate::probabilities)[1] == doctest::Approx(2 * std::exp(-30)).epsilon(1e-5));
}

TEST_CASE_TEMPLATE("credit adds to what is there, unit by unit, and leaves the padding alone", S, float,
                   double) {
  const std::size_t stride = 4;
  const Encoding encoding = scalar_encoding({-1, 1});
  const std::vector<S> log_probs(2 * 2 * stride, static_cast<S>(std::log(0.5)));
  const std::vector<S> slopes{1, 2, 3, 99, /* unit 1 */ 4, 5, 6, 99};
  const std::vector<Outcome> sampled(2 * stride, 0);
  const LocalView<S> view{.units = 2,
                          .outcome_count = 2,
                          .samples = 3,
                          .stride = stride,
                          .log_probs = log_probs.data(),
                          .sampled = sampled.data(),
                          .slopes = slopes.data(),
                          .encoding = &encoding};
  CHECK(view.slope(1, 0, 2) == 6);
  std::vector<S> credit(16, S(10));
  StraightThrough{Surrogate::identity}.add_credit(view, CreditTable<S>{&view, credit.data()});
  CHECK(credit == std::vector<S>{9, 8, 7, 10, 11, 12, 13, 10, 6, 5, 4, 10, 14, 15, 16, 10});
}

TEST_CASE("straight-through is admissible where slopes come back, and never unbiased") {
  for (const Surrogate through : {Surrogate::probabilities, Surrogate::identity, Surrogate::clipped})
    for (const bool assumption_1 : {false, true})
      for (const bool reads_directly : {false, true})
        for (const bool has_children : {false, true})
          for (const bool slopes : {false, true}) {
            const Verdict verdict = StraightThrough{through}.admissible({.assumption_1 = assumption_1,
                                                                         .reads_directly = reads_directly,
                                                                         .has_children = has_children,
                                                                         .children_have_slopes = slopes});
            CHECK(verdict.admissible == (!reads_directly && has_children && slopes));
            CHECK_FALSE(verdict.unbiased);
            CHECK(verdict.reason == (verdict.admissible ? Reason::biased : Reason::undefined));
            CHECK_FALSE(verdict.why.empty());
            CHECK(verdict.alternatives.back().expression == "Reinforce{}");
          }
}

TEST_CASE("straight-through asks for slopes and is called by what it goes through") {
  CHECK(StraightThrough{}.needs().pathwise);
  CHECK(StraightThrough{}.needs().hindsight_steps == 0);
  CHECK_FALSE(Reinforce{}.needs().pathwise);
  CHECK(StraightThrough{}.name() == "straight-through");
  CHECK(StraightThrough{.through = Surrogate::identity}.name() == "straight-through(through=identity)");
  CHECK(StraightThrough{.through = Surrogate::clipped}.name() == "straight-through(through=clipped)");
  CHECK(AnyEstimator(StraightThrough{}) == AnyEstimator(StraightThrough{}));
  CHECK_FALSE(AnyEstimator(StraightThrough{}) == AnyEstimator(StraightThrough{Surrogate::clipped}));
}
