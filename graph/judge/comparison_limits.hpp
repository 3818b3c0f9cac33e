#pragma once

#include <cstddef>
#include <string>

#include <hindsight/graph/microscope.hpp>

namespace hindsight::internal {

// What a comparison may ask for, and what it may take.

/// Before it is measured, of a contender whose baselines learn.
inline constexpr int warm_up_batches = 200;

/// Throws Error where counts are too small, or inputs do not fit each other.
void check(const Task& task, const MicroscopeOptions& options);

/// Throws Error where what is kept of that many contenders and parameters does not fit into memory.
void require_memory_for(std::size_t contenders, std::size_t parameters);

/// Why the contender's model would sum out for too long; empty: it does not.
std::string why_too_long(const Model& model, const MicroscopeOptions& options);

}  // namespace hindsight::internal
