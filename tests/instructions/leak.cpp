// What the check must find: a function of no kernel that was compiled for AVX2, one that uses AVX-512 in the
// namespace of AVX2, and beside them a function that it must not blame.
namespace hindsight {

__attribute__((target("avx2"))) void leaks(float* out, const float* in) {
  for (int i = 0; i < 8; ++i) out[i] += in[i];
}

void is_baseline(float* out, const float* in) {
  for (int i = 0; i < 8; ++i) out[i] += in[i];
}

namespace N_AVX2 {
__attribute__((target("avx2"))) void is_a_kernel(float* out, const float* in) {
  for (int i = 0; i < 8; ++i) out[i] += in[i];
}
__attribute__((target("avx512f"))) void is_too_wide(float* out) {
  asm volatile("vmovups %%zmm0, (%0)" ::"r"(out));
}
}  // namespace N_AVX2

}  // namespace hindsight
