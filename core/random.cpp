#include <hindsight/core/random.hpp>

#include <cstddef>

#include <Random123/philox.h>

namespace hindsight {

std::array<std::uint32_t, 4> philox(std::uint64_t seed, const std::array<std::uint32_t, 4>& counter) {
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const auto words = r123::Philox4x32{}({{counter[0], counter[1], counter[2], counter[3]}}, key);
  return {words[0], words[1], words[2], words[3]};
}

template <class S>
void draw_uniforms(std::uint64_t seed, const StreamPosition& position, std::uint32_t unit, std::span<S> out) {
  const std::uint32_t first_word = stream_word(Purpose::sampling, position.stream);
  std::array<std::uint32_t, 4> words{};
  std::uint32_t quartet = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t sample = position.first_sample + static_cast<std::uint32_t>(i);
    if (i == 0 || sample / 4 != quartet) {
      quartet = sample / 4;
      words = philox(seed, {first_word, position.step, unit, quartet});
    }
    out[i] = to_uniform<S>(words[sample % 4]);
  }
}

template void draw_uniforms<float>(std::uint64_t, const StreamPosition&, std::uint32_t, std::span<float>);
template void draw_uniforms<double>(std::uint64_t, const StreamPosition&, std::uint32_t, std::span<double>);

}  // namespace hindsight
