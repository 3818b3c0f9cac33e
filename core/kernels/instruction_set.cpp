#include <hindsight/core/instruction_set.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hindsight {
namespace {

#if defined(__x86_64__)
// Not among the names that clang 14 knows.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("aes") &&
         __builtin_cpu_supports("pclmul") && has_f16c();
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif

std::vector<InstructionSet> detect() {
  std::vector<InstructionSet> sets{InstructionSet::baseline};
  if (has_avx2()) sets.push_back(InstructionSet::avx2);
  if (has_avx2() && has_avx512()) sets.push_back(InstructionSet::avx512);
  return sets;
}

}  // namespace

std::string_view name(InstructionSet set) {
  switch (set) {
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::baseline:
      return "baseline";
  }
  return "unknown instructions";
}

const std::vector<InstructionSet>& available_instruction_sets() {
  static const std::vector<InstructionSet> sets = detect();
  return sets;
}

}  // namespace hindsight
