#include <hindsight/estimators/hnca.hpp>

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

}  // namespace

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
  if (facts.reads_directly)
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
  return {.why = facts.assumption_1 ? "Assumption 1 holds" : "unbiased without Assumption 1"};
}

template <class S>
void Hnca::add_weights(const LocalView<S>& view, const WeightTable<S>& weights) const {
  add_posterior_minus_prior(view, weights.weights);
}

template void Hnca::add_weights(const LocalView<float>&, const WeightTable<float>&) const;
template void Hnca::add_weights(const LocalView<double>&, const WeightTable<double>&) const;

}  // namespace hindsight
