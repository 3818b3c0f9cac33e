#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hindsight::tool {
struct Dataset;
}

namespace hindsight::benchmarks {

/// Labelled images (or other feature vectors), one row each. Every peer reads the same rows.
struct Images {
  int count = 0, features = 0;
  std::vector<float> pixels = {};  ///< count × features, in [0, 1]
  std::vector<std::int64_t> labels = {};
  std::string source = {};  ///< for the report: what was measured on
};

/// The first images to learn from; the data must have so many.
Images first_images(const tool::Dataset& data, int count);

/// No zeros at all.
Images dense_images(int count, int features);

/// Where the next batch begins; runs through all rows and starts over.
class Cursor {
 public:
  int next(const Images& images, int batch) {
    const int first = next_ + batch <= images.count ? next_ : 0;
    next_ = first + batch;
    return first;
  }

 private:
  int next_ = 0;
};

}  // namespace hindsight::benchmarks
