#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <typeindex>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/node.hpp>
#include <hindsight/graph/clamped_factors.hpp>
#include <hindsight/graph/elimination.hpp>

namespace hindsight::internal {

/// All eliminations of a plan, compiled to flat lists of steps. Const while it runs: what changes is in rows
/// of evidence of its own and in tables that the workspace holds per thread.
template <class S>
class EliminationProgram {
 public:
  /// One plan per unit. Their rows of evidence, one per outcome, follow each other in the same order. Refers
  /// to the elements of `placements` and `nodes`.
  EliminationProgram(std::span<const EliminationPlan> units, std::span<const Placement> placements,
                     std::span<const std::optional<AnyNode>> nodes);

  /// Writes the evidence of one chunk: the first row lies at `evidence`, rows are as far apart as in the
  /// frame. `trial` is only used if there are trials.
  void run(const Frame<S>& actual, const Frame<S>& trial, S* evidence, S* tables) const;

  bool empty() const { return units_.empty(); }
  bool uses_trials() const { return !trials_.empty(); }
  bool reads_bits() const { return trials_.reads_bits(); }
  std::size_t evidence_rows() const { return evidence_rows_; }
  /// Scalars that one thread needs for tables.
  std::size_t table_scalars(int lanes) const;
  ScratchSize scratch(int lanes) const { return trials_.scratch(lanes); }

 private:
  using Scope = std::vector<int>;  ///< variables, sorted; the last is fastest in a table

  struct Filled {
    std::size_t kind = 0;   ///< whose FactorTables
    std::size_t group = 0;  ///< of theirs
    std::size_t row = 0;
  };
  struct Used {
    std::size_t row = 0;
    std::size_t first_stride = 0;
  };
  /// Sums tables, and sums one variable out of the result.
  struct Step {
    std::size_t first_filled = 0, filled = 0;
    std::size_t first_used = 0, used = 0;
    std::size_t first_kept = 0, kept = 0;  ///< variables that stay, by their counts of outcomes
    int summed = 0;                        ///< outcomes of the one that goes; 0: none goes
    std::size_t row = 0;                   ///< of the result
  };
  struct Unit {
    std::size_t unit_row = 0, evidence_row = 0;
    int outcome_count = 0;
    std::size_t first_trial = 0, trials = 0;
    std::size_t first_step = 0, steps = 0;  ///< none: nothing depends on it; the last leaves only itself
  };
  struct Kind {
    std::type_index type;
    const AnyNode* node = nullptr;
    std::vector<FactorGroup> groups;
    std::unique_ptr<FactorTables<S>> tables;
  };
  /// Tables that are ready, by the variable that is summed out of them.
  struct Table {
    Scope scope;
    std::size_t row = 0;
  };
  class Compiler;

  void run_step(const Frame<S>& actual, const Step& step, S* tables, S* scratch) const;

  ClampedFactors<S> trials_;
  std::vector<Kind> kinds_;
  std::vector<Unit> units_;
  std::vector<Step> steps_;
  std::vector<Filled> filled_;
  std::vector<Used> used_;
  std::vector<std::uint32_t> strides_;
  std::vector<int> outcome_counts_;
  std::size_t evidence_rows_ = 0, table_rows_ = 0;
};

}  // namespace hindsight::internal
