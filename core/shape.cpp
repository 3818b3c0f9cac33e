#include <hindsight/core/shape.hpp>

#include <utility>

namespace hindsight {

Encoding scalar_encoding(std::vector<double> values) {
  const int outcomes = static_cast<int>(values.size());
  return {outcomes, 1, std::move(values)};
}

Encoding one_hot_encoding(int outcomes) { return {outcomes, outcomes}; }

}  // namespace hindsight
