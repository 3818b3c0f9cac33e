#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace hindsight::tool {

/// Grey images of one size, each with the class it belongs to.
/// `pixels` holds count() · features() bytes, image after image and row after row; every label is below
/// `classes`.
struct LabelledImages {
  int rows = 0;
  int columns = 0;
  int classes = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  int count() const { return static_cast<int>(labels.size()); }
  int features() const { return rows * columns; }
  std::span<const std::uint8_t> image(int index) const {
    const auto size = static_cast<std::size_t>(features());
    return std::span(pixels).subspan(static_cast<std::size_t>(index) * size, size);
  }
};

/// Images to learn from and images to be judged by: neither is empty, and they agree in size and in classes.
struct Dataset {
  std::string name;
  LabelledImages train;
  LabelledImages test;
};

/// Loads the data set that `where` names:
/// - "sample", embedded in the program: the first 5,000 training and the first 1,000 test images of MNIST;
/// - "mnist", the folder that `make data` fills: $HINDSIGHT_DATA, or .cache/mnist where that is not set;
/// - "fashion", what Debian's package dataset-fashion-mnist installs;
/// - anything else, a folder (so "./mnist" is a folder of that name).
///
/// A folder holds train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
/// t10k-labels-idx1-ubyte, or the same with a dot for the second hyphen (train-images.idx3-ubyte), raw or
/// with .gz; where there are several, the first in this order is read.
///
/// There are ten classes, or as many as the training labels name if one is above 9; a test label beyond them
/// is refused. Throws Error: data-missing if something is not there or cannot be read, data-format if a file
/// is not what its name says, data-mismatch if files do not belong together.
Dataset load_dataset(const std::string& where);

/// Whatever it might read; nothing of "sample", which is in the program.
std::vector<std::filesystem::path> files_of_dataset(const std::string& where);

}  // namespace hindsight::tool
