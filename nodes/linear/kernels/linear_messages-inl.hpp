// Messages between binary units by closed forms (docs/performance.md). Compiled once per instruction set.
#if defined(HINDSIGHT_LINEAR_MESSAGES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_LINEAR_MESSAGES_INL
#undef HINDSIGHT_LINEAR_MESSAGES_INL
#else
#define HINDSIGHT_LINEAR_MESSAGES_INL
#endif

#include <hindsight/nodes/linear_units-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The sign bit where the outcome is 0, which stands for x = -1; nothing where it is 1.
template <class S>
HWY_INLINE Vector<S> sign_of(const Outcome* outcomes) {
  const Tag<S> d;
  return hn::IfThenElseZero(hn::Eq(load_outcomes<S>(outcomes), hn::Zero(d)), hn::SignBit(d));
}

template <class S>
HWY_INLINE auto is_set(Vector<S> sign) {
  const Tag<S> d;
  return hn::Lt(hn::Or(hn::Set(d, S(1)), sign), hn::Zero(d));
}

/// The parent's other outcome is less likely by `total`, in log space, than the one it sampled.
template <class S>
HWY_INLINE void subtract_from_flipped(Vector<S> total, Vector<S> sign, S* evidence, std::size_t stride) {
  const Tag<S> d;
  const auto sampled_0 = is_set<S>(sign);
  hn::Store(hn::Sub(hn::Load(d, evidence), hn::IfThenZeroElse(sampled_0, total)), d, evidence);
  S* const evidence_1 = evidence + stride;
  hn::Store(hn::Sub(hn::Load(d, evidence_1), hn::IfThenElseZero(sampled_0, total)), d, evidence_1);
}

template <class S>
void describe_for_dense(const MessageSource<S>& child, std::size_t stride, int lanes, std::size_t children,
                        S* description) {
  const Tag<S> d;
  for (int lane = 0; lane < lanes; lane += lane_group, description += children * 2 * lane_group)
    for (int i = 0; i < lane_group; i += vector_lanes<S>) {
      const auto p_0 = hn::Exp(d, hn::Load(d, child.log_probs + lane + i)),
                 p_1 = hn::Exp(d, hn::Load(d, child.log_probs + stride + lane + i));
      hn::Store(hn::Sub(p_1, p_0), d, description + i);
      hn::Store(hn::Or(hn::Set(d, S(1)), sign_of<S>(child.sampled + lane + i)), d,
                description + lane_group + i);
    }
}

template <class S>
void describe_for_sparse(const MessageSource<S>& child, std::size_t stride, int lanes, S* description) {
  const Tag<S> d;
  for (int i = 0; i < lanes; i += vector_lanes<S>) {
    const auto sign = sign_of<S>(child.sampled + i);
    const auto sampled_0 = is_set<S>(sign);
    const auto other = hn::IfThenElse(sampled_0, hn::Load(d, child.log_probs + stride + i),
                                      hn::Load(d, child.log_probs + i));
    hn::Store(hn::Or(hn::Exp(d, other), sign), d, description + i);
  }
}

/// tanh h as a fraction, for |h| up to the closed form's limit. In float, Lambert's continued fraction cut
/// after nine terms, which is exact to 1e-9 there: a third of the cost of the general function.
template <class S>
struct TanhFraction {
  Vector<S> numerator, denominator;

  HWY_INLINE explicit TanhFraction(Vector<S> h) {
    const Tag<S> d;
    if constexpr (sizeof(S) == sizeof(float)) {
      const auto evaluate = [&](auto x, S c0, S c1, S c2, S c3, S c4) HWY_ATTR {
        auto sum = hn::MulAdd(hn::Set(d, c4), x, hn::Set(d, c3));
        sum = hn::MulAdd(sum, x, hn::Set(d, c2));
        sum = hn::MulAdd(sum, x, hn::Set(d, c1));
        return hn::MulAdd(sum, x, hn::Set(d, c0));
      };
      const auto square = hn::Mul(h, h);
      numerator = hn::Mul(h, evaluate(square, 255, 35, 1, S(990.0 / 135135), S(1.0 / 135135)));
      denominator = evaluate(square, 255, 120, 7, S(13860.0 / 135135), S(45.0 / 135135));
    } else {
      numerator = hn::Tanh(d, h);
      denominator = hn::Set(d, S(1));
    }
  }
};

/// The table begins with Σ log cosh h per parent and a row whose first number says how many children may
/// share a logarithm; then, child after child: tanh h of each parent and h of each parent.
template <class S>
TableRange<S> make_dense_table(const WeightRows<const S>& weights, std::size_t first_feature,
                               std::span<const S> half_gaps, S* table) {
  const Tag<S> d;
  constexpr std::size_t width = parent_group, lanes = vector_lanes<S>;
  constexpr std::size_t children_per_log = 16;  // each factor 1 - tanh² is above e^-4
  const std::size_t children = weights.begin.size();
  HWY_ALIGN S gap[width] = {}, gathered[width] = {};
  std::copy(half_gaps.begin(), half_gaps.end(), gap);
  const auto one = hn::Set(d, S(1)), limit = hn::Set(d, static_cast<S>(closed_form_limit));
  S largest = 0;
  bool beyond = false;
  for (std::size_t v = 0; v < width; v += lanes) {
    const std::size_t in_range = half_gaps.size() > v ? std::min(lanes, half_gaps.size() - v) : 0;
    auto product = one, logs = hn::Zero(d), most = hn::Zero(d);
    auto all_within = hn::Eq(one, one);
    for (std::size_t c = 0; c < children; ++c) {
      const S* weight = weights.first + weights.begin[c] + (first_feature + v) * weights.step;
      if (in_range < lanes || weights.step != 1) {
        for (std::size_t r = 0; r < in_range; ++r) gathered[r] = weight[r * weights.step];
        weight = gathered;
      }
      const auto change = hn::Mul(hn::LoadU(d, weight), hn::Load(d, gap + v));
      const auto within = hn::Le(hn::Abs(change), limit);
      all_within = hn::And(all_within, within);
      const auto h = hn::IfThenElseZero(within, change);
      const TanhFraction<S> tanh(h);
      const auto t = hn::Div(tanh.numerator, tanh.denominator);
      most = hn::Max(most, hn::Abs(h));
      product = hn::Mul(product, hn::NegMulAdd(t, t, one));
      if (c % children_per_log == children_per_log - 1 || c + 1 == children) {
        logs = hn::Add(logs, hn::Log(d, product));
        product = one;
      }
      hn::Store(t, d, table + 2 * width * (c + 1) + v);
      hn::Store(h, d, table + 2 * width * (c + 1) + width + v);
    }
    hn::Store(hn::Mul(logs, hn::Set(d, S(-0.5))), d, table + v);
    largest = std::max(largest, hn::GetLane(hn::MaxOfLanes(d, most)));
    beyond = beyond || !hn::AllTrue(d, all_within);
  }
  const TableRange<S> range{largest, beyond};
  table[width] = static_cast<S>(range.edges_per_log());
  return range;
}

/// Parents that are told together and share what is loaded of the children.
inline constexpr std::size_t parent_tile = many_registers ? 8 : 4;

/// One tile of parents, one vector of samples, some children:
/// x·Σ s·h + log Π (1 - x·m·tanh h), the product cut where it could leave the range.
template <class S>
HWY_INLINE void sum_message_tile(const S* table, std::size_t children, std::size_t children_per_log,
                                 const S* child, const Vector<S>* sign, Vector<S>* total) {
  const Tag<S> d;
  const auto one = hn::Set(d, S(1));
  Vector<S> linear[parent_tile], logs[parent_tile];
  for (std::size_t r = 0; r < parent_tile; ++r) linear[r] = logs[r] = hn::Zero(d);
  for (std::size_t c = 0; c < children;) {
    const std::size_t stop = std::min(children, c + children_per_log);
    Vector<S> product[parent_tile];
    for (std::size_t r = 0; r < parent_tile; ++r) product[r] = one;
    for (; c < stop; ++c, table += 2 * parent_group, child += 2 * lane_group) {
      const auto mean = hn::Load(d, child), outcome = hn::Load(d, child + lane_group);
      for (std::size_t r = 0; r < parent_tile; ++r) {
        const auto factor = hn::NegMulAdd(hn::Xor(mean, sign[r]), hn::Set(d, table[r]), one);
        product[r] = hn::Mul(product[r], factor);
        linear[r] = hn::MulAdd(outcome, hn::Set(d, table[parent_group + r]), linear[r]);
      }
    }
    for (std::size_t r = 0; r < parent_tile; ++r) logs[r] = hn::Add(logs[r], hn::Log(d, product[r]));
  }
  for (std::size_t r = 0; r < parent_tile; ++r) total[r] = hn::Add(hn::Xor(linear[r], sign[r]), logs[r]);
}

/// In stretches of children whose table and descriptions, for one group of lanes, stay in the first-level
/// cache; what has been summed up is told at the end.
template <class S>
void add_dense_messages(const S* table, std::size_t children, const S* descriptions,
                        std::span<const MessageTarget<S>> parents, std::size_t stride, int lanes) {
  const Tag<S> d;
  constexpr std::size_t width = chunk_samples;
  HWY_ALIGN S signs[parent_group * width], totals[parent_group * width];
  for (std::size_t p = 0; p < parent_group; ++p)
    for (int lane = 0; lane < lanes; lane += vector_lanes<S>) {
      hn::Store(sign_of<S>(parents[std::min(p, parents.size() - 1)].sampled + lane), d,
                signs + p * width + lane);
      hn::Store(hn::Set(d, table[p]), d, totals + p * width + lane);
    }
  const auto children_per_log = static_cast<std::size_t>(table[parent_group]);
  for (std::size_t first = 0; first < children; first += most_edges_per_log) {
    const std::size_t count = std::min(most_edges_per_log, children - first);
    const S* const stretch = table + 2 * parent_group * (first + 1);
    for (int lane = 0; lane < lanes; lane += vector_lanes<S>) {
      const auto group = static_cast<std::size_t>(lane / lane_group);
      const S* const described =
          descriptions + (group * children + first) * 2 * lane_group + lane % lane_group;
      for (std::size_t p = 0; p < parents.size(); p += parent_tile) {
        Vector<S> sign[parent_tile], total[parent_tile];
        for (std::size_t r = 0; r < parent_tile; ++r) sign[r] = hn::Load(d, signs + (p + r) * width + lane);
        sum_message_tile<S>(stretch + p, count, children_per_log, described, sign, total);
        for (std::size_t r = 0; r < parent_tile; ++r) {
          S* const sum = totals + (p + r) * width + lane;
          hn::Store(hn::Add(hn::Load(d, sum), total[r]), d, sum);
        }
      }
    }
  }
  for (std::size_t p = 0; p < parents.size(); ++p)
    for (int lane = 0; lane < lanes; lane += vector_lanes<S>)
      subtract_from_flipped<S>(hn::Load(d, totals + p * width + lane), hn::Load(d, signs + p * width + lane),
                               parents[p].evidence + lane, stride);
}

/// Per edge: e^{2h} - 1 and 1 - e^{-2h}. With tanh h = n/d they are 2n/(d - n) and 2n/(d + n).
template <class S>
TableRange<S> make_sparse_table(std::span<const S> half_changes, S* table) {
  const Tag<S> d;
  constexpr std::size_t lanes = vector_lanes<S>;
  const auto limit = hn::Set(d, static_cast<S>(closed_form_limit));
  auto most = hn::Zero(d);
  bool beyond = false;
  for (std::size_t e = 0; e < half_changes.size(); e += lanes) {
    const std::size_t count = std::min(lanes, half_changes.size() - e);
    HWY_ALIGN S changes[lanes] = {};
    std::copy_n(half_changes.data() + e, count, changes);
    const auto change = hn::Load(d, changes);
    const auto within = hn::Le(hn::Abs(change), limit);
    beyond = beyond || !hn::AllTrue(d, within);
    const auto h = hn::IfThenElseZero(within, change);
    most = hn::Max(most, hn::Abs(h));
    const TanhFraction<S> tanh(h);
    const auto twice = hn::Add(tanh.numerator, tanh.numerator);
    const auto rise = hn::Div(twice, hn::Sub(tanh.denominator, tanh.numerator)),
               fall = hn::Div(twice, hn::Add(tanh.denominator, tanh.numerator));
    if (count == lanes) {
      hn::StoreInterleaved2(rise, fall, d, table + 2 * e);
    } else {
      HWY_ALIGN S pairs[2 * lanes];
      hn::StoreInterleaved2(rise, fall, d, pairs);
      std::copy(pairs, pairs + 2 * count, table + 2 * e);
    }
  }
  return {hn::GetLane(hn::MaxOfLanes(d, most)), beyond};
}

/// log Π (1 + q·(e^{2·s·x·h} - 1)). With w = s·x·q the factor is 1 + (e^{2h} - 1)·w where w is positive and
/// 1 + (1 - e^{-2h})·w where it is negative.
template <class S, int vectors>
HWY_INLINE void add_sparse_message_lanes(const S* table, std::size_t edges_per_log,
                                         std::span<const std::uint32_t> children, const S* descriptions,
                                         const MessageTarget<S>& parent, std::size_t stride, int lanes,
                                         int lane) {
  const Tag<S> d;
  const auto one = hn::Set(d, S(1));
  Vector<S> sign[vectors], total[vectors];
  for (int v = 0; v < vectors; ++v) {
    sign[v] = sign_of<S>(parent.sampled + lane + v * vector_lanes<S>);
    total[v] = hn::Zero(d);
  }
  for (std::size_t e = 0; e < children.size();) {
    const std::size_t stop = std::min(children.size(), e + edges_per_log);
    Vector<S> product[vectors];
    for (int v = 0; v < vectors; ++v) product[v] = one;
    for (; e < stop; ++e) {
      const S* const child = descriptions + children[e] * static_cast<std::size_t>(lanes) + lane;
      const auto rise = hn::Set(d, table[2 * e]), fall = hn::Set(d, table[2 * e + 1]);
      for (int v = 0; v < vectors; ++v) {
        const auto doubt = hn::Xor(hn::Load(d, child + v * vector_lanes<S>), sign[v]);
        const auto factor = hn::MulAdd(hn::IfNegativeThenElse(doubt, fall, rise), doubt, one);
        product[v] = hn::Mul(product[v], factor);
      }
    }
    for (int v = 0; v < vectors; ++v) total[v] = hn::Add(total[v], hn::Log(d, product[v]));
  }
  for (int v = 0; v < vectors; ++v)
    subtract_from_flipped<S>(total[v], sign[v], parent.evidence + lane + v * vector_lanes<S>, stride);
}

template <class S>
void add_sparse_messages(const S* table, std::size_t edges_per_log, std::span<const std::uint32_t> children,
                         const S* descriptions, const MessageTarget<S>& parent, std::size_t stride,
                         int lanes) {
  for_lane_stretches<S, chunk_vectors<S>>(lanes, [&](int lane, auto vectors) HWY_ATTR {
    add_sparse_message_lanes<S, decltype(vectors)::value>(table, edges_per_log, children, descriptions,
                                                          parent, stride, lanes, lane);
  });
}

/// log(p + q·e^{2·s·x·h}), p and q the probabilities of what the child did and did not do.
template <class S>
void add_message_in_log_space(const MessageSource<S>& child, S half_change, const MessageTarget<S>& parent,
                              std::size_t stride, int lanes) {
  const Tag<S> d;
  for (int i = 0; i < lanes; i += vector_lanes<S>) {
    const auto child_sign = sign_of<S>(child.sampled + i), sign = sign_of<S>(parent.sampled + i);
    const auto child_0 = is_set<S>(child_sign);
    const auto log_0 = hn::Load(d, child.log_probs + i), log_1 = hn::Load(d, child.log_probs + stride + i);
    const auto change = hn::Xor(hn::Set(d, 2 * half_change), hn::Xor(child_sign, sign));
    const auto stay = hn::IfThenElse(child_0, log_0, log_1);
    const auto flipped = hn::Add(hn::IfThenElse(child_0, log_1, log_0), change);
    const auto gap = hn::Neg(hn::Abs(hn::Sub(stay, flipped)));
    const auto total = hn::Add(hn::Max(stay, flipped), hn::Log1p(d, hn::Exp(d, gap)));
    subtract_from_flipped<S>(total, sign, parent.evidence + i, stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
