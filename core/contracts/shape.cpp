#include <hindsight/core/shape.hpp>

#include <utility>

#include <hindsight/core/random.hpp>

namespace hindsight {
namespace {

// Weights take the even, other parameters the odd numbers of the first counter word.
double draw(std::uint64_t seed, std::uint32_t word, std::uint32_t first, std::uint32_t second,
            std::uint32_t index) {
  const auto words = philox(seed, {stream_word(Purpose::initialisation, word), first, second, index / 4});
  return to_uniform<double>(words[index % 4]);
}

}  // namespace

Encoding scalar_encoding(std::vector<double> values) {
  const int outcome_count = static_cast<int>(values.size());
  return {outcome_count, 1, std::move(values)};
}

Encoding one_hot_encoding(int outcome_count) { return {outcome_count, outcome_count}; }

double Initialisation::uniform(int unit, int logit, std::size_t parent, int parent_unit, int feature) const {
  return draw(seed, 2 * static_cast<std::uint32_t>(logit),
              starts[parent].first_unit + static_cast<std::uint32_t>(parent_unit),
              first_unit + static_cast<std::uint32_t>(unit), static_cast<std::uint32_t>(feature));
}

double Initialisation::uniform(int unit, std::size_t parameter) const {
  return draw(seed, 1, 0, first_unit + static_cast<std::uint32_t>(unit),
              static_cast<std::uint32_t>(parameter));
}

}  // namespace hindsight
