// Compiled once per instruction set.
#if defined(HINDSIGHT_VECTOR_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_VECTOR_KERNELS_INL
#undef HINDSIGHT_VECTOR_KERNELS_INL
#else
#define HINDSIGHT_VECTOR_KERNELS_INL
#endif

#include <algorithm>
#include <array>
#include <limits>

#include <hwy/highway.h>

#include <hindsight/core/vector_kernels.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class S>
void add_scaled(std::span<S> out, const S* in, S scale) {
  const hn::ScalableTag<S> d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  const auto factor = hn::Set(d, scale);
  std::size_t i = 0;
  for (; i + lanes <= out.size(); i += lanes)
    hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, in + i), hn::LoadU(d, out.data() + i)), d, out.data() + i);
  if (i == out.size()) return;
  const auto inside = hn::FirstN(d, out.size() - i);
  const auto last =
      hn::MulAdd(factor, hn::MaskedLoad(inside, d, in + i), hn::MaskedLoad(inside, d, out.data() + i));
  hn::BlendedStore(last, inside, d, out.data() + i);
}

/// Whether test(vector) is all true, over rows of numbers; what lies beyond a row is taken for zero.
template <class S, class Test>
HWY_INLINE bool all_of_rows(const S* first, std::size_t stride, std::size_t rows, std::size_t count,
                            const Test& test) {
  const hn::ScalableTag<S> d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  const auto inside = hn::FirstN(d, count % lanes);
  auto good = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (std::size_t r = 0; r < rows; ++r, first += stride) {
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) good = hn::And(good, test(hn::LoadU(d, first + i)));
    if (i < count) good = hn::And(good, test(hn::MaskedLoad(inside, d, first + i)));
  }
  return hn::AllTrue(d, good);
}

template <class S>
bool all_finite(const S* first, std::size_t stride, std::size_t rows, std::size_t count) {
  const auto largest = hn::Set(hn::ScalableTag<S>(), std::numeric_limits<S>::max());
  return all_of_rows(first, stride, rows, count,
                     [&](auto values) HWY_ATTR { return hn::Le(hn::Abs(values), largest); });
}

template <class S>
bool any_nan(const S* first, std::size_t stride, std::size_t rows, std::size_t count) {
  return !all_of_rows(first, stride, rows, count,
                      [](auto values) HWY_ATTR { return hn::Eq(values, values); });
}

#if HWY_TARGET == HWY_SCALAR  // which has no lanes to exchange

template <class S>
void transpose(const S* in, std::size_t in_stride, std::size_t rows, std::size_t columns, S* out,
               std::size_t out_stride) {
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < rows; ++r) out[c * out_stride + r] = in[r * in_stride + c];
}

template <class S>
std::size_t draw_uniforms(std::uint64_t seed, const StreamPosition& position,
                          std::span<const std::uint32_t> units, std::size_t samples, S* out) {
  const std::uint32_t first_word = stream_word(Purpose::sampling, position.stream);
  const auto quartets = static_cast<std::uint32_t>(uniforms_per_unit(position, samples) / 4);
  for (const std::uint32_t unit : units)
    for (std::uint32_t q = 0; q < quartets; ++q)
      for (const std::uint32_t word :
           philox(seed, {first_word, position.step, unit, position.first_sample / 4 + q}))
        *out++ = to_uniform<S>(word);
  return position.first_sample % 4;
}

#else

/// Four by four, by exchanging halves twice.
HWY_INLINE void transpose_block(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto row_0 = hn::LoadU(d, in), row_1 = hn::LoadU(d, in + in_stride),
             row_2 = hn::LoadU(d, in + 2 * in_stride), row_3 = hn::LoadU(d, in + 3 * in_stride);
  const auto low_01 = hn::BitCast(pairs, hn::InterleaveLower(d, row_0, row_1)),
             high_01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row_0, row_1)),
             low_23 = hn::BitCast(pairs, hn::InterleaveLower(d, row_2, row_3)),
             high_23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row_2, row_3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low_01, low_23)), d, out);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low_01, low_23)), d, out + out_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high_01, high_23)), d, out + 2 * out_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high_01, high_23)), d, out + 3 * out_stride);
}

HWY_INLINE void transpose_block(const double* in, std::size_t in_stride, double* out,
                                std::size_t out_stride) {
  const hn::FixedTag<double, 2> d;
  for (std::size_t r = 0; r < 4; r += 2)
    for (std::size_t c = 0; c < 4; c += 2) {
      const auto row_0 = hn::LoadU(d, in + r * in_stride + c),
                 row_1 = hn::LoadU(d, in + (r + 1) * in_stride + c);
      hn::StoreU(hn::InterleaveLower(d, row_0, row_1), d, out + c * out_stride + r);
      hn::StoreU(hn::InterleaveUpper(d, row_0, row_1), d, out + (c + 1) * out_stride + r);
    }
}

template <class S>
void transpose(const S* in, std::size_t in_stride, std::size_t rows, std::size_t columns, S* out,
               std::size_t out_stride) {
  const std::size_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (std::size_t c = 0; c < whole_columns; c += 4)
    for (std::size_t r = 0; r < whole_rows; r += 4)
      transpose_block(in + r * in_stride + c, in_stride, out + c * out_stride + r, out_stride);
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r)
      out[c * out_stride + r] = in[r * in_stride + c];
}

/// Philox4x32-10 with consecutive counters in the lanes: Random123 has it one counter at a time.
template <class D>
struct PhiloxLanes {
  using Words = hn::Vec<D>;
  Words word[4];

  /// High and low halves of the products with a constant.
  static HWY_INLINE void multiply(Words value, Words constant, Words& high, Words& low) {
    const D d;
    const hn::Repartition<std::uint64_t, D> wide;
    const auto even = hn::MulEven(value, constant);
    const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, value))), constant);
    low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
    high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
  }

  HWY_INLINE void scramble(std::uint64_t seed) {
    const D d;
    auto key_0 = static_cast<std::uint32_t>(seed), key_1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round, key_0 += 0x9E3779B9U, key_1 += 0xBB67AE85U) {
      Words high_0, low_0, high_2, low_2;
      multiply(word[0], hn::Set(d, 0xD2511F53U), high_0, low_0);
      multiply(word[2], hn::Set(d, 0xCD9E8D57U), high_2, low_2);
      word[0] = hn::Xor(hn::Xor(high_2, word[1]), hn::Set(d, key_0));
      word[2] = hn::Xor(hn::Xor(high_0, word[3]), hn::Set(d, key_1));
      word[1] = low_2;
      word[3] = low_0;
    }
  }
};

template <class S>
std::size_t draw_uniforms(std::uint64_t seed, const StreamPosition& position,
                          std::span<const std::uint32_t> units, std::size_t samples, S* out) {
  using D = hn::ScalableTag<std::uint32_t>;
  const D d;
  const hn::Rebind<float, D> d_float;
  const hn::Rebind<std::int32_t, D> d_int;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  HWY_ALIGN std::uint32_t unit[lanes], quartet[lanes];
  HWY_ALIGN float uniforms[4 * lanes];
  const auto quartets = static_cast<std::uint32_t>(uniforms_per_unit(position, samples) / 4);
  const std::size_t total = units.size() * quartets;
  std::size_t next_unit = 0;
  std::uint32_t next_quartet = 0;
  for (std::size_t first = 0; first < total; first += lanes) {
    for (std::size_t i = 0; i < lanes; ++i) {
      unit[i] = units[std::min(next_unit, units.size() - 1)];
      quartet[i] = position.first_sample / 4 + next_quartet;
      if (++next_quartet == quartets) {
        next_quartet = 0;
        ++next_unit;
      }
    }
    PhiloxLanes<D> philox{{hn::Set(d, stream_word(Purpose::sampling, position.stream)),
                           hn::Set(d, position.step), hn::Load(d, unit), hn::Load(d, quartet)}};
    philox.scramble(seed);
    hn::Vec<decltype(d_float)> uniform[4];
    for (int w = 0; w < 4; ++w) {
      const auto bits = hn::BitCast(d_int, hn::ShiftRight<8>(philox.word[w]));
      uniform[w] = hn::Mul(hn::ConvertTo(d_float, bits), hn::Set(d_float, 0x1p-24F));
    }
    hn::StoreInterleaved4(uniform[0], uniform[1], uniform[2], uniform[3], d_float, uniforms);
    const std::size_t count = std::min(lanes, total - first);
    std::copy(uniforms, uniforms + 4 * count, out + 4 * first);
  }
  return position.first_sample % 4;
}

#endif

template <class S>
const VectorKernels<S>& vector_table() {
  static constexpr VectorKernels<S> table{.add_scaled = add_scaled<S>,
                                          .all_finite = all_finite<S>,
                                          .any_nan = any_nan<S>,
                                          .transpose = transpose<S>,
                                          .draw_uniforms = draw_uniforms<S>};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight
HWY_AFTER_NAMESPACE();

#endif
