#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace hindsight::internal {

/// Allocates on cache-line boundaries, so that rows of samples can be loaded by the widest vectors.
template <class T>
struct CacheAligned {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  CacheAligned() = default;
  template <class U>
  CacheAligned(const CacheAligned<U>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), alignment)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, alignment); }

  bool operator==(const CacheAligned&) const = default;
};

template <class T>
using AlignedBuffer = std::vector<T, CacheAligned<T>>;

}  // namespace hindsight::internal
