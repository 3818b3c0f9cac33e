#include "instructions.hpp"

namespace hindsight::benchmarks {
namespace {

/// Chosen once, before anything runs.
InstructionSet& chosen() {
  static InstructionSet set = available_instruction_sets().back();
  return set;
}

}  // namespace

InstructionSet widest_set() { return chosen(); }
void restrict_to(InstructionSet set) { chosen() = set; }

}  // namespace hindsight::benchmarks
