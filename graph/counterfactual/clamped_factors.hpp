#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <hindsight/graph/clamped_blocks.hpp>
#include <hindsight/graph/elimination.hpp>

namespace hindsight::internal {

/// Where a trial puts one factor: rows of a table of logarithms.
struct TrialTable {
  std::size_t factor = 0;            ///< of the plan
  std::size_t first_row = 0;         ///< several factors whose own outcomes are known may share a table
  std::vector<std::size_t> strides;  ///< per variable that is open
  std::size_t own_stride = 0;        ///< 0: the unit's own outcome is known
};

/// Tables of factors of any kind, and of those behind deterministic nodes: for every joint outcome of what is
/// open, ordinary blocks run on a clamped copy of the chunk.
template <class S>
class ClampedFactors {
 public:
  /// Refers to the elements of both.
  ClampedFactors(std::span<const Placement> placements, std::span<const std::optional<AnyNode>> nodes)
      : placements_(placements), nodes_(nodes) {}

  /// Returns its number.
  std::size_t add(const EliminationPlan& plan, const EliminationPlan::Trial& trial,
                  std::span<const TrialTable> tables);
  /// Overwrites the trial's tables, of which the first row of all lies at `rows`. `trial` is a copy of the
  /// features, outcomes and bits of `actual` with everything clamped; it is left as it was found, but for
  /// log-probabilities.
  void fill(const Frame<S>& actual, const Frame<S>& trial, std::size_t number, S* rows) const;

  bool empty() const { return trials_.empty(); }
  bool reads_bits() const;
  ScratchSize scratch(int lanes) const;

 private:
  struct OpenUnit {
    const Placement* at = nullptr;
    std::size_t unit = 0;
  };
  struct Entry {
    const Placement* at = nullptr;
    std::size_t unit = 0;
    std::size_t first_row = 0, own_stride = 0;
    std::vector<std::size_t> strides;
    bool starts = true;  ///< it is the first in its table
  };
  struct Trial {
    std::vector<OpenUnit> open;
    std::vector<int> outcome_counts;
    std::vector<Entry> entries;
    const ClampedBlocks<S>* blocks = nullptr;
  };

  const ClampedBlocks<S>& blocks_of(const std::vector<NodeId>& functions, const std::vector<NodeId>& readers);
  void read(const Frame<S>& actual, const Frame<S>& trial, const Trial& of, const Entry& entry, S* row) const;

  std::span<const Placement> placements_;
  std::span<const std::optional<AnyNode>> nodes_;
  std::map<std::pair<std::vector<NodeId>, std::vector<NodeId>>, ClampedBlocks<S>> blocks_;  ///< by what runs
  std::vector<Trial> trials_;
};

}  // namespace hindsight::internal
