#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace hindsight {

/// What a random number is for; numbers for different purposes never coincide.
enum class Purpose : std::uint32_t { sampling = 0, initialisation = 1, pattern = 2, topology = 3, rows = 4 };

/// Where a workspace stands in its random stream. The numbers a forward pass draws depend on the seed, on
/// this and on nothing else.
struct StreamPosition {
  std::uint32_t stream = 0;  ///< below 2^24; independent streams of one seed
  std::uint32_t step = 0;    ///< advances by one with each forward pass
  std::uint32_t first_sample =
      0;  ///< number of the batch's first sample: parts of one batch draw as the whole does
  bool operator==(const StreamPosition&) const = default;
};

/// Philox4x32-10: four random words for a key and a counter, with no state in between.
std::array<std::uint32_t, 4> philox(std::uint64_t seed, const std::array<std::uint32_t, 4>& counter);

/// The first counter word: purpose and stream share it.
constexpr std::uint32_t stream_word(Purpose purpose, std::uint32_t stream) {
  return static_cast<std::uint32_t>(purpose) | stream << 8;
}

/// A multiple of 2^-24 in [0, 1), the same number in float and in double. Outcomes rarer than 2^-24 are
/// therefore not drawn with their probability.
template <class S>
constexpr S to_uniform(std::uint32_t word) {
  return static_cast<S>(word >> 8) * static_cast<S>(0x1p-24);
}

/// One uniform per sample for one unit: samples position.first_sample, position.first_sample + 1, …
template <class S>
void draw_uniforms(std::uint64_t seed, const StreamPosition& position, std::uint32_t unit, std::span<S> out);

}  // namespace hindsight
