#pragma once

#include <span>
#include <vector>

namespace hindsight::internal {

/// In which order to sum variables out, and what that takes.
struct EliminationOrder {
  std::vector<int> order;    ///< every variable but the first
  double entries = 0;        ///< of all tables that are summed over
  bool is_complete = true;   ///< false: the limit was passed; then `entries` is a lower bound
  std::vector<int> largest;  ///< the variables of the largest table, sorted
};

/// Sums out next the variable whose neighbours lack the fewest edges among themselves; among equals the one
/// with the smallest table. Stops as soon as the tables together pass the limit, so that dense graphs cost no
/// time. `neighbours` are sorted, per variable; variable 0 stays.
EliminationOrder min_fill(std::vector<std::vector<int>> neighbours, std::span<const int> outcome_counts,
                          double limit);

}  // namespace hindsight::internal
