#pragma once

#include <cstddef>
#include <string>

namespace hindsight::benchmarks {

/// The most memory that this process has had, in bytes.
std::size_t peak_memory();
/// From now on the peak is what comes.
void forget_peak_memory();

/// What the program prints when it is started with --memory=kind:edges. In a process of its own: a peak can
/// be read only once, and what was freed before would hide growth.
double memory_of_child(const std::string& kind, std::size_t edges);

/// Registers a benchmark with the counters "bytes" and "edges"; returns its name.
std::string add_memory_benchmark(const std::string& name, const std::string& kind, std::size_t edges);

}  // namespace hindsight::benchmarks
