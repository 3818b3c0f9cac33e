// Products of weights and features: logits forward, gradients backward. Compiled once per instruction set.
#if defined(HINDSIGHT_LINEAR_PRODUCTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_LINEAR_PRODUCTS_INL
#undef HINDSIGHT_LINEAR_PRODUCTS_INL
#else
#define HINDSIGHT_LINEAR_PRODUCTS_INL
#endif

#include <algorithm>
#include <type_traits>

#include <hwy/highway.h>

#include <hindsight/core/vector_kernels-inl.hpp>
#include <hindsight/nodes/linear_kernels.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class S>
using Tag = hn::ScalableTag<S>;
template <class S>
using Vector = hn::Vec<Tag<S>>;
template <class S>
constexpr int vector_lanes = static_cast<int>(hn::MaxLanes(Tag<S>()));
/// Vectors in one group of lanes.
template <class S>
constexpr int group_vectors = lane_group / vector_lanes<S>;

/// A tile of logits, `rows` rows by `vectors` vectors of samples: enough independent sums to hide the latency
/// of one, few enough to stay in registers beside the features and the addresses of the rows.
template <int tile_rows, int tile_vectors>
struct Tile {
  static constexpr int rows = tile_rows, vectors = tile_vectors;
  using Half = Tile<tile_rows / 2, tile_vectors>;
};
inline constexpr bool many_registers = HWY_TARGET <= HWY_AVX3;
/// One group of lanes.
template <class S>
using NarrowTile = Tile<std::max(1, (many_registers ? 8 : 12 / group_vectors<S>)), group_vectors<S>>;
/// As many lanes as pay.
template <class S>
using WideTile = std::conditional_t<many_registers, Tile<6, 4>, NarrowTile<S>>;

/// Features are read in stretches that fit the first-level cache.
inline constexpr std::size_t feature_stretch = 256;

/// Which features are not all zero in one group of lanes, and those features side by side.
template <class S>
struct Packed {
  const S* features;
  std::size_t stride;
  const std::int32_t* columns;  ///< none: all of them, in order
  std::size_t count;
};

template <class S>
Packed<S> pack_nonzero(const SampleRows<const S>& features, std::size_t first, std::size_t count, int lane,
                       S* scratch) {
  const Tag<S> d;
  auto* const columns = reinterpret_cast<std::int32_t*>(scratch);
  S* const packed = scratch + feature_stretch;
  std::size_t kept = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const S* const row = features.row(first + j) + lane;
    S* const copy = packed + kept * lane_group;
    Vector<S> any = hn::Zero(d);
    for (int i = 0; i < lane_group; i += vector_lanes<S>) {
      const Vector<S> values = hn::Load(d, row + i);
      hn::Store(values, d, copy + i);
      any = hn::Or(any, hn::Abs(values));
    }
    columns[kept] = static_cast<std::int32_t>(j);
    kept += hn::AllTrue(d, hn::Eq(any, hn::Zero(d))) ? 0 : 1;
  }
  return {packed, lane_group, columns, kept};
}

template <class S, class T, bool listed>
HWY_INLINE void add_tile(const S* const* weights, std::size_t step, const Packed<S>& from, S* const* logits) {
  const Tag<S> d;
  Vector<S> sum[T::rows][T::vectors];
  for (int r = 0; r < T::rows; ++r)
    for (int v = 0; v < T::vectors; ++v) sum[r][v] = hn::Load(d, logits[r] + v * vector_lanes<S>);
  for (std::size_t k = 0; k < from.count; ++k) {
    const std::size_t column = (listed ? static_cast<std::size_t>(from.columns[k]) : k) * step;
    const S* const feature = from.features + k * from.stride;
    Vector<S> values[T::vectors];
    for (int v = 0; v < T::vectors; ++v) values[v] = hn::Load(d, feature + v * vector_lanes<S>);
    for (int r = 0; r < T::rows; ++r) {
      const Vector<S> weight = hn::Set(d, weights[r][column]);
      for (int v = 0; v < T::vectors; ++v) sum[r][v] = hn::MulAdd(weight, values[v], sum[r][v]);
    }
  }
  for (int r = 0; r < T::rows; ++r)
    for (int v = 0; v < T::vectors; ++v) hn::Store(sum[r][v], d, logits[r] + v * vector_lanes<S>);
}

/// Tiles as long as the rows last, then tiles of half as many rows.
template <class S, class T>
void add_rows(const WeightRows<const S>& weights, std::size_t row, std::size_t first_feature,
              const Packed<S>& from, const SampleRows<S>& logits, const std::size_t* logit_rows, int lane) {
  const std::size_t last = weights.begin.size();
  for (; row + T::rows <= last; row += T::rows) {
    const S* weight[T::rows];
    S* logit[T::rows];
    for (std::size_t r = 0; r < T::rows; ++r) {
      weight[r] = weights.first + weights.begin[row + r] + first_feature * weights.step;
      logit[r] = logits.row(logit_rows[row + r]) + lane;
    }
    if (from.columns)
      add_tile<S, T, true>(weight, weights.step, from, logit);
    else if (weights.step == 1)
      add_tile<S, T, false>(weight, 1, from, logit);
    else
      add_tile<S, T, false>(weight, weights.step, from, logit);
  }
  if constexpr (T::rows > 1)
    if (row < last)
      add_rows<S, typename T::Half>(weights, row, first_feature, from, logits, logit_rows, lane);
}

template <class S>
void add_dense(const WeightRows<const S>& weights, const SampleRows<const S>& features,
               const SampleRows<S>& logits, const std::size_t* rows, S* scratch) {
  constexpr int wide = WideTile<S>::vectors * vector_lanes<S>;
  for (std::size_t first = 0; first < weights.features; first += feature_stretch) {
    const std::size_t count = std::min(feature_stretch, weights.features - first);
    int lane = 0;
    // Narrow groups find more features that are all zero.
    if (!weights.skip_zeros)
      for (; lane + wide <= features.lanes; lane += wide)
        add_rows<S, WideTile<S>>(weights, 0, first,
                                 {features.row(first) + lane, features.stride, nullptr, count}, logits, rows,
                                 lane);
    for (; lane < features.lanes; lane += lane_group) {
      const Packed<S> from = weights.skip_zeros
                                 ? pack_nonzero(features, first, count, lane, scratch)
                                 : Packed<S>{features.row(first) + lane, features.stride, nullptr, count};
      add_rows<S, NarrowTile<S>>(weights, 0, first, from, logits, rows, lane);
    }
  }
}

template <class S, int vectors>
HWY_INLINE void add_sparse_lanes(const S* weights, std::span<const std::uint32_t> feature_rows,
                                 const SampleRows<const S>& features, int lane, S* logits) {
  const Tag<S> d;
  Vector<S> sum[vectors];
  for (int v = 0; v < vectors; ++v) sum[v] = hn::Load(d, logits + lane + v * vector_lanes<S>);
  for (std::size_t j = 0; j < feature_rows.size(); ++j) {
    const S* const feature = features.row(feature_rows[j]) + lane;
    const Vector<S> weight = hn::Set(d, weights[j]);
    for (int v = 0; v < vectors; ++v)
      sum[v] = hn::MulAdd(weight, hn::Load(d, feature + v * vector_lanes<S>), sum[v]);
  }
  for (int v = 0; v < vectors; ++v) hn::Store(sum[v], d, logits + lane + v * vector_lanes<S>);
}

/// Calls work(lane, vectors) until all lanes are worked: `most` vectors at a time, then group by group. The
/// number of vectors is a std::integral_constant.
template <class S, int most, class Work>
HWY_INLINE void for_lane_stretches(int lanes, const Work& work) {
  constexpr int wide = std::max(most, group_vectors<S>);
  int lane = 0;
  for (; lane + wide * vector_lanes<S> <= lanes; lane += wide * vector_lanes<S>)
    work(lane, std::integral_constant<int, wide>());
  for (; lane < lanes; lane += lane_group) work(lane, std::integral_constant<int, group_vectors<S>>());
}

template <class S>
void add_sparse(const S* weights, std::span<const std::uint32_t> feature_rows,
                const SampleRows<const S>& features, S* logits) {
  for_lane_stretches<S, 8>(features.lanes, [&](int lane, auto vectors) HWY_ATTR {
    add_sparse_lanes<S, decltype(vectors)::value>(weights, feature_rows, features, lane, logits);
  });
}

/// Features whose gradients are worked together.
template <class S>
constexpr int tile_features = 2 * vector_lanes<S>;

/// Adds the first `count` numbers to entries that are `step` apart, or puts them there.
template <class S>
HWY_INLINE void add_to_gradient(Vector<S> sum, S* gradient, std::size_t step, int count, bool starts) {
  const Tag<S> d;
  if (step == 1 && count >= vector_lanes<S>) {
    hn::StoreU(starts ? sum : hn::Add(hn::LoadU(d, gradient), sum), d, gradient);
    return;
  }
  HWY_ALIGN S each[vector_lanes<S>];
  hn::Store(sum, d, each);
  for (int j = 0; j < std::min(count, vector_lanes<S>); ++j) {
    S& entry = gradient[static_cast<std::size_t>(j) * step];
    entry = starts ? each[j] : entry + each[j];
  }
}

template <class S, int rows, bool listed>
HWY_INLINE void accumulate_tile(S* const* gradient, std::size_t step, const S* const* deltas,
                                const S* by_sample, const std::int32_t* samples, int count, int features,
                                bool starts) {
  const Tag<S> d;
  Vector<S> sum[rows][2];
  for (int r = 0; r < rows; ++r) sum[r][0] = sum[r][1] = hn::Zero(d);
  for (int k = 0; k < count; ++k) {
    const int sample = listed ? samples[k] : k;
    const S* const values = by_sample + sample * tile_features<S>;
    const Vector<S> first = hn::Load(d, values), second = hn::Load(d, values + vector_lanes<S>);
    for (int r = 0; r < rows; ++r) {
      const Vector<S> delta = hn::Set(d, deltas[r][sample]);
      sum[r][0] = hn::MulAdd(delta, first, sum[r][0]);
      sum[r][1] = hn::MulAdd(delta, second, sum[r][1]);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < 2; ++v)
      add_to_gradient(sum[r][v], gradient[r] + static_cast<std::size_t>(v * vector_lanes<S>) * step, step,
                      features - v * vector_lanes<S>, starts);
}

template <class S, int rows>
void accumulate_rows(const WeightRows<S>& gradient, std::size_t row, std::size_t first_feature, int features,
                     const SampleRows<const S>& deltas, const S* by_sample, const std::int32_t* samples,
                     int count, bool starts) {
  const std::size_t last = gradient.begin.size();
  for (; row + rows <= last; row += rows) {
    S* out[rows];
    const S* delta[rows];
    for (std::size_t r = 0; r < rows; ++r) {
      out[r] = gradient.first + gradient.begin[row + r] + first_feature * gradient.step;
      delta[r] = deltas.row(row + r);
    }
    if (samples)
      accumulate_tile<S, rows, true>(out, gradient.step, delta, by_sample, samples, count, features, starts);
    else
      accumulate_tile<S, rows, false>(out, gradient.step, delta, by_sample, nullptr, count, features, starts);
  }
  if constexpr (rows > 1)
    if (row < last)
      accumulate_rows<S, rows / 2>(gradient, row, first_feature, features, deltas, by_sample, samples, count,
                                   starts);
}

template <class S>
int list_nonzero(const S* by_sample, int lanes, std::int32_t* samples) {
  const Tag<S> d;
  int kept = 0;
  for (int i = 0; i < lanes; ++i) {
    const S* const values = by_sample + i * tile_features<S>;
    const auto any = hn::Or(hn::Abs(hn::Load(d, values)), hn::Abs(hn::Load(d, values + vector_lanes<S>)));
    samples[kept] = i;
    kept += hn::AllTrue(d, hn::Eq(any, hn::Zero(d))) ? 0 : 1;
  }
  return kept;
}

template <class S>
void accumulate_dense(const WeightRows<S>& gradient, const SampleRows<const S>& deltas,
                      const SampleRows<const S>& features, bool starts, S* scratch) {
  constexpr int width = tile_features<S>;
  auto* const samples = reinterpret_cast<std::int32_t*>(scratch);
  S* const by_sample = scratch + (features.lanes + lane_group - 1) / lane_group * lane_group;
  for (std::size_t first = 0; first < gradient.features; first += width) {
    const int count = static_cast<int>(std::min<std::size_t>(width, gradient.features - first));
    transpose(features.row(first), features.stride, static_cast<std::size_t>(count),
              static_cast<std::size_t>(features.lanes), by_sample, width);
    for (int j = count; j < width; ++j)
      for (int i = 0; i < features.lanes; ++i) by_sample[i * width + j] = 0;
    const int kept = gradient.skip_zeros ? list_nonzero(by_sample, features.lanes, samples) : features.lanes;
    accumulate_rows<S, HWY_TARGET <= HWY_AVX3 ? 8 : 4>(gradient, 0, first, count, deltas, by_sample,
                                                       gradient.skip_zeros ? samples : nullptr, kept, starts);
  }
}

template <class S>
S sum(const S* values, int lanes) {
  const Tag<S> d;
  Vector<S> partial[group_vectors<S>];
  for (int v = 0; v < group_vectors<S>; ++v) partial[v] = hn::Zero(d);
  for (int i = 0; i < lanes; i += lane_group)
    for (int v = 0; v < group_vectors<S>; ++v)
      partial[v] = hn::Add(partial[v], hn::Load(d, values + i + v * vector_lanes<S>));
  for (int v = 1; v < group_vectors<S>; ++v) partial[0] = hn::Add(partial[0], partial[v]);
  return hn::GetLane(hn::SumOfLanes(d, partial[0]));
}

template <class S>
void accumulate_sparse(S* gradient, std::span<const std::uint32_t> feature_rows,
                       const SampleRows<const S>& features, const S* deltas, bool starts) {
  const Tag<S> d;
  for (std::size_t j = 0; j < feature_rows.size(); ++j) {
    const S* const feature = features.row(feature_rows[j]);
    Vector<S> even = hn::Zero(d), odd = hn::Zero(d);
    int i = 0;
    for (; i + 2 * vector_lanes<S> <= features.lanes; i += 2 * vector_lanes<S>) {
      even = hn::MulAdd(hn::Load(d, deltas + i), hn::Load(d, feature + i), even);
      odd = hn::MulAdd(hn::Load(d, deltas + i + vector_lanes<S>), hn::Load(d, feature + i + vector_lanes<S>),
                       odd);
    }
    if (i < features.lanes) even = hn::MulAdd(hn::Load(d, deltas + i), hn::Load(d, feature + i), even);
    const S sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
    gradient[j] = starts ? sum : gradient[j] + sum;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight
HWY_AFTER_NAMESPACE();

#endif
