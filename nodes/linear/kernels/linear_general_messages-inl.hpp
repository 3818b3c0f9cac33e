// Messages between units of any number of outcomes (docs/performance.md). Compiled once per instruction set.
#if defined(HINDSIGHT_LINEAR_GENERAL_MESSAGES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_LINEAR_GENERAL_MESSAGES_INL
#undef HINDSIGHT_LINEAR_GENERAL_MESSAGES_INL
#else
#define HINDSIGHT_LINEAR_GENERAL_MESSAGES_INL
#endif

#include <hindsight/nodes/linear_units-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class S>
void describe_for_general(const MessageSource<S>& child, std::size_t stride, int lanes,
                          std::size_t outcome_count, S* description) {
  const Tag<S> d;
  for (std::size_t k = 0; k < outcome_count; ++k, description += lanes)
    for (int i = 0; i < lanes; i += vector_lanes<S>)
      hn::Store(hn::Exp(d, hn::Load(d, child.log_probs + k * stride + i)), d, description + i);
  for (int i = 0; i < lanes; i += vector_lanes<S>)
    hn::Store(load_outcomes<S>(child.sampled + i), d, description + i);
}

template <class S>
void make_general_table(std::span<const S> contributions, S* growth, S* decay) {
  const Tag<S> d;
  constexpr std::size_t lanes = vector_lanes<S>;
  HWY_ALIGN S rest[lanes] = {}, grown[lanes], decayed[lanes];
  std::size_t i = 0;
  for (; i + lanes <= contributions.size(); i += lanes) {
    const auto contribution = hn::LoadU(d, contributions.data() + i);
    hn::StoreU(hn::Exp(d, contribution), d, growth + i);
    hn::StoreU(hn::Exp(d, hn::Neg(contribution)), d, decay + i);
  }
  // What lies beyond belongs to others.
  std::copy(contributions.begin() + static_cast<std::ptrdiff_t>(i), contributions.end(), rest);
  const auto contribution = hn::Load(d, rest);
  hn::Store(hn::Exp(d, contribution), d, grown);
  hn::Store(hn::Exp(d, hn::Neg(contribution)), d, decayed);
  std::copy_n(grown, contributions.size() - i, growth + i);
  std::copy_n(decayed, contributions.size() - i, decay + i);
}

/// The entry of a table row that belongs to the sampled candidate.
template <class S>
HWY_INLINE Vector<S> pick(const S* row, std::size_t candidates, Vector<S> sampled) {
  const Tag<S> d;
  auto picked = hn::Set(d, row[0]);
  for (std::size_t u = 1; u < candidates; ++u)
    picked = hn::IfThenElse(hn::Eq(sampled, hn::Set(d, static_cast<S>(u))), hn::Set(d, row[u]), picked);
  return picked;
}

/// What one edge has to offer: the probabilities of the child's outcomes and what it did. A binary child has
/// one logit, that of outcome 1; the part of outcome 0 in the sum is as before.
template <class S>
struct DescribedChild {
  const S* probabilities;
  std::size_t lanes;
  bool lone;
  Vector<S> outcome;

  HWY_INLINE DescribedChild(const GeneralMessage<S>& message, std::size_t edge, int lane)
      : probabilities(message.descriptions +
                      message.children[edge] * message.description_rows() *
                          static_cast<std::size_t>(message.lanes) +
                      static_cast<std::size_t>(lane)),
        lanes(static_cast<std::size_t>(message.lanes)),
        lone(message.logits == 1),
        outcome(hn::Load(Tag<S>(), probabilities + message.child_outcome_count() * lanes)) {}

  HWY_INLINE std::size_t outcome_of(std::size_t logit) const { return lone ? 1 : logit; }
  HWY_INLINE Vector<S> probability(std::size_t logit) const {
    return hn::Load(Tag<S>(), probabilities + outcome_of(logit) * lanes);
  }
  HWY_INLINE auto did(std::size_t logit) const {
    return hn::Eq(outcome, hn::Set(Tag<S>(), static_cast<S>(outcome_of(logit))));
  }
  HWY_INLINE Vector<S> probability_beside() const {
    return lone ? hn::Load(Tag<S>(), probabilities) : hn::Zero(Tag<S>());
  }
  HWY_INLINE Vector<S> did_beside() const {
    const Tag<S> d;
    return lone ? hn::IfThenElseZero(hn::Eq(outcome, hn::Zero(d)), hn::Set(d, S(1))) : hn::Zero(d);
  }
};

/// Calls add(edge) for the edges within the range, and take_logs() where the products could leave it.
template <class S, class Add, class TakeLogs>
HWY_INLINE void for_each_edge(const GeneralMessage<S>& message, const Add& add, const TakeLogs& take_logs) {
  double reached = 0;
  for (std::size_t e = 0; e < message.children.size(); ++e) {
    const auto range = static_cast<double>(message.ranges[e]);
    if (!(range <= general_range)) continue;
    if (reached + range > general_range) {
      take_logs();
      reached = 0;
    }
    reached += range;
    add(e);
  }
  take_logs();
}

/// log P(child | candidate u) - log P(child | sampled v) = log( e^{z_c} / Σ_k p_k·e^{z_k} ), where c is what
/// the child did and z_k = contribution_ku - contribution_kv. Numerators and denominators of the edges are
/// multiplied up.
template <class S>
HWY_INLINE void add_general_message_lane(const GeneralMessage<S>& message, int lane, S* scratch) {
  const Tag<S> d;
  constexpr std::size_t width = vector_lanes<S>;
  const std::size_t candidates = message.candidates, logits = message.logits;
  S* const numerators = scratch;
  S* const denominators = numerators + candidates * width;
  S* const logs = denominators + candidates * width;
  S* const likelihoods = logs + candidates * width;
  S* const matches = likelihoods + logits * width;
  const auto one = hn::Set(d, S(1));
  const auto sampled = load_outcomes<S>(message.parent.sampled + lane);
  for (std::size_t u = 0; u < candidates; ++u) {
    hn::Store(one, d, numerators + u * width);
    hn::Store(one, d, denominators + u * width);
    hn::Store(hn::Zero(d), d, logs + u * width);
  }
  const auto take_logs = [&]() HWY_ATTR {
    for (std::size_t u = 0; u < candidates; ++u) {
      const auto ratio = hn::Div(hn::Load(d, numerators + u * width), hn::Load(d, denominators + u * width));
      hn::Store(hn::Add(hn::Load(d, logs + u * width), hn::Log(d, ratio)), d, logs + u * width);
      hn::Store(one, d, numerators + u * width);
      hn::Store(one, d, denominators + u * width);
    }
  };
  const auto add = [&](std::size_t e) HWY_ATTR {
    const DescribedChild<S> child(message, e, lane);
    for (std::size_t k = 0; k < logits; ++k) {
      const auto decay = pick(message.decay + e * message.edge_size() + k * candidates, candidates, sampled);
      hn::Store(hn::Mul(child.probability(k), decay), d, likelihoods + k * width);
      hn::Store(hn::IfThenElseZero(child.did(k), decay), d, matches + k * width);
    }
    for (std::size_t u = 0; u < candidates; ++u) {
      const S* const growth = message.growth + e * message.edge_size() + u;
      auto numerator = child.did_beside(), denominator = child.probability_beside();
      for (std::size_t k = 0; k < logits; ++k) {
        const auto grown = hn::Set(d, growth[k * candidates]);
        numerator = hn::MulAdd(hn::Load(d, matches + k * width), grown, numerator);
        denominator = hn::MulAdd(hn::Load(d, likelihoods + k * width), grown, denominator);
      }
      S* const numerator_at = numerators + u * width;
      S* const denominator_at = denominators + u * width;
      hn::Store(hn::Mul(hn::Load(d, numerator_at), numerator), d, numerator_at);
      hn::Store(hn::Mul(hn::Load(d, denominator_at), denominator), d, denominator_at);
    }
  };
  for_each_edge(message, add, take_logs);
  for (std::size_t u = 0; u < candidates; ++u) {
    S* const evidence = message.parent.evidence + u * message.stride + lane;
    const auto happened = hn::Eq(sampled, hn::Set(d, static_cast<S>(u)));
    hn::Store(hn::Add(hn::Load(d, evidence), hn::IfThenZeroElse(happened, hn::Load(d, logs + u * width))), d,
              evidence);
  }
}

/// The same for a parent with two candidates, of which only the one that was not sampled gets a message.
template <class S>
HWY_INLINE void add_binary_message_lane(const GeneralMessage<S>& message, int lane) {
  const Tag<S> d;
  const auto one = hn::Set(d, S(1));
  const auto sampled_0 = hn::Eq(load_outcomes<S>(message.parent.sampled + lane), hn::Zero(d));
  auto logs = hn::Zero(d), numerators = one, denominators = one;
  const auto take_logs = [&]() HWY_ATTR {
    logs = hn::Add(logs, hn::Log(d, hn::Div(numerators, denominators)));
    numerators = denominators = one;
  };
  const auto add = [&](std::size_t e) HWY_ATTR {
    const DescribedChild<S> child(message, e, lane);
    const S* growth = message.growth + e * message.edge_size();
    const S* decay = message.decay + e * message.edge_size();
    auto numerator = child.did_beside(), denominator = child.probability_beside();
    for (std::size_t k = 0; k < message.logits; ++k, growth += 2, decay += 2) {
      const auto grown =
          hn::IfThenElse(sampled_0, hn::Set(d, growth[1] * decay[0]), hn::Set(d, growth[0] * decay[1]));
      numerator = hn::IfThenElse(child.did(k), grown, numerator);
      denominator = hn::MulAdd(child.probability(k), grown, denominator);
    }
    numerators = hn::Mul(numerators, numerator);
    denominators = hn::Mul(denominators, denominator);
  };
  for_each_edge(message, add, take_logs);
  S* const evidence_0 = message.parent.evidence + lane;
  S* const evidence_1 = evidence_0 + message.stride;
  hn::Store(hn::Add(hn::Load(d, evidence_0), hn::IfThenZeroElse(sampled_0, logs)), d, evidence_0);
  hn::Store(hn::Add(hn::Load(d, evidence_1), hn::IfThenElseZero(sampled_0, logs)), d, evidence_1);
}

template <class S>
void add_general_messages(const GeneralMessage<S>& message, S* scratch) {
  for (int lane = 0; lane < message.lanes; lane += vector_lanes<S>)
    if (message.candidates == 2)
      add_binary_message_lane(message, lane);
    else
      add_general_message_lane(message, lane, scratch);
}

template <class S>
void add_general_message_in_log_space(const GeneralMessage<S>& message, std::size_t edge,
                                      const S* child_log_probs, S* scratch) {
  const Tag<S> d;
  constexpr std::size_t width = vector_lanes<S>;
  const std::size_t candidates = message.candidates, logits = message.logits;
  const auto lanes = static_cast<std::size_t>(message.lanes);
  const S* const contributions = message.contributions + edge * message.edge_size();
  const S* const outcomes = message.descriptions +
                            message.children[edge] * message.description_rows() * lanes +
                            message.child_outcome_count() * lanes;
  const bool lone = logits == 1;
  for (std::size_t lane = 0; lane < lanes; lane += width) {
    const auto sampled = load_outcomes<S>(message.parent.sampled + lane);
    const auto outcome = hn::Load(d, outcomes + lane);
    for (std::size_t k = 0; k < logits; ++k)
      hn::Store(pick(contributions + k * candidates, candidates, sampled), d, scratch + k * width);
    const auto change = [&](std::size_t k, std::size_t u) HWY_ATTR {
      return hn::Sub(hn::Set(d, contributions[k * candidates + u]), hn::Load(d, scratch + k * width));
    };
    const auto joint = [&](std::size_t k, std::size_t u) HWY_ATTR {
      return hn::Add(hn::Load(d, child_log_probs + (lone ? 1 : k) * message.stride + lane), change(k, u));
    };
    for (std::size_t u = 0; u < candidates; ++u) {
      auto largest = lone ? hn::Load(d, child_log_probs + lane) : joint(0, u);
      for (std::size_t k = 0; k < logits; ++k) largest = hn::Max(largest, joint(k, u));
      auto total = lone ? hn::Exp(d, hn::Sub(hn::Load(d, child_log_probs + lane), largest)) : hn::Zero(d);
      auto own_change = hn::Zero(d);
      for (std::size_t k = 0; k < logits; ++k) {
        total = hn::Add(total, hn::Exp(d, hn::Sub(joint(k, u), largest)));
        const auto is_own = hn::Eq(outcome, hn::Set(d, static_cast<S>(lone ? 1 : k)));
        own_change = hn::IfThenElse(is_own, change(k, u), own_change);
      }
      const auto log_ratio = hn::Sub(own_change, hn::Add(largest, hn::Log(d, total)));
      S* const evidence = message.parent.evidence + u * message.stride + lane;
      const auto happened = hn::Eq(sampled, hn::Set(d, static_cast<S>(u)));
      hn::Store(hn::Add(hn::Load(d, evidence), hn::IfThenZeroElse(happened, log_ratio)), d, evidence);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
