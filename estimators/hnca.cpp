#include <hindsight/estimators/hnca.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hindsight/estimators/hnca_kernels.hpp>

namespace hindsight {
namespace {

const Alternative reinforce{"Reinforce{}", "unbiased everywhere, more variance"};

Alternative relaxed(int steps) {
  return {fmt::format("Hnca{{.assumption = Assumption::relaxed{}}}",
                      steps == 1 ? "" : fmt::format(", .steps = {}", steps)),
          "unbiased on any DAG, and never more variance than REINFORCE"};
}

/// w(k) = posterior(k)·signal(k), centred by a multiple of the prior, which changes no gradient but keeps the
/// weights small where signals are nearly equal.
template <class S>
void add_candidate_weights(const LocalView<S>& view, const WeightTable<S>& weights) {
  for (int unit = 0; unit < view.units; ++unit)
    for (int i = 0; i < view.samples; ++i) {
      const auto joint = [&](int k) { return view.log_prob(unit, k, i) + view.evidence_of(unit, k, i); };
      S largest = joint(0);
      for (int k = 1; k < view.outcomes; ++k) largest = std::max(largest, joint(k));
      S total = 0, mean = 0;
      for (int k = 0; k < view.outcomes; ++k) {
        const S share = std::exp(joint(k) - largest);
        total += share;
        mean += share * view.signal_of(unit, k, i);
      }
      mean /= total;
      for (int k = 0; k < view.outcomes; ++k) {
        const S posterior = std::exp(joint(k) - largest) / total;
        weights(unit, k, i) +=
            posterior * view.signal_of(unit, k, i) - std::exp(view.log_prob(unit, k, i)) * mean;
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
            .alternatives = {{"Hnca{}", "one step"}}};
  if (facts.reads_directly && !facts.known)
    return {.admissible = false,
            .unbiased = false,
            .reason = Reason::biased,
            .why = facts.has_children ? "the reward reads it, so its children tell only a part of its effect"
                                      : "the reward reads it and no child tells its effect",
            .alternatives = {reinforce}};
  if (!facts.assumption_1 && assumption == Assumption::enforced)
    return {.admissible = false,
            .unbiased = true,
            .reason = Reason::policy,
            .why = "Assumption 1 is violated",
            .alternatives = {relaxed(steps), reinforce}};
  if (facts.reads_directly)
    return {.why = facts.has_children ? "the reward is known, its children tell the rest"
                                      : "the reward is known: the expectation over its outcomes is exact"};
  return {.why = facts.assumption_1 ? "Assumption 1 holds" : "unbiased without Assumption 1"};
}

template <class S>
void Hnca::add_weights(const LocalView<S>& view, const WeightTable<S>& weights) const {
  if (view.candidate_signals)
    add_candidate_weights(view, weights);
  else
    add_posterior_minus_prior(view, weights.weights);
}

template void Hnca::add_weights(const LocalView<float>&, const WeightTable<float>&) const;
template void Hnca::add_weights(const LocalView<double>&, const WeightTable<double>&) const;

}  // namespace hindsight
