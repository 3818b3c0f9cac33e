#include "measurements.hpp"

#include <algorithm>

namespace hindsight::benchmarks {

Quartiles Measurement::quartiles() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&sorted](double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

void Collector::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> shown;
  for (const Run& run : runs) {
    // Of several repetitions the median is enough to read while it runs.
    if (run.run_type == Run::RT_Aggregate ? run.aggregate_name == "median" : runs.size() == 1)
      shown.push_back(run);
    if (run.run_type == Run::RT_Aggregate || run.error_occurred) continue;
    Measurement& measurement = measurements_[run.run_name.function_name];
    const bool wall = run.run_name.time_type == "real_time";
    measurement.seconds.push_back((wall ? run.real_accumulated_time : run.cpu_accumulated_time) /
                                  static_cast<double>(run.iterations));
    for (const auto& [name, counter] : run.counters) measurement.counters[name] = counter.value;
  }
  ConsoleReporter::ReportRuns(shown);
}

}  // namespace hindsight::benchmarks
