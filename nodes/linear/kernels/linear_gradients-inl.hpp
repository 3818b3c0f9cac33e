// Products of derivatives and features, the gradients. Compiled once per instruction set.
#if defined(HINDSIGHT_LINEAR_GRADIENTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_LINEAR_GRADIENTS_INL
#undef HINDSIGHT_LINEAR_GRADIENTS_INL
#else
#define HINDSIGHT_LINEAR_GRADIENTS_INL
#endif

#include <hindsight/core/vector_kernels-inl.hpp>
#include <hindsight/nodes/linear_products-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

/// A tile of features, turned from rows of samples to rows of features, so that the gradient of a tile is a
/// sum of such rows.
template <class S>
struct TurnedFeatures {
  const S* by_sample = nullptr;
  const std::int32_t* samples = nullptr;  ///< those that are not all zero; none: all of them
  int sample_count = 0;
  std::size_t first_feature = 0;
  int features = 0;
};

template <class S, int rows, bool listed>
HWY_INLINE void accumulate_tile(S* const* gradient, std::size_t step, const S* const* deltas,
                                const TurnedFeatures<S>& from, bool starts) {
  const Tag<S> d;
  Vector<S> sum[rows][2];
  for (int r = 0; r < rows; ++r) sum[r][0] = sum[r][1] = hn::Zero(d);
  for (int k = 0; k < from.sample_count; ++k) {
    const int sample = listed ? from.samples[k] : k;
    const S* const values = from.by_sample + sample * tile_features<S>;
    const Vector<S> first = hn::Load(d, values), second = hn::Load(d, values + vector_lanes<S>);
    for (int r = 0; r < rows; ++r) {
      const Vector<S> delta = hn::Set(d, deltas[r][sample]);
      sum[r][0] = hn::MulAdd(delta, first, sum[r][0]);
      sum[r][1] = hn::MulAdd(delta, second, sum[r][1]);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < 2; ++v) {
      const auto feature = from.first_feature + static_cast<std::size_t>(v * vector_lanes<S>);
      add_to_gradient(sum[r][v], gradient[r] + feature * step, step, from.features - v * vector_lanes<S>,
                      starts);
    }
}

/// Row after row through all tiles, so that the gradient is written in the order in which it lies.
template <class S, int rows>
void accumulate_rows(const WeightRows<S>& gradient, std::size_t row, const SampleRows<const S>& deltas,
                     std::span<const TurnedFeatures<S>> tiles, bool starts) {
  const std::size_t last = gradient.begin.size();
  for (; row + rows <= last; row += rows) {
    S* out[rows];
    const S* delta[rows];
    for (std::size_t r = 0; r < rows; ++r) {
      out[r] = gradient.first + gradient.begin[row + r];
      delta[r] = deltas.row(row + r);
    }
    for (const TurnedFeatures<S>& tile : tiles)
      if (tile.samples)
        accumulate_tile<S, rows, true>(out, gradient.step, delta, tile, starts);
      else
        accumulate_tile<S, rows, false>(out, gradient.step, delta, tile, starts);
  }
  if constexpr (rows > 1)
    if (row < last) accumulate_rows<S, rows / 2>(gradient, row, deltas, tiles, starts);
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
TurnedFeatures<S> turn_tile(const SampleRows<const S>& features, std::size_t first, std::size_t count,
                            bool skip_zeros, S* by_sample, std::int32_t* samples) {
  constexpr std::size_t width = tile_features<S>;
  const auto lanes = static_cast<std::size_t>(features.lanes);
  transpose(features.row(first), features.stride, count, lanes, by_sample, width);
  for (std::size_t j = count; j < width; ++j)
    for (std::size_t i = 0; i < lanes; ++i) by_sample[i * width + j] = 0;
  TurnedFeatures<S> turned{by_sample, nullptr, features.lanes, first, static_cast<int>(count)};
  if (skip_zeros) {
    turned.samples = samples;
    turned.sample_count = list_nonzero(by_sample, features.lanes, samples);
  }
  return turned;
}

template <class S>
void accumulate_dense(const WeightRows<S>& gradient, const SampleRows<const S>& deltas,
                      const SampleRows<const S>& features, bool starts, S* scratch) {
  constexpr std::size_t width = tile_features<S>, tiles_at_once = feature_stretch / width;
  const auto lanes = static_cast<std::size_t>(features.lanes);
  auto* const samples = reinterpret_cast<std::int32_t*>(scratch + feature_stretch * lanes);
  for (std::size_t stretch = 0; stretch < gradient.features; stretch += feature_stretch) {
    TurnedFeatures<S> tiles[tiles_at_once];
    std::size_t count = 0;
    for (; count < tiles_at_once && stretch + count * width < gradient.features; ++count) {
      const std::size_t first = stretch + count * width;
      tiles[count] = turn_tile(features, first, std::min(width, gradient.features - first),
                               gradient.skip_zeros, scratch + count * width * lanes, samples + count * lanes);
    }
    accumulate_rows<S, many_registers ? 8 : 4>(gradient, 0, deltas,
                                               std::span<const TurnedFeatures<S>>(tiles, count), starts);
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
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
