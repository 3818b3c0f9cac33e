#pragma once

#include <string>

namespace hindsight::internal {

/// Refuses, by computing and not by trying, what cannot fit into this machine's physical memory.
void require_memory(double bytes, const std::string& what, const std::string& help);

}  // namespace hindsight::internal
