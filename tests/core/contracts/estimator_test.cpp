#include <hindsight/core/estimator.hpp>

#include <vector>

#include <doctest/doctest.h>

#include <hindsight/core/eigen.hpp>

using namespace hindsight;

TEST_CASE("a row of signals is found beyond what an int can count") {
  // A stride of none keeps the numbers in reach; UBSan refuses an int that overflows.
  const double signals[] = {5, 6};
  const LocalView<double> view{
      .units = 70'000, .outcome_count = 40'000, .samples = 2, .candidate_signals = signals};
  CHECK(view.signal_of(69'999, 39'999, 0) == 5);
  CHECK(view.signal_of(69'999, 39'999, 1) == 6);
  CHECK(view.row(69'999, 39'999) == 0);
}

TEST_CASE_TEMPLATE("an estimator sees each unit as outcomes × samples", S, float, double) {
  constexpr int units = 2, outcome_count = 3, samples = 4, stride = 5, candidate_stride = 6, width = 2;
  std::vector<S> log_probs(units * outcome_count * stride), evidence(log_probs), signal(stride);
  std::vector<S> candidates(units * outcome_count * candidate_stride), slopes(units * width * stride);
  std::vector<Outcome> sampled(units * stride);
  S next = 0;
  for (std::vector<S>* const numbers : {&log_probs, &evidence, &signal, &candidates, &slopes})
    for (S& number : *numbers) number = next++;
  for (Outcome& outcome : sampled) outcome = static_cast<Outcome>(next++);
  const Encoding encoding{.width = width};
  LocalView<S> view{.units = units,
                    .outcome_count = outcome_count,
                    .samples = samples,
                    .stride = stride,
                    .log_probs = log_probs.data(),
                    .sampled = sampled.data(),
                    .evidence = evidence.data(),
                    .signal = signal.data(),
                    .slopes = slopes.data(),
                    .encoding = &encoding};
  std::vector<S> credit(log_probs.size(), S(0));
  const CreditTable<S> table{&view, credit.data()};
  for (const bool with_candidates : {false, true}) {
    view.candidate_signals = with_candidates ? candidates.data() : nullptr;
    view.candidate_stride = with_candidates ? candidate_stride : 0;
    for (int unit = 0; unit < units; ++unit) {
      for (const auto& table_of_unit :
           {view.log_probs_of(unit), view.evidence_of(unit), view.signals_of(unit)}) {
        REQUIRE(as_eigen(table_of_unit).rows() == outcome_count);
        REQUIRE(as_eigen(table_of_unit).cols() == samples);
      }
      REQUIRE(as_eigen(view.slopes_of(unit)).rows() == width);
      REQUIRE(as_eigen(view.outcomes_of(unit)).rows() == samples);
      REQUIRE(as_eigen(view.signals()).rows() == samples);
      for (int i = 0; i < samples; ++i) {
        for (int k = 0; k < outcome_count; ++k) {
          CHECK(as_eigen(view.log_probs_of(unit))(k, i) == view.log_prob(unit, k, i));
          CHECK(as_eigen(view.evidence_of(unit))(k, i) == view.evidence_of(unit, k, i));
          CHECK(as_eigen(view.signals_of(unit))(k, i) == view.signal_of(unit, k, i));
          CHECK(&table.of(unit)(k, i) == &table(unit, k, i));
        }
        for (int j = 0; j < width; ++j) CHECK(as_eigen(view.slopes_of(unit))(j, i) == view.slope(unit, j, i));
        CHECK(as_eigen(view.outcomes_of(unit))(i) == view.outcome(unit, i));
        CHECK(as_eigen(view.signals())(i) == view.signal[i]);
      }
    }
  }
  // What lies beyond the samples of a row is nobody's.
  as_eigen(table.of(1)).setOnes();
  CHECK(as_eigen(credit).sum() == S(outcome_count * samples));
}
