#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/nodes/linear.hpp>

namespace hindsight::internal {

/// Features that lie side by side in the arena and that one unit reads through weights at equal steps.
struct FeatureRun {
  std::size_t feature_row = 0, features = 0;
  std::size_t parameter = 0;           ///< of the first weight into the unit's first logit
  std::size_t step = 1;                ///< from weight to weight
  std::size_t logit_stride = 0;        ///< from a weight to the same weight into the next logit
  std::size_t unit_row = 0;            ///< of the first feature, where the units are binary
  const Encoding* encoding = nullptr;  ///< of the units; none: they are real-valued
  bool wants_slopes = false;           ///< the units are deterministic or credited by slopes
  bool wants_messages = false;         ///< along these very edges
};

/// One unit and what it reads, whichever nodes that belongs to.
struct ReadingUnit {
  const Placement* at = nullptr;
  int unit = 0;
  std::size_t bias = 0;
  std::vector<FeatureRun> runs = {};
};

/// Units that are worked together.
struct FusedUnits {
  std::vector<ReadingUnit> units;
  std::vector<FeatureRun> shared;  ///< what all of them read: some of the runs of the first unit, in order
};

/// Units of nodes with the same number of outcomes: those that share long runs of features are worked
/// together, the others are gathered in one set that shares nothing.
std::vector<FusedUnits> fuse(std::span<const Placement* const> group);

}  // namespace hindsight::internal
