#include <hindsight/estimators/hnca.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/core/numerics.hpp>

using namespace hindsight;

namespace {

using Long = long double;

template <class S>
constexpr S infinity = std::numeric_limits<S>::infinity();

template <class S>
std::vector<S> credit_of(const std::vector<S>& log_probs, const std::vector<S>& evidence, S signal,
                         int outcome_count) {
  const auto units = static_cast<int>(log_probs.size()) / outcome_count;
  const std::vector<Outcome> sampled(static_cast<std::size_t>(units), 0);
  const LocalView<S> view{units,          outcome_count,   1,      1, log_probs.data(),
                          sampled.data(), evidence.data(), &signal};
  std::vector<S> credit(log_probs.size(), S(0));
  Hnca{}.add_credit(view, CreditTable<S>{&view, credit.data()});
  return credit;
}

/// Posterior minus prior by the book; the priors are those of the rounded log-probabilities, normalised once
/// more. A long double holds e^{±11000}: nothing overflows here.
template <class S>
std::vector<Long> posterior_minus_prior(const std::vector<S>& log_probs, const std::vector<S>& evidence) {
  std::vector<Long> prior, joint;
  for (std::size_t k = 0; k < log_probs.size(); ++k) {
    prior.push_back(std::exp(static_cast<Long>(log_probs[k])));
    joint.push_back(prior[k] * std::exp(static_cast<Long>(evidence[k])));
  }
  const Long priors = std::accumulate(prior.begin(), prior.end(), Long(0)),
             joints = std::accumulate(joint.begin(), joint.end(), Long(0));
  std::vector<Long> out;
  for (std::size_t k = 0; k < log_probs.size(); ++k) out.push_back(joint[k] / joints - prior[k] / priors);
  return out;
}

template <class S>
void normalise(std::vector<S>& logits) {
  Long total = 0;
  for (const S logit : logits) total += std::exp(static_cast<Long>(logit));
  for (S& logit : logits) logit = static_cast<S>(static_cast<Long>(logit) - std::log(total));
}

/// `relative` bounds the error of each entry; `absolute` what is left of the book's own subtraction.
template <class S>
void check_against_the_book(const std::vector<S>& log_probs, const std::vector<S>& evidence, S signal,
                            double relative, double absolute) {
  const std::vector<S> credit = credit_of(log_probs, evidence, signal, static_cast<int>(log_probs.size()));
  const std::vector<Long> expected = posterior_minus_prior(log_probs, evidence);
  for (std::size_t k = 0; k < credit.size(); ++k) {
    const Long right = expected[k] * static_cast<Long>(signal);
    INFO("outcome ", k, ": ", credit[k], " for ", static_cast<double>(right));
    CHECK(std::abs(static_cast<Long>(credit[k]) - right) <= relative * std::abs(right) + absolute);
  }
}

}  // namespace

// The error allowed is that of the log-probabilities and evidence themselves: eps·(size of the exponents), of
// the prior.
TEST_CASE_TEMPLATE("HNCA's credit is posterior minus prior times signal", S, float, double) {
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  std::mt19937_64 rng(5);
  for (const std::size_t outcome_count : {2U, 3U, 4U, 5U})
    for (const double spread : {1e-3, 0.3, 3.0, 20.0})
      for (int trial = 0; trial < 100; ++trial) {
        std::uniform_real_distribution<double> uniform(-spread, spread);
        std::vector<S> log_probs(outcome_count), evidence(outcome_count);
        for (std::size_t k = 0; k < outcome_count; ++k) {
          log_probs[k] = static_cast<S>(uniform(rng));
          evidence[k] = k == 0 ? S(0) : static_cast<S>(uniform(rng));
        }
        normalise(log_probs);
        check_against_the_book(log_probs, evidence, S(-1.75), 0.0, 20 * epsilon * (1 + spread));
      }
}

// Evidence of size 1e-4 moves probabilities by about as much. The relative error stays at rounding level;
// subtracting posterior and prior would leave 1e-3 of relative error in float.
TEST_CASE_TEMPLATE("small evidence gives credit with all its digits", S, float, double) {
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  std::vector<S> log_probs = {S(0.3), S(-1.2)};
  normalise(log_probs);
  for (const double size : {1e-1, 1e-4, 1e-7})
    check_against_the_book<S>(log_probs, {S(0), static_cast<S>(size)}, S(1), 20 * epsilon, 1e-18);
}

// THEORY §1: σ(25) - σ(20) = 2.05e-9, which is 0 when both are rounded to float first.
TEST_CASE_TEMPLATE("a saturated unit keeps its tiny credit", S, float, double) {
  const S logit = 20;
  const std::vector<S> log_probs = {-(logit + std::log1p(std::exp(-logit))), -std::log1p(std::exp(-logit))};
  for (const std::vector<S>& evidence : {std::vector<S>{S(0), S(5)}, std::vector<S>{S(-5), S(0)}}) {
    const std::vector<S> credit = credit_of<S>(log_probs, evidence, S(1), 2);
    CHECK(credit[1] == doctest::Approx(2.0472655e-9).epsilon(1e-5));
    CHECK(credit[0] == doctest::Approx(-2.0472655e-9).epsilon(1e-5));
  }
}

// Evidence of 1e4 is itself rounded to 1e4·eps, which is what the bound allows.
TEST_CASE_TEMPLATE("evidence of 1e4 moves all probability", S, float, double) {
  std::vector<S> log_probs = {S(0.1), S(-0.4), S(0.2)};
  normalise(log_probs);
  for (const std::vector<S>& evidence :
       {std::vector<S>{S(0), S(1e4), S(-1e4)}, std::vector<S>{S(0), S(-1e4), S(-1e4)},
        std::vector<S>{S(0), S(1e4), S(1e4)}, std::vector<S>{S(0), S(1e4), S(9999)}})
    check_against_the_book(log_probs, evidence, S(2), 0.0,
                           1e4 * static_cast<double>(std::numeric_limits<S>::epsilon()));
  // An outcome that was all but impossible, and the children could not have happened otherwise.
  const std::vector<S> credit = credit_of<S>({S(-9e3), S(0)}, {S(1e4), S(0)}, S(1), 2);
  CHECK(credit == std::vector<S>{S(1), S(-1)});
}

TEST_CASE_TEMPLATE("evidence of minus infinity takes away the whole prior", S, float, double) {
  std::vector<S> log_probs = {S(0), S(1), S(2)};
  normalise(log_probs);
  const auto probability = [&](std::size_t k) { return static_cast<double>(std::exp(log_probs[k])); };
  const std::vector<S> credit = credit_of<S>(log_probs, {S(0), -infinity<S>, -infinity<S>}, S(1), 3);
  CHECK(credit[0] == doctest::Approx(1 - probability(0)));
  CHECK(credit[1] == doctest::Approx(-probability(1)));
  CHECK(credit[2] == doctest::Approx(-probability(2)));
  check_against_the_book<S>(log_probs, {S(0), -infinity<S>, S(0.5)}, S(1), 0.0, 1e-6);
  check_against_the_book<S>(log_probs, {S(0), S(-1e4), -infinity<S>}, S(1), 0.0, 1e-6);
}

TEST_CASE_TEMPLATE("an impossible outcome gets no credit whatever the evidence for it", S, float, double) {
  for (const S evidence : {S(0), S(3), S(1e4), S(-1e4), -infinity<S>}) {
    std::vector<S> log_probs = {S(0.5), -infinity<S>, S(-0.5)};
    normalise(log_probs);
    const std::vector<S> credit = credit_of<S>(log_probs, {S(0), evidence, S(0.25)}, S(1), 3);
    CHECK(credit[1] == S(0));
    const std::vector<S> without = credit_of<S>({log_probs[0], log_probs[2]}, {S(0), S(0.25)}, S(1), 2);
    CHECK(credit[0] == doctest::Approx(static_cast<double>(without[0])));
    CHECK(credit[2] == doctest::Approx(static_cast<double>(without[1])));
  }
  CHECK(credit_of<S>({S(0), -infinity<S>}, {S(0), S(7)}, S(1), 2) == std::vector<S>{S(0), S(0)});
}

// What a node makes of credit at its logits: w_k - π_k·Σw, against Σ_j (π_j·τ_k·f_k - π_k·τ_j·f_j) in long
// double, whose terms are π_j·π_k·(L_k·f_k - L_j·f_j)/Z. Signals differ by as little as the evidence moves;
// the one favoured has the larger, so that the terms of two outcomes cannot cancel. Relative to the largest
// of the gradients.
TEST_CASE_TEMPLATE("where a known reward reads the unit, weak edges give gradients with all their digits", S,
                   float, double) {
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  std::mt19937_64 rng(9);
  std::uniform_real_distribution<double> uniform(0.2, 1);
  for (const int outcome_count : {2, 3, 5})
    for (const double weight : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0})
      for (const double spread : {0.1, 1.0, 6.0})
        for (const double base : {1.0, -3.0, 0.0})
          for (int trial = 0; trial < 20; ++trial) {
            const auto count = static_cast<std::size_t>(outcome_count);
            std::vector<S> log_probs(count), evidence(count), signals(count);
            for (std::size_t k = 0; k < count; ++k) {
              const double lead =
                  (trial % 2 == 0 ? 1.0 : -1.0) * static_cast<double>(k) * weight * uniform(rng);
              log_probs[k] = static_cast<S>(spread * uniform(rng) * (k % 2 == 0 ? 1 : -1));
              evidence[k] = static_cast<S>(lead);
              signals[k] = static_cast<S>(base + (base < 0 ? -1 : 1) * lead / 3);
            }
            normalise(log_probs);
            const Outcome sampled = 0;
            const LocalView<S> view{.units = 1,
                                    .outcome_count = outcome_count,
                                    .samples = 1,
                                    .stride = 1,
                                    .log_probs = log_probs.data(),
                                    .sampled = &sampled,
                                    .evidence = evidence.data(),
                                    .signal = signals.data(),
                                    .candidate_signals = signals.data(),
                                    .candidate_stride = 1};
            std::vector<S> credit(count, S(0));
            Hnca{}.add_credit(view, CreditTable<S>{&view, credit.data()});
            const S sum = std::accumulate(credit.begin(), credit.end(), S(0));

            std::vector<Long> prior, known, reward;
            Long normaliser = 0;
            for (std::size_t k = 0; k < count; ++k) {
              prior.push_back(std::exp(static_cast<Long>(log_probs[k])));
              known.push_back(static_cast<Long>(evidence[k]));
              reward.push_back(static_cast<Long>(signals[k]));
              normaliser += prior[k] * std::exp(known[k]);
            }
            // L_k·f_k - L_j·f_j: a long double has too few digits more than a double to subtract these.
            const auto action_gap = [&](std::size_t k, std::size_t j) {
              return std::exp(known[j]) * std::expm1(known[k] - known[j]) * reward[j] +
                     std::exp(known[k]) * (reward[k] - reward[j]);
            };
            Long worst = 0, largest = 0;
            for (std::size_t k = 0; k < count; ++k) {
              Long expected = 0;
              for (std::size_t j = 0; j < count; ++j)
                expected += prior[j] * prior[k] * action_gap(k, j) / normaliser;
              const S gradient = softmax_gradient(credit[k], log_probs[k], sum);
              worst = std::max(worst, std::abs(static_cast<Long>(gradient) - expected));
              largest = std::max(largest, std::abs(expected));
            }
            CAPTURE(outcome_count);
            CAPTURE(weight);
            CAPTURE(spread);
            CAPTURE(base);
            CHECK(static_cast<double>(worst) <= 20 * epsilon * static_cast<double>(largest));
          }
}

TEST_CASE_TEMPLATE("no evidence means no credit", S, float, double) {
  std::vector<S> log_probs = {S(0), S(1), S(2)};
  normalise(log_probs);
  CHECK(credit_of<S>(log_probs, {S(0), S(0), S(0)}, S(3), 3) == std::vector<S>{S(0), S(0), S(0)});
}

TEST_CASE_TEMPLATE("a sample without signal is skipped", S, float, double) {
  const S nan = std::numeric_limits<S>::quiet_NaN();
  CHECK(credit_of<S>({nan, nan}, {nan, nan}, S(0), 2) == std::vector<S>{S(0), S(0)});
}

TEST_CASE_TEMPLATE("HNCA adds to what is there and keeps units and samples apart", S, float, double) {
  // Two units, two outcomes, two samples in rows of three; row after row unit 0 outcome 0, unit 0 outcome 1,
  // …
  const S half = std::log(S(0.5)), gap = S(77);
  const std::vector<S> log_probs(12, half);
  const std::vector<S> evidence = {0, 0, gap, S(2), 0, gap, 0, 0, gap, 0, S(-3), gap},
                       signal = {S(1), S(-2), gap};
  const std::vector<Outcome> sampled(6, 0);
  const LocalView<S> view{2, 2, 2, 3, log_probs.data(), sampled.data(), evidence.data(), signal.data()};
  std::vector<S> credit(12, S(10));
  for (int call = 0; call < 2; ++call)
    AnyEstimator(Hnca{}).add_credit(view, CreditTable<S>{&view, credit.data()});
  const double first = 2 * (1 / (1 + std::exp(-2.0)) - 0.5),
               second = 2 * -2 * (1 / (1 + std::exp(3.0)) - 0.5);
  const std::vector<double> expected = {10 - first, 10,          10, 10 + first, 10,          10,
                                        10,         10 - second, 10, 10,         10 + second, 10};
  for (std::size_t i = 0; i < 12; ++i) CHECK(credit[i] == doctest::Approx(expected[i]));
}

TEST_CASE("HNCA is refused as biased where the reward reads the node") {
  for (const bool assumption_1 : {false, true})
    for (const bool has_children : {false, true})
      for (const Assumption assumption : {Assumption::enforced, Assumption::relaxed}) {
        const Verdict verdict = Hnca{assumption}.admissible({.assumption_1 = assumption_1,
                                                             .reads_directly = true,
                                                             .has_children = has_children,
                                                             .outcome_count = 3});
        CHECK_FALSE(verdict.admissible);
        CHECK_FALSE(verdict.unbiased);
        CHECK(verdict.reason == Reason::biased);
        CHECK(verdict.why == (has_children
                                  ? "the reward reads it, so its children tell only a part of its effect"
                                  : "the reward reads it and no child tells its effect"));
        REQUIRE(verdict.alternatives.size() == 1);
        CHECK(verdict.alternatives[0].expression == "Reinforce{}");
        CHECK(verdict.alternatives[0].remark == "unbiased everywhere, usually more variance");
      }
}

TEST_CASE("HNCA is refused as policy where Assumption 1 is violated unless it is relaxed") {
  for (const bool has_children : {false, true})
    for (const int outcome_count : {2, 5}) {
      const Verdict enforced = Hnca{}.admissible(
          {.assumption_1 = false, .has_children = has_children, .outcome_count = outcome_count});
      CHECK_FALSE(enforced.admissible);
      CHECK(enforced.unbiased);
      CHECK(enforced.reason == Reason::policy);
      CHECK(enforced.why == "Assumption 1 is violated");
      REQUIRE(enforced.alternatives.size() == 2);
      CHECK(enforced.alternatives[0].expression == "Hnca{.assumption = Assumption::relaxed}");
      CHECK(enforced.alternatives[0].remark ==
            "unbiased on any DAG; for one reward, never more variance than REINFORCE");
      CHECK(enforced.alternatives[1].expression == "Reinforce{}");
      CHECK(enforced.alternatives[1].remark == "unbiased everywhere, usually more variance");

      const Verdict relaxed = Hnca{Assumption::relaxed}.admissible(
          {.assumption_1 = false, .has_children = has_children, .outcome_count = outcome_count});
      CHECK(relaxed.admissible);
      CHECK(relaxed.unbiased);
      CHECK(relaxed.reason == Reason::none);
      CHECK(relaxed.why == "unbiased without Assumption 1");
      CHECK(relaxed.alternatives.empty());
    }
}

TEST_CASE("HNCA is admissible where Assumption 1 holds and no reward reads the node") {
  for (const bool has_children : {false, true})
    for (const Assumption assumption : {Assumption::enforced, Assumption::relaxed}) {
      const Verdict verdict = Hnca{assumption}.admissible({.has_children = has_children});
      CHECK(verdict.admissible);
      CHECK(verdict.unbiased);
      CHECK(verdict.reason == Reason::none);
      CHECK(verdict.why == "Assumption 1 holds");
      CHECK(verdict.alternatives.empty());
    }
}

TEST_CASE("HNCA needs as many steps of messages as it has and its name says what is not plain") {
  CHECK(Hnca{}.needs().hindsight_steps == 1);
  CHECK(Hnca{Assumption::relaxed}.needs().hindsight_steps == 1);
  CHECK(Hnca{.steps = 3}.needs().hindsight_steps == 3);
  CHECK(Hnca{}.name() == "hnca");
  CHECK(Hnca{.steps = 1}.name() == "hnca");
  CHECK(Hnca{Assumption::relaxed}.name() == "hnca(assumption=relaxed)");
  CHECK(Hnca{.steps = 2}.name() == "hnca(steps=2)");
  CHECK(Hnca{.assumption = Assumption::relaxed, .steps = 2}.name() == "hnca(steps=2,assumption=relaxed)");
  CHECK(Hnca{} == Hnca{Assumption::enforced});
  CHECK(Hnca{} == Hnca{.steps = 1});
  CHECK_FALSE(Hnca{} == Hnca{.steps = 2});
  CHECK_FALSE(Hnca{} == Hnca{Assumption::relaxed});
}

TEST_CASE("HNCA over several steps has the verdicts of one, and offers itself relaxed") {
  for (const int steps : {1, 2, 7}) {
    CHECK(Hnca{.steps = steps}
              .admissible(
                  {.assumption_1 = true, .reads_directly = true, .has_children = true, .outcome_count = 2})
              .reason == Reason::biased);
    CHECK(Hnca{.steps = steps}
              .admissible(
                  {.assumption_1 = true, .reads_directly = false, .has_children = true, .outcome_count = 2})
              .admissible);
    const Verdict refused = Hnca{.steps = steps}.admissible(
        {.assumption_1 = false, .reads_directly = false, .has_children = true, .outcome_count = 2});
    CHECK(refused.reason == Reason::policy);
    CHECK(refused.alternatives[0].expression ==
          (steps == 1 ? "Hnca{.assumption = Assumption::relaxed}"
                      : "Hnca{.assumption = Assumption::relaxed, .steps = " + std::to_string(steps) + "}"));
    CHECK(Hnca{.assumption = Assumption::relaxed, .steps = steps}
              .admissible(
                  {.assumption_1 = false, .reads_directly = false, .has_children = true, .outcome_count = 2})
              .admissible);
  }
}

TEST_CASE("HNCA over no step has no meaning") {
  for (const int steps : {0, -1}) {
    const Verdict verdict = Hnca{.steps = steps}.admissible(
        {.assumption_1 = true, .reads_directly = false, .has_children = true, .outcome_count = 2});
    CHECK_FALSE(verdict.admissible);
    CHECK(verdict.reason == Reason::undefined);
    CHECK(verdict.why ==
          std::to_string(steps) + " steps of hindsight are none; the children are the first step");
    CHECK(verdict.alternatives.at(0).expression == "Hnca{}");
  }
}
