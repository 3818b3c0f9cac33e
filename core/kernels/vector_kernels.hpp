#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <hindsight/core/ids.hpp>
#include <hindsight/core/instruction_set.hpp>
#include <hindsight/core/random.hpp>

namespace hindsight::internal {

/// Loops over plain arrays that every folder needs. One table of them per instruction set.
template <class S>
struct VectorKernels {
  /// out += scale·in
  void (*add_scaled)(std::span<S> out, const S* in, S scale);
  /// Of `rows` rows, the first `count` numbers each.
  bool (*all_finite)(const S* first, std::size_t stride, std::size_t rows, std::size_t count);
  bool (*any_nan)(const S* first, std::size_t stride, std::size_t rows, std::size_t count);
  /// out[c·out_stride + r] = in[r·in_stride + c]
  void (*transpose)(const S* in, std::size_t in_stride, std::size_t rows, std::size_t columns, S* out,
                    std::size_t out_stride);
  /// Bit i of bits[r]: outcomes[r·stride + i] is not 0, for i below `lanes`, a multiple of lane_padding.
  void (*pack_outcomes)(const Outcome* outcomes, std::size_t stride, std::size_t rows, int lanes,
                        std::uint64_t* bits);
  /// One uniform per unit and sample. They are drawn by four: what belongs to the first unit begins at the
  /// number returned, and units are uniforms_per_unit() apart.
  std::size_t (*draw_uniforms)(std::uint64_t seed, const StreamPosition& position,
                               std::span<const std::uint32_t> units, std::size_t samples, S* out);
};

/// From one unit to the next in what draw_uniforms makes; at most samples + 6.
inline std::size_t uniforms_per_unit(const StreamPosition& position, std::size_t samples) {
  return (position.first_sample % 4 + samples + 3) / 4 * 4;
}

template <class S>
const VectorKernels<S>& vector_kernels(InstructionSet set);

}  // namespace hindsight::internal
