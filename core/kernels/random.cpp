#include <hindsight/core/random.hpp>

#include <algorithm>
#include <cstddef>

#include <Random123/philox.h>

#include <hindsight/core/instruction_set.hpp>
#include <hindsight/core/vector_kernels.hpp>

namespace hindsight {

std::array<std::uint32_t, 4> philox(std::uint64_t seed, const std::array<std::uint32_t, 4>& counter) {
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const auto words = r123::Philox4x32{}({{counter[0], counter[1], counter[2], counter[3]}}, key);
  return {words[0], words[1], words[2], words[3]};
}

template <class S>
void draw_uniforms(std::uint64_t seed, const StreamPosition& position, std::uint32_t unit, std::span<S> out) {
  constexpr std::size_t at_once = 64;
  std::array<S, at_once + 8> drawn;
  StreamPosition at = position;
  for (std::size_t i = 0; i < out.size(); i += at_once, at.first_sample += at_once) {
    const std::size_t count = std::min(at_once, out.size() - i);
    const std::size_t first = internal::vector_kernels<S>(available_instruction_sets().back())
                                  .draw_uniforms(seed, at, std::span(&unit, 1), count, drawn.data());
    std::copy_n(drawn.data() + first, count, out.data() + i);
  }
}

template void draw_uniforms<float>(std::uint64_t, const StreamPosition&, std::uint32_t, std::span<float>);
template void draw_uniforms<double>(std::uint64_t, const StreamPosition&, std::uint32_t, std::span<double>);

}  // namespace hindsight
