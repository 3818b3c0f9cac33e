
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/estimators/hnca.hpp>

using namespace hindsight;

TEST_CASE("full hindsight asks for every step and needs no assumption") {
  CHECK(HindsightCredit{}.needs().hindsight_steps == every_step);
  CHECK(HindsightCredit{}.name() == "hindsight-credit");
  CHECK(HindsightCredit{} == HindsightCredit{});
  for (const bool assumption_1 : {false, true})
    for (const bool has_children : {false, true}) {
      const Verdict verdict = HindsightCredit{}.admissible({.assumption_1 = assumption_1,
                                                            .reads_directly = false,
                                                            .has_children = has_children,
                                                            .outcome_count = 3});
      CHECK(verdict.admissible);
      CHECK(verdict.unbiased);
      CHECK(verdict.why == "unbiased on any DAG");
      const Verdict direct = HindsightCredit{}.admissible({.assumption_1 = assumption_1,
                                                           .reads_directly = true,
                                                           .has_children = has_children,
                                                           .outcome_count = 3});
      CHECK_FALSE(direct.admissible);
      CHECK_FALSE(direct.unbiased);
      CHECK(direct.reason == Reason::biased);
      CHECK(direct.why ==
            "the reward reads it, so what else the reward reads tells only a part of its effect");
      const Verdict known = HindsightCredit{}.admissible({.assumption_1 = assumption_1,
                                                          .reads_directly = true,
                                                          .reward_is_known = true,
                                                          .has_children = has_children});
      CHECK(known.admissible);
      CHECK(known.unbiased);
      CHECK(known.why == "the reward is known, what it reads besides tells the rest");
      REQUIRE(direct.alternatives.size() == 1);
      CHECK(direct.alternatives[0].expression == "Reinforce{}");
    }
}

TEST_CASE_TEMPLATE("full hindsight makes of evidence what HNCA makes of it", S, float, double) {
  const std::vector<S> log_probs{std::log(S(0.2)), std::log(S(0.5)), std::log(S(0.3))},
      evidence{S(1.5), S(0), S(-0.7)};
  const std::vector<Outcome> sampled{1};
  const S signal = S(-2.5);
  const LocalView<S> view{1, 3, 1, 1, log_probs.data(), sampled.data(), evidence.data(), &signal};
  std::vector<S> by_credit(3, S(0.5)), by_hnca(3, S(0.5));
  HindsightCredit{}.add_credit(view, CreditTable<S>{&view, by_credit.data()});
  Hnca{}.add_credit(view, CreditTable<S>{&view, by_hnca.data()});
  CHECK(by_credit == by_hnca);
}
