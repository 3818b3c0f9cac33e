#include "images.hpp"

#include <fstream>
#include <iterator>
#include <random>

#include <fmt/format.h>

namespace hindsight::benchmarks {
namespace {

constexpr int mnist_features = 28 * 28, classes = 10;
constexpr double share_of_zeros = 0.81;  // in MNIST's training set

using Bytes = std::vector<unsigned char>;

/// Up to `count` items of an IDX file of bytes: four bytes say how many dimensions there are, then each takes
/// four. Empty when there is no such file.
Bytes read_idx(const std::filesystem::path& path, std::size_t dimensions, std::size_t item,
               std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(4 + 4 * dimensions));
  Bytes bytes(item * count);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

Images load_images(const std::filesystem::path& directory, int count) {
  const auto items = static_cast<std::size_t>(count);
  const Bytes pixels = read_idx(directory / "train-images-idx3-ubyte", 3, mnist_features, items);
  const Bytes labels = read_idx(directory / "train-labels-idx1-ubyte", 1, 1, items);
  Images images{.count = count, .features = mnist_features};
  if (labels.size() == items && pixels.size() == items * mnist_features) {
    for (const unsigned char pixel : pixels) images.pixels.push_back(static_cast<float>(pixel) / 255);
    images.labels.assign(labels.begin(), labels.end());
    images.source = "MNIST pixels";
    return images;
  }
  std::mt19937 rng(1);
  for (std::size_t i = 0; i < items * mnist_features; ++i) {
    const double uniform = rng() * 0x1p-32;
    images.pixels.push_back(uniform < share_of_zeros ? 0.0F : static_cast<float>(rng() * 0x1p-32));
  }
  for (std::size_t i = 0; i < items; ++i) images.labels.push_back(static_cast<std::int64_t>(rng() % classes));
  images.source = fmt::format("synthetic pixels, {:.0f} % zeros (MNIST was not found)", 100 * share_of_zeros);
  return images;
}

Images dense_images(int count, int features) {
  std::mt19937 rng(2);
  Images images{.count = count, .features = features, .source = "uniform pixels"};
  images.pixels.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(features));
  for (float& pixel : images.pixels) pixel = static_cast<float>((rng() + 0.5) * 0x1p-32);
  for (int i = 0; i < count; ++i) images.labels.push_back(static_cast<std::int64_t>(rng() % classes));
  return images;
}

}  // namespace hindsight::benchmarks
