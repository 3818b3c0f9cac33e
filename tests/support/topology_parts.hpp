#pragma once

#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

/// Bernoulli units between so many inputs and a choice among three.
inline TopologyParts topology_parts(int inputs = 784, int classes = 3) {
  return {.inputs = inputs,
          .hidden = [](int units) { return Bernoulli{.units = units}; },
          .output = Categorical{.classes = classes}};
}

}  // namespace hindsight::testing
