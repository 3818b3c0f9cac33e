#pragma once

// For the .cpp files that compile their kernels once per instruction set. Include it first, then define
// HWY_TARGET_INCLUDE and include <hwy/foreach_target.h> and the kernels.

// Baseline, AVX2 and AVX-512: what lies between them is rare today, and each set costs compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)

// Highway's own checks in unoptimised builds end the program through its library, which nobody needs
// otherwise.
#define HWY_IS_DEBUG_BUILD 0

#include <hindsight/core/instruction_set.hpp>

#include <hwy/detect_targets.h>

// HINDSIGHT_CALL_FOR(set, f(x)) calls the f of that set. A set at or below what the whole library is built
// for has no kernels of its own: the baseline serves it.
#if HWY_TARGETS & HWY_AVX3
#define HINDSIGHT_CALL_AVX512(set, call) (set) == ::hindsight::InstructionSet::avx512 ? N_AVX3::call:
#else
#define HINDSIGHT_CALL_AVX512(set, call)
#endif
#if HWY_TARGETS & HWY_AVX2
#define HINDSIGHT_CALL_AVX2(set, call) (set) == ::hindsight::InstructionSet::avx2 ? N_AVX2::call:
#else
#define HINDSIGHT_CALL_AVX2(set, call)
#endif
#define HINDSIGHT_CALL_FOR(set, call) \
  (static_cast<void>(set),            \
   HINDSIGHT_CALL_AVX512(set, call) HINDSIGHT_CALL_AVX2(set, call) HWY_NAMESPACE::call)
