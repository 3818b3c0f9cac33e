#pragma once

#include <cstddef>
#include <span>

namespace hindsight::tool {

/// The files that make_sample.sh wrote, still compressed, as they lie in the program.
struct EmbeddedSample {
  std::span<const std::byte> train_images;
  std::span<const std::byte> train_labels;
  std::span<const std::byte> test_images;
  std::span<const std::byte> test_labels;
};

EmbeddedSample embedded_sample();

}  // namespace hindsight::tool
