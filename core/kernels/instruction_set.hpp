#pragma once

#include <string_view>
#include <vector>

namespace hindsight {

/// What the processor must understand to run a plan. The library itself is built for the baseline; kernels
/// for the others are picked when it runs.
enum class InstructionSet { baseline, avx2, avx512 };

std::string_view name(InstructionSet set);

/// Those this machine has kernels and instructions for, the fastest last.
const std::vector<InstructionSet>& available_instruction_sets();

}  // namespace hindsight
