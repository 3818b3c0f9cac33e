#include "tool/workers.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "tool/interrupt.hpp"

namespace hindsight::tool {

int worker_count(int wanted) {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void share_out(int count, int workers, const std::function<void(int)>& work) {
  std::atomic<int> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr problem;
  std::mutex mutex;
  const auto loop = [&] {
    for (int item = next++; item < count && !failed && !was_interrupted(); item = next++) {
      try {
        work(item);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failed.exchange(true)) problem = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < std::min(workers, count); ++i) threads.emplace_back(loop);
  for (std::thread& thread : threads) thread.join();
  if (problem) std::rethrow_exception(problem);
}

}  // namespace hindsight::tool
