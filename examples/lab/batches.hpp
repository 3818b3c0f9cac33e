#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hindsight/core/matrix_view.hpp>

#include "lab/dataset.hpp"

namespace hindsight::lab {

/// Where a run is in its data.
struct DataPosition {
  std::uint32_t epoch = 0;  ///< that is running, from 0
  std::uint32_t batch = 0;  ///< that comes next within it
};

/// Deals the images of a data set in batches, every epoch in an order of its own that follows from the seed
/// alone, so that a position is two numbers. Pixels become numbers from 0 to 1.
class Batches {
 public:
  Batches(const LabelledImages& images, int batch, std::uint64_t seed);

  int per_epoch() const { return (images_.count() - 1) / batch_ + 1; }
  DataPosition position() const { return position_; }
  void seek(const DataPosition& position);

  /// The next batch; the last of an epoch may be smaller.
  void next();
  MatrixView<const float> pixels() const { return {pixels_.data(), count_, images_.features()}; }
  std::span<const int> labels() const { return std::span(labels_).first(static_cast<std::size_t>(count_)); }

 private:
  void shuffle(std::uint32_t epoch);
  void fetch(int first, int count) const;

  const LabelledImages& images_;
  int batch_, count_ = 0;
  std::uint64_t seed_;
  DataPosition position_;
  std::vector<std::uint32_t> order_;
  std::vector<float> pixels_;
  std::vector<int> labels_;
};

/// Pixels of one image as numbers from 0 to 1.
void copy_pixels(std::span<const std::uint8_t> image, float* out);

}  // namespace hindsight::lab
