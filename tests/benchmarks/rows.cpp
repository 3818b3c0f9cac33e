#include "rows.hpp"

#include <cmath>

#include <fmt/format.h>

namespace hindsight::benchmarks {
namespace {

/// The fastest by its median; none if one of them did not run, since it might have been the fastest.
std::optional<Quartiles> fastest(const Measurements& measurements, const Names& names) {
  std::optional<Quartiles> best;
  for (const std::string& name : names) {
    const auto found = measurements.find(name);
    if (found == measurements.end()) return std::nullopt;
    const Quartiles times = found->second.quartiles();
    if (!best || times.median < best->median) best = times;
  }
  return best;
}

struct Point {
  double x, y;
};

double slope(const std::vector<Point>& points) {
  Point mean{0, 0};
  for (const Point& point : points) {
    mean.x += point.x / static_cast<double>(points.size());
    mean.y += point.y / static_cast<double>(points.size());
  }
  double across = 0, along = 0;
  for (const Point& point : points) {
    across += (point.x - mean.x) * (point.y - mean.y);
    along += (point.x - mean.x) * (point.x - mean.x);
  }
  return across / along;
}

using Quantity = std::function<double(const Measurement&)>;

Row fitted(std::string id, std::string text, const Target& target, Names names, std::string counter,
           Quantity quantity) {
  return {
      std::move(id), std::move(text), target, [=](const Measurements& all) -> std::optional<Quartiles> {
        std::vector<Point> points;
        for (const std::string& name : names) {
          const auto found = all.find(name);
          if (found == all.end()) return std::nullopt;
          points.push_back({std::log(found->second.counters.at(counter)), std::log(quantity(found->second))});
        }
        const double value = slope(points);
        return Quartiles{value, value, value};
      }};
}

}  // namespace

std::string Target::text() const {
  if (!is_given()) return "";
  if (std::isinf(least)) return fmt::format("≤ {}", most);
  if (std::isinf(most)) return fmt::format("≥ {}", least);
  return fmt::format("{} … {}", least, most);
}

Row ratio(std::string id, std::string text, const Target& target, Names numerator, Names denominator,
          double factor) {
  return {std::move(id), std::move(text), target, [=](const Measurements& all) -> std::optional<Quartiles> {
            const std::optional<Quartiles> above = fastest(all, numerator), below = fastest(all, denominator);
            if (!above || !below) return std::nullopt;
            return Quartiles{factor * above->low / below->high, factor * above->median / below->median,
                             factor * above->high / below->low};
          }};
}

Row exponent(std::string id, std::string text, const Target& target, Names benchmarks, std::string counter) {
  return fitted(std::move(id), std::move(text), target, std::move(benchmarks), std::move(counter),
                [](const Measurement& measurement) { return measurement.quartiles().median; });
}

Row exponent_of(std::string id, std::string text, const Target& target, Names benchmarks, std::string counter,
                std::string quantity) {
  return fitted(std::move(id), std::move(text), target, std::move(benchmarks), std::move(counter),
                [quantity](const Measurement& measurement) { return measurement.counters.at(quantity); });
}

Row seconds(std::string id, std::string text, const Target& target, std::string benchmark) {
  return {std::move(id), std::move(text), target, [=](const Measurements& all) -> std::optional<Quartiles> {
            const auto found = all.find(benchmark);
            if (found == all.end()) return std::nullopt;
            return found->second.quartiles();
          }};
}

Row counter(std::string id, std::string text, const Target& target, std::string benchmark,
            std::string counter, double factor) {
  return {std::move(id), std::move(text), target, [=](const Measurements& all) -> std::optional<Quartiles> {
            const auto found = all.find(benchmark);
            if (found == all.end()) return std::nullopt;
            const double value = factor * found->second.counters.at(counter);
            return Quartiles{value, value, value};
          }};
}

Row quotient(std::string id, std::string text, std::string benchmark, std::string numerator,
             std::string denominator, const Target& target) {
  return {std::move(id), std::move(text), target, [=](const Measurements& all) -> std::optional<Quartiles> {
            const auto found = all.find(benchmark);
            if (found == all.end()) return std::nullopt;
            const double value =
                found->second.counters.at(numerator) / found->second.counters.at(denominator);
            return Quartiles{value, value, value};
          }};
}

}  // namespace hindsight::benchmarks
