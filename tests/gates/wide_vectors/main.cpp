#include <cstdio>

/// Compiled for AVX2.
int use_the_library();

int main() {
  if (!__builtin_cpu_supports("avx2")) {
    std::puts("skipped: this processor has no AVX2, which the program is compiled for");
    return 77;
  }
  return use_the_library();
}
