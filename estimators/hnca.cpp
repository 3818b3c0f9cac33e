#include <hindsight/estimators/hnca.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hindsight/estimators/alternatives.hpp>
#include <hindsight/estimators/hnca_kernels.hpp>

namespace hindsight {
namespace {

Alternative relaxed(int steps) {
  return {fmt::format("Hnca{{.assumption = Assumption::relaxed{}}}",
                      steps == 1 ? "" : fmt::format(", .steps = {}", steps)),
          "unbiased on any DAG; for one reward, never more variance than REINFORCE",
          Hnca{.assumption = Assumption::relaxed, .steps = steps}.name()};
}

/// w(k) = posterior(k)·signal(k), less the multiple of the prior at which the outcome r that was likeliest
/// before the evidence has no credit:
///   w(k) = (posterior(k) - prior(k)·L)·signal(r) + posterior(k)·(signal(k) - signal(r)),   L =
///   posterior(r)/prior(r).
/// The first bracket is prior(k)·L·(e^d - 1) with d = evidence(k) - evidence(r): nothing nearly equal is
/// subtracted, here or where nodes make gradients of it.
template <class S>
void add_candidate_credit(const LocalView<S>& view, const CreditTable<S>& credit) {
  for (int unit = 0; unit < view.units; ++unit)
    for (int i = 0; i < view.samples; ++i) {
      const auto joint = [&](int k) { return view.log_prob(unit, k, i) + view.evidence_of(unit, k, i); };
      const auto prior = [&](int k) { return std::exp(view.log_prob(unit, k, i)); };
      int likeliest = 0;
      S largest = joint(0);
      for (int k = 1; k < view.outcome_count; ++k) {
        if (view.log_prob(unit, k, i) > view.log_prob(unit, likeliest, i)) likeliest = k;
        largest = std::max(largest, joint(k));
      }
      S total = 0;
      for (int k = 0; k < view.outcome_count; ++k) total += std::exp(joint(k) - largest);
      const auto posterior = [&](int k) { return std::exp(joint(k) - largest) / total; };

      const S lift = posterior(likeliest) / prior(likeliest);
      const S base = view.signal_of(unit, likeliest, i);
      for (int k = 0; k < view.outcome_count; ++k) {
        if (k == likeliest) continue;
        const S gap = view.evidence_of(unit, k, i) - view.evidence_of(unit, likeliest, i);
        // Where both are -∞ the gap is no number, and both terms of the second form are 0.
        const S change = gap < 1 ? prior(k) * lift * std::expm1(gap) : posterior(k) - prior(k) * lift;
        credit(unit, k, i) += change * base + posterior(k) * (view.signal_of(unit, k, i) - base);
      }
    }
}

}  // namespace

Hnca Hnca::read(AttributeReader& given) {
  return {.assumption = given.choice("assumption", {"enforced", "relaxed"}) == 0 ? Assumption::enforced
                                                                                 : Assumption::relaxed,
          .steps = given.count("steps", 1)};
}

std::string Hnca::name() const {
  const bool is_relaxed = assumption == Assumption::relaxed;
  if (steps == 1) return is_relaxed ? "hnca(assumption=relaxed)" : "hnca";
  return fmt::format("hnca(steps={}{})", steps, is_relaxed ? ",assumption=relaxed" : "");
}

Verdict Hnca::admissible(const Facts& facts) const {
  if (steps < 1)
    return {.admissible = false,
            .unbiased = false,
            .reason = Reason::undefined,
            .why = fmt::format("{} steps of hindsight are none; the children are the first step", steps),
            .alternatives = {{"Hnca{}", "one step", "hnca"}}};
  if (facts.reads_directly && !facts.reward_is_known)
    return {.admissible = false,
            .unbiased = false,
            .reason = Reason::biased,
            .why = facts.has_children ? "the reward reads it, so its children tell only a part of its effect"
                                      : "the reward reads it and no child tells its effect",
            .alternatives = {internal::reinforce_instead}};
  if (!facts.assumption_1 && assumption == Assumption::enforced)
    return {.admissible = false,
            .unbiased = true,
            .reason = Reason::policy,
            .why = "Assumption 1 is violated",
            .alternatives = {relaxed(steps), internal::reinforce_instead}};
  if (facts.reads_directly)
    return {.why = facts.has_children ? "the reward is known, its children tell the rest"
                                      : "the reward is known: the expectation over its outcomes is exact"};
  return {.why = facts.assumption_1 ? "Assumption 1 holds" : "unbiased without Assumption 1"};
}

template <class S>
void Hnca::add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
  if (view.candidate_signals)
    add_candidate_credit(view, credit);
  else
    internal::add_posterior_minus_prior(view, credit.rows);
}

Verdict HindsightCredit::admissible(const Facts& facts) const {
  if (facts.reads_directly && !facts.reward_is_known)
    return {.admissible = false,
            .unbiased = false,
            .reason = Reason::biased,
            .why = "the reward reads it, so what else the reward reads tells only a part of its effect",
            .alternatives = {internal::reinforce_instead}};
  if (facts.reads_directly) return {.why = "the reward is known, what it reads besides tells the rest"};
  return {.why = "unbiased on any DAG"};
}

template <class S>
void HindsightCredit::add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
  Hnca{}.add_credit(view, credit);  // evidence is evidence, however many steps it took
}

template void Hnca::add_credit(const LocalView<float>&, const CreditTable<float>&) const;
template void Hnca::add_credit(const LocalView<double>&, const CreditTable<double>&) const;
template void HindsightCredit::add_credit(const LocalView<float>&, const CreditTable<float>&) const;
template void HindsightCredit::add_credit(const LocalView<double>&, const CreditTable<double>&) const;

}  // namespace hindsight
