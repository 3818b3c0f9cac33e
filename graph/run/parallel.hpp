#pragma once

#include <exception>
#include <limits>

#include <omp.h>

namespace hindsight::internal {

/// Calls work(item, worker) for items 0 … count-1 on up to `threads` threads, in any order; worker numbers
/// the thread. If some throw, what the first item threw leaves, as it would from a loop.
template <class Work>
void for_each_item(int count, int threads, const Work& work) {
  if (threads == 1 || count <= 1) {
    for (int item = 0; item < count; ++item) work(item, 0);
    return;
  }
  int failed = std::numeric_limits<int>::max();
  std::exception_ptr problem;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int item = 0; item < count; ++item) {
    try {
      work(item, omp_get_thread_num());
    } catch (...) {
#pragma omp critical(hindsight_first_problem)
      if (item < failed) {
        failed = item;
        problem = std::current_exception();
      }
    }
  }
  if (problem) std::rethrow_exception(problem);
}

}  // namespace hindsight::internal
