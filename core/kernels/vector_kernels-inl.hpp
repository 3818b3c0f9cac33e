// Compiled once per instruction set.
#if defined(HINDSIGHT_VECTOR_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_VECTOR_KERNELS_INL
#undef HINDSIGHT_VECTOR_KERNELS_INL
#else
#define HINDSIGHT_VECTOR_KERNELS_INL
#endif

#include <algorithm>
#include <limits>
#include <type_traits>

#include <hwy/highway.h>

#include <hindsight/core/vector_kernels.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class S>
void add_scaled(std::span<S> out, const S* in, S scale) {
  const hn::ScalableTag<S> d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  const auto factor = hn::Set(d, scale);
  S* const sum = out.data();
  const std::size_t count = out.size(), whole = count / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, in + i), hn::LoadU(d, sum + i)), d, sum + i);
  for (std::size_t i = whole; i < count; ++i) sum[i] += scale * in[i];
}

/// Whether test(vector) is all true, over rows of numbers. Rows may be the user's: nothing beyond them is
/// read.
template <class S, class Test>
HWY_INLINE bool all_of_rows(const S* first, std::size_t stride, std::size_t rows, std::size_t count,
                            const Test& test) {
  const hn::ScalableTag<S> d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  HWY_ALIGN S rest[lanes] = {};
  auto good = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (std::size_t r = 0; r < rows; ++r, first += stride) {
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) good = hn::And(good, test(hn::LoadU(d, first + i)));
    if (i == count) continue;
    std::copy(first + i, first + count, rest);
    good = hn::And(good, test(hn::Load(d, rest)));
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

/// Each vector of outcomes gives some bits of the word.
inline void pack_outcomes(const Outcome* outcomes, std::size_t stride, std::size_t rows, int lanes,
                          std::uint64_t* bits) {
  const hn::ScalableTag<Outcome> d;
  constexpr int width = static_cast<int>(hn::MaxLanes(d));
  for (std::size_t r = 0; r < rows; ++r, outcomes += stride) {
    std::uint64_t word = 0;
    for (int i = 0; i < lanes; i += width) {
      std::uint8_t some[8] = {};
      hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, outcomes + i), hn::Zero(d)), some);
      for (int b = 0; b < (width + 7) / 8; ++b) word |= static_cast<std::uint64_t>(some[b]) << (i + 8 * b);
    }
    bits[r] = word;
  }
}

#if HWY_TARGET == HWY_SCALAR  // which has no even and odd lanes

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

#if HWY_TARGET == HWY_SCALAR

template <class S>
HWY_INLINE void turn_square(const S* const* row, S* turned) {
  turned[0] = row[0][0];
}

#else

/// Blocks of 128 bits change places: block b of vector q goes to block q of vector b.
template <class D, class V>
HWY_INLINE void turn_blocks(D d, V* vector) {
  constexpr std::size_t blocks = hn::MaxLanes(d) * sizeof(hn::TFromD<D>) / 16;
  if constexpr (blocks == 2) {
    const V low = hn::ConcatLowerLower(d, vector[1], vector[0]);
    vector[1] = hn::ConcatUpperUpper(d, vector[1], vector[0]);
    vector[0] = low;
  } else if constexpr (blocks == 4) {
    V even[2], odd[2];
    for (int half = 0; half < 2; ++half) {
      const V first = vector[2 * half], second = vector[2 * half + 1];
      even[half] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(second), first);
      odd[half] = hn::OddEvenBlocks(second, hn::SwapAdjacentBlocks(first));
    }
    vector[0] = hn::ConcatLowerLower(d, even[1], even[0]);
    vector[1] = hn::ConcatLowerLower(d, odd[1], odd[0]);
    vector[2] = hn::ConcatUpperUpper(d, even[1], even[0]);
    vector[3] = hn::ConcatUpperUpper(d, odd[1], odd[0]);
  }
}

/// As many rows as a vector has lanes, of as many numbers: turned[c·lanes + r] = row[r][c]. First within
/// blocks of 128 bits, then among them.
template <class S>
HWY_INLINE void turn_square(const S* const* row, S* turned) {
  const hn::ScalableTag<S> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t lanes = hn::MaxLanes(d), block = 16 / sizeof(S), blocks = lanes / block;
  V within[block][blocks];
  for (std::size_t q = 0; q < blocks; ++q) {
    const S* const* const first = row + q * block;
    if constexpr (block == 4) {
      const hn::Repartition<double, decltype(d)> pairs;
      const auto row_0 = hn::LoadU(d, first[0]), row_1 = hn::LoadU(d, first[1]),
                 row_2 = hn::LoadU(d, first[2]), row_3 = hn::LoadU(d, first[3]);
      const auto low_01 = hn::BitCast(pairs, hn::InterleaveLower(d, row_0, row_1)),
                 high_01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row_0, row_1)),
                 low_23 = hn::BitCast(pairs, hn::InterleaveLower(d, row_2, row_3)),
                 high_23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row_2, row_3));
      within[0][q] = hn::BitCast(d, hn::InterleaveLower(pairs, low_01, low_23));
      within[1][q] = hn::BitCast(d, hn::InterleaveUpper(pairs, low_01, low_23));
      within[2][q] = hn::BitCast(d, hn::InterleaveLower(pairs, high_01, high_23));
      within[3][q] = hn::BitCast(d, hn::InterleaveUpper(pairs, high_01, high_23));
    } else {
      const auto row_0 = hn::LoadU(d, first[0]), row_1 = hn::LoadU(d, first[1]);
      within[0][q] = hn::InterleaveLower(d, row_0, row_1);
      within[1][q] = hn::InterleaveUpper(d, row_0, row_1);
    }
  }
  for (std::size_t i = 0; i < block; ++i) {
    turn_blocks(d, within[i]);
    for (std::size_t q = 0; q < blocks; ++q) hn::Store(within[i][q], d, turned + (q * block + i) * lanes);
  }
}

#endif

/// Turns rows, of which row(r) is the r-th, into columns: put(row, column, numbers, how many), the numbers
/// being those of neighbouring rows.
template <class S, class Row, class Put>
HWY_INLINE void turn(std::size_t rows, std::size_t columns, const Row& row, const Put& put) {
  constexpr std::size_t lanes = hn::MaxLanes(hn::ScalableTag<S>());
  const std::size_t whole_rows = rows / lanes * lanes, whole_columns = columns / lanes * lanes;
  const auto square_at = [&](std::size_t r, std::size_t c) HWY_ATTR {
    HWY_ALIGN S turned[lanes * lanes];
    const S* square[lanes];
    for (std::size_t i = 0; i < lanes; ++i) square[i] = row(r + i) + c;
    turn_square(square, turned);
    for (std::size_t i = 0; i < lanes; ++i)
      put(r, c + i, turned + i * lanes, std::integral_constant<std::size_t, lanes>());
  };
  // Along the longer side, so that the cache sees few streams that go on for long.
  if (rows < columns)
    for (std::size_t r = 0; r < whole_rows; r += lanes)
      for (std::size_t c = 0; c < whole_columns; c += lanes) square_at(r, c);
  else
    for (std::size_t c = 0; c < whole_columns; c += lanes)
      for (std::size_t r = 0; r < whole_rows; r += lanes) square_at(r, c);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      put(r, c, row(r) + c, std::integral_constant<std::size_t, 1>());
}

template <class S>
void transpose(const S* in, std::size_t in_stride, std::size_t rows, std::size_t columns, S* out,
               std::size_t out_stride) {
  turn<S>(
      rows, columns, [&](std::size_t r) HWY_ATTR { return in + r * in_stride; },
      [&](std::size_t r, std::size_t c, const S* numbers, auto count)
          HWY_ATTR { std::copy_n(numbers, count(), out + c * out_stride + r); });
}

template <class S>
const VectorKernels<S>& vector_table() {
  static constexpr VectorKernels<S> table{.add_scaled = add_scaled<S>,
                                          .all_finite = all_finite<S>,
                                          .any_nan = any_nan<S>,
                                          .transpose = transpose<S>,
                                          .pack_outcomes = pack_outcomes,
                                          .draw_uniforms = draw_uniforms<S>};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
