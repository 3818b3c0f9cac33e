#include <hindsight/core/random.hpp>

#include <cmath>
#include <set>
#include <vector>

#include <doctest/doctest.h>

using namespace hindsight;

namespace {

template <class S>
std::vector<S> draw(std::uint64_t seed, const StreamPosition& position, std::uint32_t unit,
                    std::size_t count) {
  std::vector<S> out(count, S(-1));
  draw_uniforms(seed, position, unit, std::span<S>(out));
  return out;
}

}  // namespace

TEST_CASE("philox gives the known answer of the C++ standard as its ten thousandth word") {
  CHECK(philox(20111115, {2499, 0, 0, 0})[3] == 1955073260U);
}

TEST_CASE("philox gives the known answers of its authors") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox(0, {0, 0, 0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox(~std::uint64_t{0}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  // The low word of the seed is the first word of the key.
  CHECK(philox(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a uniform is a multiple of 2^-24 below one and the same in float and double") {
  CHECK(to_uniform<float>(0) == 0.0F);
  CHECK(to_uniform<float>(0xff) == 0.0F);
  CHECK(to_uniform<float>(0x100) == 0x1p-24F);
  CHECK(to_uniform<float>(0x80000000) == 0.5F);
  CHECK(to_uniform<float>(0xffffffff) == 1.0F - 0x1p-24F);
  CHECK(to_uniform<float>(0xffffffff) < 1.0F);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t word = philox(3, {i, 0, 0, 0})[0];
    const auto uniform = to_uniform<double>(word);
    CHECK(uniform * 0x1p24 == static_cast<double>(word >> 8));
    CHECK(static_cast<double>(to_uniform<float>(word)) == uniform);
  }
}

TEST_CASE_TEMPLATE("four neighbouring samples share the words of one philox counter", S, float, double) {
  const std::uint64_t seed = 0x123456789abcdef0;
  const StreamPosition position{.stream = 5, .step = 77, .first_sample = 0};
  const std::vector<S> drawn = draw<S>(seed, position, 41, 103);
  for (std::uint32_t sample = 0; sample < 103; ++sample) {
    const auto words = philox(seed, {stream_word(Purpose::sampling, 5), 77, 41, sample / 4});
    CHECK(drawn[sample] == to_uniform<S>(words[sample % 4]));
  }
}

TEST_CASE_TEMPLATE("a part of a batch draws as the whole does wherever it begins", S, float, double) {
  const std::vector<S> whole = draw<S>(9, {.stream = 1, .step = 2}, 3, 64);
  for (std::uint32_t first = 0; first < 20; ++first)
    for (std::uint32_t count : {0U, 1U, 2U, 3U, 4U, 5U, 17U, 44U}) {
      const std::vector<S> part = draw<S>(9, {.stream = 1, .step = 2, .first_sample = first}, 3, count);
      CHECK(part == std::vector<S>(whole.begin() + first, whole.begin() + first + count));
    }
}

TEST_CASE("float and double draw the same numbers") {
  const std::vector<float> narrow = draw<float>(1, {.first_sample = 3}, 2, 50);
  CHECK(std::vector<double>(narrow.begin(), narrow.end()) == draw<double>(1, {.first_sample = 3}, 2, 50));
}

TEST_CASE("seeds and streams and steps and units each draw numbers of their own") {
  const std::vector<std::vector<double>> all = {
      draw<double>(1, {.stream = 1, .step = 1}, 1, 8),
      draw<double>(2, {.stream = 1, .step = 1}, 1, 8),
      draw<double>(1 | std::uint64_t{1} << 32, {.stream = 1, .step = 1}, 1, 8),
      draw<double>(1, {.stream = 2, .step = 1}, 1, 8),
      draw<double>(1, {.stream = 1, .step = 2}, 1, 8),
      draw<double>(1, {.stream = 1, .step = 1}, 2, 8)};
  CHECK(std::set<std::vector<double>>(all.begin(), all.end()).size() == all.size());
}

TEST_CASE("purposes and streams never share a counter word") {
  std::set<std::uint32_t> words;
  for (const Purpose purpose :
       {Purpose::sampling, Purpose::initialisation, Purpose::pattern, Purpose::topology})
    for (const std::uint32_t stream : {0U, 1U, 2U, 255U, 256U, 65536U, (1U << 24) - 1}) {
      INFO("stream ", stream);
      CHECK(words.insert(stream_word(purpose, stream)).second);
    }
}

// Seed 2024. 65536 draws in 16 equal bins: chi-square with 15 degrees of freedom exceeds 58 with probability
// 1e-6. The mean's standard deviation is 1/sqrt(12·65536) = 0.00113; the bound is 5 of them.
TEST_CASE("uniforms are uniform") {
  const std::size_t units = 64, samples = 1024;
  std::vector<double> counts(16, 0.0);
  double sum = 0;
  for (std::uint32_t unit = 0; unit < units; ++unit)
    for (const double uniform : draw<double>(2024, {}, unit, samples)) {
      counts[static_cast<std::size_t>(uniform * 16)] += 1;
      sum += uniform;
    }
  const double expected = static_cast<double>(units * samples) / 16;
  double chi_square = 0;
  for (const double count : counts) chi_square += (count - expected) * (count - expected) / expected;
  CHECK(chi_square < 58);
  CHECK(std::abs(sum / static_cast<double>(units * samples) - 0.5) < 5 * 0.00113);
}

// Seed 7. Samples of one unit and the same samples of the next: the correlation of 4096 independent pairs has
// standard deviation 1/64; the bound is 5 of them.
TEST_CASE("neighbouring units and neighbouring steps are uncorrelated") {
  const auto correlation = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - 0.5) * (b[i] - 0.5) * 12;
    return sum / static_cast<double>(a.size());
  };
  const std::vector<double> base = draw<double>(7, {}, 0, 4096);
  CHECK(std::abs(correlation(base, draw<double>(7, {}, 1, 4096))) < 5.0 / 64);
  CHECK(std::abs(correlation(base, draw<double>(7, {.step = 1}, 0, 4096))) < 5.0 / 64);
  CHECK(std::abs(correlation(base, draw<double>(7, {.first_sample = 1}, 0, 4096))) < 5.0 / 64);
}
