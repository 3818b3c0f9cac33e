#include <hindsight/estimators/straight_through.hpp>

#include <cmath>

#include <hindsight/estimators/alternatives.hpp>

namespace hindsight {
namespace {

const Alternative relaxed_hnca{"Hnca{.assumption = Assumption::relaxed}",
                               "unbiased on any DAG, needs no slopes", "hnca(assumption=relaxed)"};

Verdict undefined(std::string why, std::vector<Alternative> alternatives) {
  return {.admissible = false,
          .unbiased = false,
          .reason = Reason::undefined,
          .why = std::move(why),
          .alternatives = std::move(alternatives)};
}

/// One unit in one sample, seen from its outcomes.
template <class S>
class UnitInSample {
 public:
  UnitInSample(const LocalView<S>& view, int unit, int sample) : view_(view), unit_(unit), sample_(sample) {}

  S log_prob(int outcome) const { return view_.log_prob(unit_, outcome, sample_); }
  bool can_occur(int outcome) const { return std::isfinite(log_prob(outcome)); }
  /// ⟨g, x_outcome - x_other⟩
  S gain(int outcome, int other) const {
    if (view_.encoding->is_one_hot()) return slope(outcome) - slope(other);
    S sum = 0;
    for (int j = 0; j < view_.encoding->width; ++j)
      sum += slope(j) * static_cast<S>(view_.encoding->value(outcome, j) - view_.encoding->value(other, j));
    return sum;
  }
  int most_likely() const {
    int best = 0;
    for (int k = 1; k < view_.outcome_count; ++k)
      if (log_prob(k) > log_prob(best)) best = k;
    return best;
  }

 private:
  S slope(int feature) const { return view_.slope(unit_, feature, sample_); }

  const LocalView<S>& view_;
  const int unit_, sample_;
};

/// The derivative at the logit of outcome 1.
template <class S>
S binary_delta(const UnitInSample<S>& unit, Surrogate through) {
  const S against = unit.log_prob(0), in_favour = unit.log_prob(1);
  if (through == Surrogate::probabilities) return unit.gain(1, 0) * std::exp(against + in_favour);
  const bool follows = unit.can_occur(0) && unit.can_occur(1) &&
                       (through == Surrogate::identity || std::abs(in_favour - against) <= 1);
  return follows ? unit.gain(1, 0) / 2 : S(0);
}

/// π_k·⟨g, x_k - x_best⟩, which is π_k·⟨g, x_k⟩ up to a multiple of π: with the most likely outcome as the
/// origin nothing cancels where its probability is next to 1.
template <class S>
void add_through_probabilities(const UnitInSample<S>& unit, int outcome_count, S* credit,
                               std::size_t stride) {
  const int best = unit.most_likely();
  for (int k = 0; k < outcome_count; ++k)
    if (k != best)
      credit[static_cast<std::size_t>(k) * stride] += std::exp(unit.log_prob(k)) * unit.gain(k, best);
}

template <class S>
void add_through_logits(const UnitInSample<S>& unit, int outcome_count, Surrogate through, S* credit,
                        std::size_t stride) {
  S total = 0;
  int possible = 0;
  for (int k = 0; k < outcome_count; ++k)
    if (unit.can_occur(k)) {
      total += unit.log_prob(k);
      ++possible;
    }
  if (possible < 2) return;
  const auto follows = [&](int k) {
    if (!unit.can_occur(k)) return false;
    const S others = (total - unit.log_prob(k)) / static_cast<S>(possible - 1);
    return through == Surrogate::identity || std::abs(unit.log_prob(k) - others) <= 1;
  };
  S mean = 0;
  int origin = -1, following = 0;
  for (int k = 0; k < outcome_count; ++k) {
    if (!follows(k)) continue;
    if (origin < 0) origin = k;
    mean += unit.gain(k, origin);
    ++following;
  }
  if (following < 2) return;
  mean /= static_cast<S>(following);
  for (int k = 0; k < outcome_count; ++k)
    if (follows(k)) credit[static_cast<std::size_t>(k) * stride] += unit.gain(k, origin) - mean;
}

}  // namespace

std::string StraightThrough::name() const {
  switch (through) {
    case Surrogate::identity:
      return "straight-through(through=identity)";
    case Surrogate::clipped:
      return "straight-through(through=clipped)";
    case Surrogate::probabilities:
      break;
  }
  return "straight-through";
}

StraightThrough StraightThrough::read(AttributeReader& given) {
  return {static_cast<Surrogate>(given.choice("through", {"probabilities", "identity", "clipped"}))};
}

Verdict StraightThrough::admissible(const Facts& facts) const {
  if (facts.reads_directly && facts.reward_is_known)
    return undefined("the reward reads it, and only its values are known, not its slope",
                     {relaxed_hnca, internal::reinforce_instead});
  if (facts.reads_directly)
    return undefined(facts.has_children ? "the reward reads it, and a black box passes no slope back"
                                        : "it has no children, and a black-box reward passes no slope back",
                     {internal::reinforce_instead});
  if (!facts.has_children)
    return undefined("it has no children, so no slope comes back", {internal::reinforce_instead});
  if (!facts.children_have_slopes)
    return undefined("one of its children has no backpropagate, so its slope is not known",
                     {relaxed_hnca, internal::reinforce_instead});
  return {.admissible = true,
          .unbiased = false,
          .reason = Reason::biased,
          .why = "it takes the expected reward for linear in what the children read",
          .alternatives = {relaxed_hnca, internal::reinforce_instead}};
}

template <class S>
void StraightThrough::add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
  for (int unit = 0; unit < view.units; ++unit)
    for (int i = 0; i < view.samples; ++i) {
      const UnitInSample<S> seen(view, unit, i);
      if (view.outcome_count == 2) {
        const S delta = binary_delta(seen, through);
        credit(unit, 0, i) -= delta;
        credit(unit, 1, i) += delta;
      } else if (through == Surrogate::probabilities) {
        add_through_probabilities(seen, view.outcome_count, &credit(unit, 0, i), view.stride);
      } else {
        add_through_logits(seen, view.outcome_count, through, &credit(unit, 0, i), view.stride);
      }
    }
}

template void StraightThrough::add_credit(const LocalView<float>&, const CreditTable<float>&) const;
template void StraightThrough::add_credit(const LocalView<double>&, const CreditTable<double>&) const;

}  // namespace hindsight
