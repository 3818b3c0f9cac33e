#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

namespace hindsight::benchmarks {

struct Quartiles {
  double low = 0, median = 0, high = 0;
};

/// What the repetitions of one benchmark gave.
struct Measurement {
  std::vector<double> seconds;             ///< per step, one for each repetition
  std::map<std::string, double> counters;  ///< e.g. "samples" and "edges" of one step

  Quartiles quartiles() const;
};

/// Every benchmark that ran, by the name it was registered with.
using Measurements = std::map<std::string, Measurement>;

/// Prints each benchmark as it ends and keeps the times of its repetitions.
class Collector : public benchmark::ConsoleReporter {
 public:
  Collector() : ConsoleReporter(OO_None) {}
  void ReportRuns(const std::vector<Run>& runs) override;
  const Measurements& measurements() const { return measurements_; }

 private:
  Measurements measurements_;
};

using Counters = std::vector<std::pair<std::string, double>>;

/// Registers `step` as a benchmark. What it works on is made by `make` when the benchmark first runs and
/// stays until the program ends, so that repetitions can be interleaved with those of others and a filter
/// saves its cost.
///
/// Times are CPU times of the thread. With both cores of a shared machine busy, the quartiles of 15
/// repetitions lay 23 % of the median apart in CPU time and 26 % in wall time, 38 % and 47 % in the worst
/// case.
template <class Make>
benchmark::internal::Benchmark* add_benchmark(const std::string& name, const Counters& counters, Make make) {
  using Work = decltype(make());
  return benchmark::RegisterBenchmark(
      name.c_str(), [work = std::make_shared<Work>(), make, counters](benchmark::State& state) {
        if (!*work) *work = make();
        for (auto _ : state) (*work)->step();
        if constexpr (requires { (*work)->label(); }) state.SetLabel((*work)->label());
        for (const auto& [counter, value] : counters) state.counters[counter] = value;
      });
}

}  // namespace hindsight::benchmarks
