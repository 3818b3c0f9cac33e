#include "products.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace hindsight::benchmarks {

Product::~Product() = default;

bool cpu_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

FastestProduct::FastestProduct(std::vector<Candidate> candidates) {
  using Clock = std::chrono::steady_clock;
  Clock::duration best = Clock::duration::max();
  for (Candidate& candidate : candidates) {
    candidate.product->step();
    Clock::duration fastest = Clock::duration::max();
    for (int trial = 0; trial < 9; ++trial) {
      const Clock::time_point start = Clock::now();
      candidate.product->step();
      fastest = std::min(fastest, Clock::now() - start);
    }
    if (fastest < best) {
      best = fastest;
      best_ = std::move(candidate);
    }
  }
}

}  // namespace hindsight::benchmarks
