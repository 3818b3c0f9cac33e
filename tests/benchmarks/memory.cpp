#include "memory.hpp"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace hindsight::benchmarks {

std::size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      std::size_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  throw std::runtime_error("no VmHWM in /proc/self/status");
}

void forget_peak_memory() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

double memory_of_child(const std::string& kind, std::size_t edges) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = fmt::format("'{}' --memory={}:{}", self, kind, edges);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  double bytes = 0;
  if (!pipe || std::fscanf(pipe.get(), "%lf", &bytes) != 1)
    throw std::runtime_error("no answer from " + command);
  return bytes;
}

std::string add_memory_benchmark(const std::string& name, const std::string& kind, std::size_t edges) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 for (auto _ : state) state.counters["bytes"] = memory_of_child(kind, edges);
                                 state.counters["edges"] = static_cast<double>(edges);
                               })
      ->Iterations(1)
      ->Repetitions(1);
  return name;
}

}  // namespace hindsight::benchmarks
