#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <hindsight/core/ids.hpp>
#include <hindsight/core/instruction_set.hpp>

namespace hindsight::internal {

/// A table of logarithms, as a sum reads it: rows of `lanes` numbers, and per unit of the sum how many rows
/// lie from one outcome to the next; none where the table does not depend on the unit.
template <class S>
struct LogTable {
  const S* first = nullptr;
  std::span<const std::uint32_t> strides;
};

/// Tables that one call takes; more are joined first.
inline constexpr std::size_t most_tables = 16;

/// The inner loops of variable elimination, in log space: -∞ is a probability of zero, and no NaN arises from
/// it.
template <class S>
struct EliminationKernels {
  /// out[joint outcome] = Σ tables, the last unit fastest.
  void (*join)(std::span<const LogTable<S>> tables, std::span<const int> outcome_counts, int lanes, S* out);
  /// out[joint outcome] = log Σ e^(Σ tables) over the outcomes of one more unit, whose rows lie side by side
  /// in every table.
  void (*sum_out)(std::span<const LogTable<S>> tables, std::span<const int> outcome_counts, int summed,
                  int lanes, S* out);
  /// rows[k] = table[k] - table[sampled], exactly 0 at the sampled outcome; rows are `stride` apart.
  void (*make_relative)(const S* table, int outcome_count, const Outcome* sampled, int lanes,
                        std::size_t stride, S* rows);
};

template <class S>
const EliminationKernels<S>& elimination_kernels(InstructionSet set);

}  // namespace hindsight::internal
