#pragma once

#include <cstddef>
#include <cstdint>

namespace hindsight::fuzz {

/// Changes a text as libFuzzer's custom mutators do: most of the time by pieces between the marks of its
/// format (copied, moved into one another, left out, or taken from a list), so that what is nested stays so;
/// now and then by bytes. Gives the new size.
std::size_t mutate_graph_file(std::uint8_t* bytes, std::size_t size, std::size_t most, unsigned seed);

}  // namespace hindsight::fuzz
