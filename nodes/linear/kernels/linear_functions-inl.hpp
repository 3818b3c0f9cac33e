// Deterministic units and slopes: activations, their derivatives, and what goes back to the features.
// Compiled once per instruction set.
#if defined(HINDSIGHT_LINEAR_FUNCTIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_LINEAR_FUNCTIONS_INL
#undef HINDSIGHT_LINEAR_FUNCTIONS_INL
#else
#define HINDSIGHT_LINEAR_FUNCTIONS_INL
#endif

#include <hindsight/nodes/linear_units-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sums become values, in place; a sum that is not a number stays one.
template <class S>
void activate(LinkFunction link, S* row, int lanes) {
  const Tag<S> d;
  const auto zero = hn::Zero(d), one = hn::Set(d, S(1));
  for (int i = 0; i < lanes; i += vector_lanes<S>) {
    const auto sum = hn::Load(d, row + i);
    const auto is_number = hn::Eq(sum, sum);
    auto value = sum;
    if (link == LinkFunction::tanh) {
      value = hn::Tanh(d, sum);
    } else if (link == LinkFunction::relu) {
      value = hn::Max(sum, zero);
    } else if (link == LinkFunction::sigmoid) {
      const auto ratio = hn::Exp(d, hn::Neg(hn::Abs(sum)));
      value = hn::Div(hn::IfThenElse(hn::Ge(sum, zero), one, ratio), hn::Add(one, ratio));
    }
    hn::Store(hn::IfThenElse(is_number, value, sum), d, row + i);
  }
}

/// What the slopes by the values are by the sums; zero beyond `samples`.
template <class S>
void function_deltas(LinkFunction link, const S* values, const S* slopes, int lanes, int samples, S* deltas) {
  const Tag<S> d;
  const auto one = hn::Set(d, S(1));
  for (int i = 0; i < lanes; i += vector_lanes<S>) {
    const auto value = hn::Load(d, values + i), slope = hn::Load(d, slopes + i);
    auto delta = slope;
    if (link == LinkFunction::tanh) {
      delta = hn::Mul(slope, hn::NegMulAdd(value, value, one));
    } else if (link == LinkFunction::relu) {
      delta = hn::IfThenElseZero(hn::Gt(value, hn::Zero(d)), slope);
    } else if (link == LinkFunction::sigmoid) {
      delta = hn::Mul(slope, hn::Mul(value, hn::Sub(one, value)));
    }
    hn::Store(hn::IfThenElseZero(counting<S>(i, samples), delta), d, deltas + i);
  }
}

/// A tile of features and one stretch of lanes: slopes += Σ over rows of weight·delta.
template <class S, int features, int vectors>
HWY_INLINE void add_slope_tile(const WeightRows<const S>& weights, std::size_t first,
                               const SampleRows<const S>& deltas, const SampleRows<S>& slopes, int lane) {
  const Tag<S> d;
  Vector<S> sum[features][vectors];
  for (std::size_t j = 0; j < features; ++j)
    for (int v = 0; v < vectors; ++v)
      sum[j][v] = hn::Load(d, slopes.row(first + j) + lane + v * vector_lanes<S>);
  for (std::size_t r = 0; r < weights.begin.size(); ++r) {
    const S* const weight = weights.first + weights.begin[r] + first * weights.step;
    Vector<S> delta[vectors];
    for (int v = 0; v < vectors; ++v) delta[v] = hn::Load(d, deltas.row(r) + lane + v * vector_lanes<S>);
    for (std::size_t j = 0; j < features; ++j) {
      const Vector<S> factor = hn::Set(d, weight[j * weights.step]);
      for (int v = 0; v < vectors; ++v) sum[j][v] = hn::MulAdd(factor, delta[v], sum[j][v]);
    }
  }
  for (std::size_t j = 0; j < features; ++j)
    for (int v = 0; v < vectors; ++v)
      hn::Store(sum[j][v], d, slopes.row(first + j) + lane + v * vector_lanes<S>);
}

template <class S>
void backpropagate_dense(const WeightRows<const S>& weights, const SampleRows<const S>& deltas,
                         const SampleRows<S>& slopes) {
  constexpr int tile = NarrowTile<S>::rows;
  for (int lane = 0; lane < slopes.lanes; lane += lane_group) {
    std::size_t j = 0;
    for (; j + tile <= weights.features; j += tile)
      add_slope_tile<S, tile, group_vectors<S>>(weights, j, deltas, slopes, lane);
    for (; j < weights.features; ++j)
      add_slope_tile<S, 1, group_vectors<S>>(weights, j, deltas, slopes, lane);
  }
}

template <class S>
void backpropagate_sparse(const S* weights, std::span<const std::uint32_t> feature_rows, const S* deltas,
                          const SampleRows<S>& slopes) {
  const Tag<S> d;
  for (std::size_t j = 0; j < feature_rows.size(); ++j) {
    S* const slope = slopes.row(feature_rows[j]);
    const Vector<S> weight = hn::Set(d, weights[j]);
    for (int i = 0; i < slopes.lanes; i += vector_lanes<S>)
      hn::Store(hn::MulAdd(weight, hn::Load(d, deltas + i), hn::Load(d, slope + i)), d, slope + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
