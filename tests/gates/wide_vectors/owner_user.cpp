// A program that has one of Eigen's functions, and not the one that belongs to it: what the compiler leaves
// over after inlining is often so. The linker takes it for the owner's too, if that has it by the same name.
#include <array>
#include <cstdio>

#include <Eigen/Core>

static_assert(EIGEN_MAX_ALIGN_BYTES == 32, "the program is not compiled for AVX");

double squared_length(const double* numbers, long count);
int use_the_library();

int use_the_library() {
  void (*volatile release)(void*) = &Eigen::internal::aligned_free;
  release(nullptr);
  const std::array<double, 3> numbers{2, 3, 6};
  const double length = squared_length(numbers.data(), numbers.size());
  std::printf("%g\n", length);
  return length == 49 ? 0 : 1;
}
