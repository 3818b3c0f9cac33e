#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <hindsight/core/shape.hpp>

namespace hindsight::testing {

/// Which units of a parent each unit of a child reads.
inline Connectivity wired(int parent_units, const std::vector<std::vector<int>>& parents_of_unit) {
  Pattern::Pairs pairs;
  for (std::size_t child = 0; child < parents_of_unit.size(); ++child)
    for (const int parent : parents_of_unit[child]) pairs.emplace_back(parent, static_cast<int>(child));
  return *Pattern::pairs(pairs).connect({parent_units}, {static_cast<int>(parents_of_unit.size())}, "parent");
}

/// One sample as a chunk, for nodes that are written for chunks.
template <class S>
ChunkReading<S> as_chunk(const Reading<S>& reading) {
  return {one_sample(reading.features), one_sample(reading.outcomes), reading.parents};
}

/// Names and sizes of all parameter blocks, in order.
inline std::string blocks_of(const Shape& shape) {
  std::string text;
  for (const ParameterBlock& block : shape.parameters)
    text += fmt::format("{} {}x{} ", block.name, block.rows, block.cols);
  return text;
}

}  // namespace hindsight::testing
