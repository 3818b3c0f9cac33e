// What the check must find: a function of no kernel that was compiled for AVX2, one that uses AVX-512 in the
// namespace of AVX2, one of Eigen's own namespace, and beside them functions that it must not blame.
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

namespace Eigen {
inline __attribute__((noinline)) void is_shared(float* out) { *out = 1; }
}  // namespace Eigen

namespace hindsight_eigen {
inline __attribute__((noinline)) void is_ours(float* out) { Eigen::is_shared(out); }
}  // namespace hindsight_eigen

namespace hindsight {
void uses_eigen(float* out) { hindsight_eigen::is_ours(out); }
}  // namespace hindsight
