// Products of weights and features, the logits. Compiled once per instruction set.
#if defined(HINDSIGHT_LINEAR_PRODUCTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_LINEAR_PRODUCTS_INL
#undef HINDSIGHT_LINEAR_PRODUCTS_INL
#else
#define HINDSIGHT_LINEAR_PRODUCTS_INL
#endif

#include <algorithm>
#include <type_traits>

#include <hwy/highway.h>

#include <hindsight/nodes/linear_kernels.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
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

/// Vectors in a chunk, or as many as leave registers to work with.
template <class S>
constexpr int chunk_vectors = std::min(8, chunk_samples / vector_lanes<S>);

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
  for_lane_stretches<S, chunk_vectors<S>>(features.lanes, [&](int lane, auto vectors) HWY_ATTR {
    add_sparse_lanes<S, decltype(vectors)::value>(weights, feature_rows, features, lane, logits);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
