#include "images.hpp"

#include <random>

#include "tool/batches.hpp"

namespace hindsight::benchmarks {

Images first_images(const tool::Dataset& data, int count) {
  Images images{.count = count, .features = data.train.features(), .source = "MNIST pixels"};
  images.pixels.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(images.features));
  for (int i = 0; i < count; ++i)
    tool::copy_pixels(data.train.image(i),
                      images.pixels.data() + static_cast<std::ptrdiff_t>(i) * images.features);
  images.labels.assign(data.train.labels.begin(), data.train.labels.begin() + count);
  return images;
}

Images dense_images(int count, int features) {
  std::mt19937 rng(2);
  Images images{.count = count, .features = features, .source = "uniform pixels"};
  images.pixels.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(features));
  for (float& pixel : images.pixels) pixel = static_cast<float>((rng() + 0.5) * 0x1p-32);
  for (int i = 0; i < count; ++i) images.labels.push_back(static_cast<std::int64_t>(rng() % 10));
  return images;
}

}  // namespace hindsight::benchmarks
