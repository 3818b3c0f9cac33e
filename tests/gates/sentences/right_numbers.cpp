// All of this compiles.
#include <cstddef>
#include <cstdint>

#include <hindsight/core/shape.hpp>

using namespace hindsight;

ParameterBlock block(int rows, long cols) { return {"weights", rows, cols}; }
ParameterBlock column(std::size_t rows) { return {.name = "bias", .rows = rows}; }
ParameterBlock row(short rows, std::uint64_t cols) { return {"table", rows, cols}; }
ParameterBlock constant() { return {"scale", 3, 2U}; }
