#pragma once

#include <functional>

namespace hindsight::tool {

/// As many as there are cores if `wanted` is 0.
int worker_count(int wanted);

/// Calls work(item) for items 0 … count-1 on so many threads, in order of their start. What the first failing
/// call threw leaves when all have ended; no item is started after it, nor after an interrupt.
void share_out(int count, int workers, const std::function<void(int)>& work);

}  // namespace hindsight::tool
