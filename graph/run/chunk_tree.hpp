#pragma once

#include <bit>
#include <cstddef>

namespace hindsight::internal {

/// The order in which a batch's chunks are added up, a tree: neighbours in pairs, pairs of pairs and so on,
/// from the batch's first chunk on, whatever the parts in which it comes. Sums wait in slots, the largest
/// first.
struct ChunkTree {
  /// What becomes of one chunk.
  struct Step {
    std::size_t slot = 0;
    bool starts = false;       ///< the slot's sum; or is added to it
    std::size_t pairings = 0;  ///< so often the last slot is then added to the one before it
  };

  static constexpr std::size_t slots_after(std::size_t chunks) {
    return static_cast<std::size_t>(std::popcount(chunks));
  }

  /// The last chunk of a batch waits for no neighbour.
  static constexpr Step step(std::size_t chunk, bool is_last) {
    const std::size_t waiting = slots_after(chunk);
    const bool pairs = chunk % 2 == 1 || (is_last && chunk > 0);
    const std::size_t slots = pairs ? waiting : waiting + 1;
    if (is_last) return {slots - 1, !pairs, slots - 1};
    return {slots - 1, !pairs, slots - slots_after(chunk + 1)};
  }

  /// Slots that a batch of so many chunks takes if it comes whole, and if it comes in parts.
  static constexpr std::size_t slots_of_whole(std::size_t chunks) {
    return chunks < 2 ? 1 : static_cast<std::size_t>(std::bit_width(chunks)) - 1;
  }
  static constexpr std::size_t slots_of_parts(std::size_t chunks) {
    return static_cast<std::size_t>(std::bit_width(chunks));
  }
};

}  // namespace hindsight::internal
