#pragma once

#include <cstdint>
#include <span>

#include <hindsight/core/eigen.hpp>

#include "tool/dataset.hpp"

namespace hindsight::tool {

/// An image in each row, its pixels as numbers from 0 to 1.
using Pixels = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Pixels of one image as numbers from 0 to 1.
void copy_pixels(std::span<const std::uint8_t> image, float* out);

/// The class of each image.
Eigen::ArrayXi labels_of(const LabelledImages& images);

/// Where a run is in its data.
struct DataPosition {
  std::uint32_t epoch = 0;  ///< that is running, from 0
  std::uint32_t batch = 0;  ///< that comes next within it
};

/// Deals the images of a data set in batches, every epoch in an order of its own that follows from the seed
/// alone, so that a position is two numbers.
class Batches {
 public:
  Batches(const LabelledImages& images, int batch, std::uint64_t seed);

  int per_epoch() const { return (images_.count() - 1) / batch_ + 1; }
  DataPosition position() const { return position_; }
  void seek(const DataPosition& position);

  /// The next batch; the last of an epoch may be smaller.
  void next();
  auto pixels() const { return pixels_.topRows(count_); }
  auto labels() const { return labels_.head(count_); }

 private:
  void shuffle(std::uint32_t epoch);
  void fetch(int first, int count) const;

  const LabelledImages& images_;
  const Eigen::ArrayXi all_labels_;
  int batch_, count_ = 0;
  std::uint64_t seed_;
  DataPosition position_;
  Eigen::ArrayXi order_;
  Pixels pixels_;
  Eigen::ArrayXi labels_;
};

}  // namespace hindsight::tool
