#include <hindsight/estimators/reinforce.hpp>

#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/estimators/hnca.hpp>

using namespace hindsight;

namespace {

/// Two estimators that can be told apart but not compared.
struct Nameless {
  Needs needs() const { return {.hindsight_steps = 3}; }
  Verdict admissible(const Facts&) const { return {.unbiased = false, .why = "nobody knows"}; }
  const char* name() const { return "nameless"; }
  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
    credit(0, 0, 0) += view.signal[0];
  }
};

struct NoNeeds : Nameless {
  void needs() const {}
};
struct NoVerdict : Nameless {
  bool admissible(const Facts&) const { return true; }
};
struct NoName : Nameless {
  int name() const { return 0; }
};
struct FloatOnly {
  Needs needs() const { return {}; }
  Verdict admissible(const Facts&) const { return {}; }
  std::string name() const { return ""; }
  void add_credit(const LocalView<float>&, const CreditTable<float>&) const {}
};
struct NotConst : FloatOnly {
  template <class S>
  void add_credit(const LocalView<S>&, const CreditTable<S>&) {}
};
struct NotCopied : Nameless {
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
};

static_assert(Estimator<Nameless>);
static_assert(Estimator<AnyEstimator>);
static_assert(!Estimator<NoNeeds>);
static_assert(!Estimator<NoVerdict>);
static_assert(!Estimator<NoName>);
static_assert(!Estimator<FloatOnly>);
static_assert(!Estimator<NotConst>);
static_assert(!Estimator<NotCopied>);
static_assert(!Estimator<int>);
static_assert(!std::is_constructible_v<AnyEstimator, FloatOnly>);

}  // namespace

TEST_CASE_TEMPLATE("REINFORCE gives the whole signal to the sampled outcome", S, float, double) {
  const std::size_t stride = 4;  // one more than the samples: what is beyond them stays as it is
  const std::vector<Outcome> sampled = {2, 0, 1, 0, /* unit 1 */ 1, 1, 2, 0};
  const std::vector<S> signal = {S(0.5), S(-2), S(0), S(99)}, unread(24, S(-1));
  const LocalView<S> view{.units = 2,
                          .outcome_count = 3,
                          .samples = 3,
                          .stride = stride,
                          .log_probs = unread.data(),
                          .sampled = sampled.data(),
                          .evidence = unread.data(),
                          .signal = signal.data()};
  std::vector<S> credit(24, S(1));
  Reinforce{}.add_credit(view, CreditTable<S>{&view, credit.data()});
  const std::vector<S> expected = {1, -1, 1, 1, 1,      1,  1, 1, S(1.5), 1, 1, 1,   // unit 0
                                   1, 1,  1, 1, S(1.5), -1, 1, 1, 1,      1, 1, 1};  // unit 1
  CHECK(credit == expected);
}

TEST_CASE_TEMPLATE("credit of several rewards adds up", S, float, double) {
  const std::vector<Outcome> sampled = {1};
  const S signals[] = {S(0.5), S(0.25)}, log_probs[] = {S(-1), S(-1)}, evidence[] = {S(0), S(0)};
  std::vector<S> credit(2, S(0));
  for (const S& signal : signals) {
    const LocalView<S> view{1, 2, 1, 1, log_probs, sampled.data(), evidence, &signal};
    AnyEstimator(Reinforce{}).add_credit(view, CreditTable<S>{&view, credit.data()});
  }
  CHECK(credit == std::vector<S>{S(0), S(0.75)});
}

TEST_CASE("a view finds rows by unit and outcome") {
  std::vector<double> table(2 * 3 * 5), evidence(2 * 3 * 5);
  std::vector<Outcome> sampled(2 * 5, 0);
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<double>(i);
    evidence[i] = -static_cast<double>(i);
  }
  sampled[5 + 4] = 2;
  const LocalView<double> view{2, 3, 5, 5, table.data(), sampled.data(), evidence.data(), nullptr};
  CHECK(view.row(1, 2) == 25);
  CHECK(view.log_prob(1, 2, 3) == 28);
  CHECK(view.evidence_of(0, 1, 4) == -9);
  CHECK(view.outcome(1, 4) == 2);
  CHECK(view.outcome(0, 4) == 0);
}

TEST_CASE("REINFORCE is admissible and unbiased whatever is true of the node") {
  for (const bool assumption_1 : {false, true})
    for (const bool reads_directly : {false, true})
      for (const bool has_children : {false, true})
        for (const int outcome_count : {2, 7}) {
          const Verdict verdict = Reinforce{}.admissible({.assumption_1 = assumption_1,
                                                          .reads_directly = reads_directly,
                                                          .has_children = has_children,
                                                          .outcome_count = outcome_count});
          CHECK(verdict.admissible);
          CHECK(verdict.unbiased);
          CHECK(verdict.reason == Reason::none);
          CHECK(verdict.why == "unbiased for every node and reward");
          CHECK(verdict.alternatives.empty());
        }
}

TEST_CASE("REINFORCE needs no messages and is called reinforce") {
  CHECK(Reinforce{}.needs().hindsight_steps == 0);
  CHECK(Reinforce{}.name() == "reinforce");
  CHECK(AnyEstimator(Reinforce{}).name() == "reinforce");
  CHECK(AnyEstimator(Reinforce{}).needs().hindsight_steps == 0);
}

TEST_CASE("estimators are equal when they are interchangeable") {
  const AnyEstimator reinforce = Reinforce{}, hnca = Hnca{},
                     relaxed = Hnca{.assumption = Assumption::relaxed};
  CHECK(reinforce == AnyEstimator(Reinforce{}));
  CHECK(hnca == AnyEstimator(Hnca{}));
  CHECK(relaxed == AnyEstimator(Hnca{.assumption = Assumption::relaxed}));
  CHECK_FALSE(hnca == relaxed);
  CHECK_FALSE(hnca == reinforce);
  CHECK_FALSE(reinforce == hnca);
}

TEST_CASE("an estimator that cannot be compared equals its own copies only") {
  const AnyEstimator one = Nameless{}, copy = one, other = Nameless{};
  CHECK(one == copy);
  CHECK_FALSE(one == other);
  CHECK(one.name() == "nameless");
  CHECK(one.needs().hindsight_steps == 3);
  CHECK(one.admissible({}).why == "nobody knows");
}

TEST_CASE("a choice is Auto unless an estimator is named") {
  CHECK_FALSE(EstimatorChoice().chosen().has_value());
  CHECK_FALSE(EstimatorChoice(Auto{}).chosen().has_value());
  REQUIRE(EstimatorChoice(Reinforce{}).chosen().has_value());
  CHECK(EstimatorChoice(Hnca{}).chosen()->name() == "hnca");
  CHECK(*EstimatorChoice(AnyEstimator(Hnca{})).chosen() == AnyEstimator(Hnca{}));
}
