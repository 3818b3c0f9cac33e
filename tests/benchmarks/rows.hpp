#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "measurements.hpp"

namespace hindsight::benchmarks {

/// The values that a row may have; without bounds it is only reported.
struct Target {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  bool is_given() const { return *this != Target{}; }
  bool met_by(double value) const { return value >= least && value <= most; }
  /// "≥ 5", "0.9 … 1.1", or nothing.
  std::string text() const;
  bool operator==(const Target&) const = default;
};

/// One line of the table: what it says and how it follows from the measurements.
struct Row {
  std::string id, text;
  Target target = {};
  std::function<std::optional<Quartiles>(const Measurements&)>
      value;  ///< none: a benchmark it needs did not run
};

using Names = std::vector<std::string>;

/// Median time of the fastest of `numerator` over that of the fastest of `denominator`, times `factor`. The
/// spread takes the quartiles against each other, which is pessimistic.
Row ratio(std::string id, std::string text, const Target& target, Names numerator, Names denominator,
          double factor = 1);

/// The slope of a line through (log counter, log time) of all benchmarks.
Row exponent(std::string id, std::string text, const Target& target, Names benchmarks, std::string counter);

/// The slope of a line through (log counter, log quantity), where the quantity is a counter too.
Row exponent_of(std::string id, std::string text, const Target& target, Names benchmarks, std::string counter,
                std::string quantity);

/// The median time of a benchmark itself; for what has no peer.
Row seconds(std::string id, std::string text, const Target& target, std::string benchmark);

/// A counter of a benchmark, times `factor`.
Row counter(std::string id, std::string text, const Target& target, std::string benchmark,
            std::string counter, double factor = 1);

/// One counter of a benchmark over another of its counters.
Row quotient(std::string id, std::string text, std::string benchmark, std::string numerator,
             std::string denominator, const Target& target = {});

}  // namespace hindsight::benchmarks
