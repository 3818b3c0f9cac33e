#pragma once

#include <hindsight/core/instruction_set.hpp>

namespace hindsight::benchmarks {

/// What all sides may use: the widest set of this machine, or less by --instructions.
InstructionSet widest_set();
void restrict_to(InstructionSet set);

inline bool may_use_avx512() { return widest_set() == InstructionSet::avx512; }

}  // namespace hindsight::benchmarks
