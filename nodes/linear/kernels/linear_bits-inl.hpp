// Sparse products with the features of binary units, which are read as bits: one word per unit and chunk
// instead of a row of numbers, so that the outcomes of a large graph stay in the caches. Compiled once per
// instruction set.
#if defined(HINDSIGHT_LINEAR_BITS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_LINEAR_BITS_INL
#undef HINDSIGHT_LINEAR_BITS_INL
#else
#define HINDSIGHT_LINEAR_BITS_INL
#endif

#include <bit>

#include <hindsight/nodes/linear_gradients-inl.hpp>
#include <hindsight/nodes/linear_products-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Bits are worked in words as wide as the numbers they stand beside.
template <class S>
using Word = hn::TFromD<hn::RebindToUnsigned<Tag<S>>>;
template <class S>
constexpr int word_bits = 8 * static_cast<int>(sizeof(S));

#if HWY_TARGET <= HWY_AVX3

/// The weight in the lanes whose bit, counted from bit `lane` of the word, is set; zero in the others.
template <class S>
HWY_INLINE Vector<S> where_set(std::uint64_t word, int lane, Vector<S> weight) {
  const std::uint64_t bits = word >> lane;
  return hn::IfThenElseZero(hn::LoadMaskBits(Tag<S>(), reinterpret_cast<const std::uint8_t*>(&bits)), weight);
}

#else

/// A vector of masks for each pattern of as many bits as a vector has lanes.
template <class S>
struct MaskTable {
  alignas(64) Word<S> masks[std::size_t(1) << vector_lanes<S>][vector_lanes<S>] = {};

  constexpr MaskTable() {
    for (std::size_t bits = 0; bits < std::size(masks); ++bits)
      for (std::size_t lane = 0; lane < vector_lanes<S>; ++lane)
        masks[bits][lane] = (bits >> lane & 1) != 0 ? ~Word<S>(0) : Word<S>(0);
  }
};
template <class S>
inline constexpr MaskTable<S> mask_table;

/// Looked up, because making a mask from bits would take three instructions.
template <class S>
HWY_INLINE Vector<S> where_set(std::uint64_t word, int lane, Vector<S> weight) {
  const hn::RebindToUnsigned<Tag<S>> unsigned_lanes;
  const Word<S>* const mask = mask_table<S>.masks[word >> lane & (std::size(mask_table<S>.masks) - 1)];
  return hn::And(hn::BitCast(Tag<S>(), hn::Load(unsigned_lanes, mask)), weight);
}

#endif

/// In an order that follows from the count alone, so that no cut of a batch changes it.
template <class S>
HWY_INLINE S sum_of(const S* values, std::size_t count) {
  const Tag<S> d;
  auto partial = hn::Zero(d);
  std::size_t i = 0;
  for (; i + vector_lanes<S> <= count; i += vector_lanes<S>)
    partial = hn::Add(partial, hn::LoadU(d, values + i));
  S total = hn::GetLane(hn::SumOfLanes(d, partial));
  for (; i < count; ++i) total += values[i];
  return total;
}

template <class S, int vectors>
HWY_INLINE void add_bits_lanes(const S* weights, const BinaryUnits<S>& units, S lowest, int first_lane,
                               S* logits) {
  const Tag<S> d;
  // Known to the compiler, it leaves little to do per word.
  const int lane = vectors * vector_lanes<S> == chunk_samples ? 0 : first_lane;
  Vector<S> sum[vectors];
  for (int v = 0; v < vectors; ++v) sum[v] = hn::Zero(d);
  for (std::size_t j = 0; j < units.rows.size(); ++j) {
    const std::uint64_t word = units.bits[units.rows[j]];
    const Vector<S> weight = hn::Set(d, weights[j]);
    for (int v = 0; v < vectors; ++v)
      sum[v] = hn::Add(sum[v], where_set<S>(word, lane + v * vector_lanes<S>, weight));
  }
  const Vector<S> gap = hn::Set(d, units.high - units.low), low = hn::Set(d, lowest);
  for (int v = 0; v < vectors; ++v) {
    S* const logit = logits + lane + v * vector_lanes<S>;
    hn::Store(hn::Add(hn::Load(d, logit), hn::MulAdd(gap, sum[v], low)), d, logit);
  }
}

/// Σ w·x = low·Σ w + (high - low)·Σ w over the units whose bit is set.
template <class S>
void add_bits(const S* weights, const BinaryUnits<S>& units, int lanes, S* logits) {
  const S lowest = units.low * sum_of(weights, units.rows.size());
  for_lane_stretches<S, chunk_vectors<S>>(lanes, [&](int lane, auto vectors) HWY_ATTR {
    add_bits_lanes<S, decltype(vectors)::value>(weights, units, lowest, lane, logits);
  });
}

/// Samples whose derivatives are summed by one look-up: a vector holds the sums of all their subsets.
template <class S>
constexpr int subset_bits = std::bit_width(static_cast<unsigned>(vector_lanes<S>)) - 1;
/// A word is cut into subsets; the last may have fewer bits.
template <class S>
constexpr int subsets_per_word = (word_bits<S> + subset_bits<S> - 1) / std::max(1, subset_bits<S>);
static_assert(chunk_samples == 64, "one word of bits per unit and chunk");
static_assert(64 / word_bits<float> * subsets_per_word<float> * vector_lanes<float> <= feature_stretch);

#if HWY_TARGET == HWY_SCALAR  // where a vector has no room for subsets

template <class S>
void sum_subsets(const S* deltas, int lanes, S* sums) {
  std::copy_n(deltas, lanes, sums);
}

template <class S>
void accumulate_bits(S* gradient, const BinaryUnits<S>& units, const S* sums, S total, int lanes,
                     bool starts) {
  for (std::size_t j = 0; j < units.rows.size(); ++j) {
    const std::uint64_t word = units.bits[units.rows[j]];
    S sum = 0;
    for (int i = 0; i < lanes; ++i) sum += (word >> i & 1) != 0 ? sums[i] : S(0);
    const S share = units.low * total + (units.high - units.low) * sum;
    gradient[j] = starts ? share : gradient[j] + share;
  }
}

#else

/// Word after word and subset after subset: a vector whose lane i is the sum of the derivatives chosen by the
/// bits of i.
template <class S>
void sum_subsets(const S* deltas, int lanes, S* sums) {
  const Tag<S> d;
  const hn::RebindToUnsigned<Tag<S>> unsigned_lanes;
  const auto chosen = hn::Iota(unsigned_lanes, 0);
  for (int word = 0; word < lanes; word += word_bits<S>)
    for (int bit = 0; bit < word_bits<S>; bit += subset_bits<S>, sums += vector_lanes<S>) {
      auto sum = hn::Zero(d);
      for (int b = 0; b < subset_bits<S> && bit + b < word_bits<S> && word + bit + b < lanes; ++b) {
        const auto has = hn::RebindMask(d, hn::TestBit(chosen, hn::Set(unsigned_lanes, Word<S>(1) << b)));
        sum = hn::Add(sum, hn::IfThenElseZero(has, hn::Set(d, deltas[word + bit + b])));
      }
      hn::Store(sum, d, sums);
    }
}

/// As many weights as a vector has lanes at a time: each looks up the sums of its own subsets.
template <class S>
void accumulate_bits(S* gradient, const BinaryUnits<S>& units, const S* sums, S total, int lanes,
                     bool starts) {
  const Tag<S> d;
  const hn::RebindToUnsigned<Tag<S>> unsigned_lanes;
  constexpr std::size_t at_once = 256, most_words = chunk_samples / word_bits<S>;
  const std::size_t words = (static_cast<std::size_t>(lanes) + word_bits<S> - 1) / word_bits<S>;
  const auto subset = hn::Set(unsigned_lanes, static_cast<Word<S>>(vector_lanes<S> - 1));
  const auto lowest = hn::Set(d, units.low * total), gap = hn::Set(d, units.high - units.low);
  HWY_ALIGN Word<S> gathered[most_words * at_once];  // long before they are loaded as vectors
  for (std::size_t first = 0; first < units.rows.size(); first += at_once) {
    const std::size_t count = std::min(at_once, units.rows.size() - first);
    for (std::size_t j = 0; j < padded(count); ++j) {
      const std::uint64_t word = j < count ? units.bits[units.rows[first + j]] : 0;
      for (std::size_t w = 0; w < words; ++w)
        gathered[w * at_once + j] = static_cast<Word<S>>(word >> (w * word_bits<S>));
    }
    for (std::size_t j = 0; j < count; j += vector_lanes<S>) {
      auto sum = hn::Zero(d);
      const S* subset_sums = sums;
      for (std::size_t w = 0; w < words; ++w) {
        auto bits = hn::Load(unsigned_lanes, gathered + w * at_once + j);
        for (int s = 0; s < subsets_per_word<S>; ++s, subset_sums += vector_lanes<S>) {
          const auto index = hn::IndicesFromVec(d, hn::And(bits, subset));
          sum = hn::Add(sum, hn::TableLookupLanes(hn::Load(d, subset_sums), index));
          bits = hn::ShiftRight<subset_bits<S>>(bits);
        }
      }
      add_to_gradient(hn::MulAdd(gap, sum, lowest), gradient + first + j, 1, static_cast<int>(count - j),
                      starts);
    }
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
