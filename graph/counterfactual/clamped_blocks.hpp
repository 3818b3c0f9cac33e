#pragma once

#include <optional>
#include <span>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/node.hpp>

namespace hindsight::internal {

/// Some deterministic nodes and their readers, lowered for themselves, to be run again on a clamped copy of a
/// chunk (`trial`) in which units show outcomes that were not sampled.
template <class S>
class ClampedBlocks {
 public:
  /// Refers to the elements of `nodes`.
  ClampedBlocks(std::span<const NodeId> functions, std::span<const NodeId> readers,
                std::span<const Placement> placements, std::span<const std::optional<AnyNode>> nodes);

  void run(const Frame<S>& trial) const {
    for (const auto& block : blocks_) block->forward(trial);
  }
  /// Gives the deterministic nodes of the trial the values that they actually had.
  void restore(const Frame<S>& actual, const Frame<S>& trial) const;

  std::span<const Placement> readers() const { return readers_; }
  bool reads_bits() const;
  ScratchSize scratch(int lanes) const;

 private:
  std::vector<Placement> functions_, readers_;  ///< that want no messages and no slopes
  Blocks<S> blocks_;                            ///< of both, in the order of the forward pass
};

/// Lets a unit of the trial show these outcomes to all that read it.
template <class S>
void show(const Frame<S>& trial, const Placement& node, std::size_t unit, const Outcome* outcomes);

}  // namespace hindsight::internal
