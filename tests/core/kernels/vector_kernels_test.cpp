// Every kernel of every instruction set of this machine against a plain loop.
#include <hindsight/core/vector_kernels.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace hindsight;

namespace {

/// Different numbers that float has exactly; no two of a test's are the same.
template <class S>
std::vector<S> numbers(std::size_t count) {
  std::vector<S> made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back(static_cast<S>(static_cast<double>(i) * 0.25 - 7) * (i % 3 == 0 ? S(-1) : S(1)));
  return made;
}

std::string by(InstructionSet set) { return "by " + std::string(name(set)); }

}  // namespace

TEST_CASE("the baseline is always there, and no instruction set twice") {
  const std::vector<InstructionSet>& sets = available_instruction_sets();
  REQUIRE(!sets.empty());
  CHECK(sets.front() == InstructionSet::baseline);
  for (std::size_t i = 1; i < sets.size(); ++i) CHECK(sets[i - 1] < sets[i]);
  CHECK(name(InstructionSet::baseline) == "baseline");
  CHECK(name(InstructionSet::avx2) == "avx2");
  CHECK(name(InstructionSet::avx512) == "avx512");
}

TEST_CASE_TEMPLATE("drawn uniforms are those of the scalar generator", S, float, double) {
  const std::uint64_t seed = 0xfedcba9876543210;
  const std::vector<std::uint32_t> numbers_of_units{7, 0, 4294967295U, 8, 9, 10, 1000003};
  constexpr S untouched = S(-1);
  for (const InstructionSet set : available_instruction_sets())
    for (const std::uint32_t first : {0U, 1U, 2U, 3U, 62U, 4294967222U})
      for (const std::size_t units : {std::size_t(1), std::size_t(2), std::size_t(7)})
        for (std::size_t samples = 1; samples <= 70; ++samples) {
          const StreamPosition position{.stream = 3, .step = 11, .first_sample = first};
          const std::size_t stride = internal::uniforms_per_unit(position, samples);
          std::vector<S> drawn(units * stride + 1, untouched);
          const std::size_t begin = internal::vector_kernels<S>(set).draw_uniforms(
              seed, position, std::span(numbers_of_units).first(units), samples, drawn.data());
          int wrong = 0;
          for (std::size_t u = 0; u < units; ++u)
            for (std::size_t i = 0; i < samples; ++i) {
              const std::uint32_t sample = first + static_cast<std::uint32_t>(i);
              const auto words =
                  philox(seed, {stream_word(Purpose::sampling, 3), 11, numbers_of_units[u], sample / 4});
              wrong += drawn[u * stride + begin + i] == to_uniform<S>(words[sample % 4]) ? 0 : 1;
            }
          INFO(by(set), ", first sample ", first, ", ", units, " units, ", samples, " samples");
          CHECK(wrong == 0);
          CHECK(begin + samples <= stride);
          CHECK(stride <= samples + 6);
          CHECK(drawn.back() == untouched);
        }
}

TEST_CASE_TEMPLATE("a transposed matrix has its rows for columns, whatever its sizes and strides", S, float,
                   double) {
  constexpr S untouched = S(12345);
  for (const InstructionSet set : available_instruction_sets())
    for (std::size_t rows : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U, 13U, 17U, 33U})
      for (std::size_t columns : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 9U, 16U, 31U, 67U})
        for (const std::size_t gap : {0U, 3U}) {
          const std::size_t in_stride = columns + gap, out_stride = rows + gap;
          const std::vector<S> in = numbers<S>(rows * in_stride);
          std::vector<S> out(columns * out_stride + 1, untouched);
          internal::vector_kernels<S>(set).transpose(in.data(), in_stride, rows, columns, out.data(),
                                                     out_stride);
          int wrong = 0;
          for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t r = 0; r < out_stride; ++r)
              wrong += out[c * out_stride + r] == (r < rows ? in[r * in_stride + c] : untouched) ? 0 : 1;
          INFO(by(set), ", ", rows, " rows, ", columns, " columns, ", gap, " between them");
          CHECK(wrong == 0);
          CHECK(out.back() == untouched);
        }
}

TEST_CASE_TEMPLATE("a number that is not finite is found wherever it is, and not beyond the row", S, float,
                   double) {
  constexpr S infinity = std::numeric_limits<S>::infinity(), nan = std::numeric_limits<S>::quiet_NaN();
  constexpr std::size_t rows = 3, gap = 2;
  for (const InstructionSet set : available_instruction_sets()) {
    const internal::VectorKernels<S>& kernels = internal::vector_kernels<S>(set);
    for (const std::size_t count : {1U, 2U, 3U, 5U, 8U, 15U, 16U, 17U, 31U, 33U, 67U}) {
      const std::size_t stride = count + gap;
      std::vector<S> values = numbers<S>(rows * stride);
      values[0] = std::numeric_limits<S>::max();
      values[count - 1] = count > 1 ? std::numeric_limits<S>::lowest() : values[0];
      // What lies between the rows does not count.
      for (std::size_t r = 0; r < rows; ++r) {
        values[r * stride + count] = nan;
        values[r * stride + count + 1] = infinity;
      }
      INFO(by(set), ", rows of ", count);
      CHECK(kernels.all_finite(values.data(), stride, rows, count));
      CHECK_FALSE(kernels.any_nan(values.data(), stride, rows, count));
      int missed = 0, taken_for_nan = 0;
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t i = 0; i < count; ++i) {
          const S kept = values[r * stride + i];
          for (const S bad : {nan, -nan, infinity, -infinity}) {
            values[r * stride + i] = bad;
            missed += kernels.all_finite(values.data(), stride, rows, count) ? 1 : 0;
            const bool found = kernels.any_nan(values.data(), stride, rows, count);
            missed += std::isnan(bad) && !found ? 1 : 0;
            taken_for_nan += !std::isnan(bad) && found ? 1 : 0;
          }
          values[r * stride + i] = kept;
        }
      CHECK(missed == 0);
      CHECK(taken_for_nan == 0);
    }
    CHECK(kernels.all_finite(nullptr, 0, 0, 0));
    CHECK_FALSE(kernels.any_nan(nullptr, 0, 0, 0));
    CHECK(kernels.all_finite(&infinity, 1, 1, 0));
  }
}

// The products of these numbers with 0.375 and the sums are exact, with one rounding or with two.
TEST_CASE_TEMPLATE("a scaled row is added to every number of another and to nothing beyond", S, float,
                   double) {
  for (const InstructionSet set : available_instruction_sets())
    for (std::size_t count = 0; count <= 67; ++count) {
      const std::vector<S> in = numbers<S>(count);
      std::vector<S> out(count + 1, S(1.5)), expected = out;
      for (std::size_t i = 0; i < count; ++i) expected[i] += S(0.375) * in[i];
      internal::vector_kernels<S>(set).add_scaled(std::span<S>(out).first(count), in.data(), S(0.375));
      INFO(by(set), ", ", count, " numbers");
      CHECK(out == expected);
    }
}

TEST_CASE("a bit is set for every outcome that is not 0, and for nothing beyond the last lane") {
  constexpr std::size_t stride = 80, rows = 5;
  std::vector<Outcome> outcomes(rows * stride);
  for (std::size_t i = 0; i < outcomes.size(); ++i) outcomes[i] = static_cast<Outcome>(i * i % 7 % 3);
  for (const InstructionSet set : available_instruction_sets())
    for (const int lanes : {16, 32, 48, 64}) {
      std::vector<std::uint64_t> bits(rows + 1, 42);
      internal::vector_kernels<float>(set).pack_outcomes(outcomes.data(), stride, rows, lanes, bits.data());
      INFO(by(set), ", ", lanes, " lanes");
      int wrong = 0;
      for (std::size_t r = 0; r < rows; ++r)
        for (int i = 0; i < 64; ++i) {
          const bool expected = i < lanes && outcomes[r * stride + static_cast<std::size_t>(i)] != 0;
          wrong += (bits[r] >> i & 1) == (expected ? 1 : 0) ? 0 : 1;
        }
      CHECK(wrong == 0);
      CHECK(bits[rows] == 42);
    }
}
