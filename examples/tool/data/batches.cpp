#include "tool/batches.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <hindsight/core/random.hpp>

namespace hindsight::tool {

void copy_pixels(std::span<const std::uint8_t> image, float* out) {
  for (std::size_t i = 0; i < image.size(); ++i) out[i] = static_cast<float>(image[i]) * (1.0F / 255.0F);
}

Eigen::ArrayXi labels_of(const LabelledImages& images) { return as_eigen(images.labels).cast<int>(); }

Batches::Batches(const LabelledImages& images, int batch, std::uint64_t seed)
    : images_(images),
      all_labels_(labels_of(images)),
      batch_(batch),
      seed_(seed),
      order_(images.count()),
      pixels_(batch, images.features()),
      labels_(batch) {
  shuffle(0);
}

void Batches::seek(const DataPosition& position) {
  position_ = position;
  shuffle(position.epoch);
}

/// Fisher and Yates, with the library's own random numbers: the same on every machine.
void Batches::shuffle(std::uint32_t epoch) {
  std::iota(order_.begin(), order_.end(), 0);
  constexpr std::uint32_t purpose = 0xda7a0000;
  for (auto i = static_cast<std::uint32_t>(images_.count() - 1); i > 0; --i) {
    const std::uint64_t word = philox(seed_, {purpose, epoch, i / 4, 0})[i % 4];
    std::swap(order_(i), order_(static_cast<Eigen::Index>(word * (i + 1ULL) >> 32U)));
  }
}

/// Images lie scattered in memory. Asked for all at once they come in much less time than one after another.
void Batches::fetch(int first, int count) const {
  constexpr std::size_t cache_line = 64;
  unsigned sum = 0;
  for (int i = first; i < first + count; ++i) {
    const auto image = images_.image(order_(i));
    for (std::size_t byte = 0; byte < image.size(); byte += cache_line) sum += image[byte];
  }
  [[maybe_unused]] volatile unsigned seen = sum;
}

void Batches::next() {
  if (position_.batch == static_cast<std::uint32_t>(per_epoch())) {
    position_ = {position_.epoch + 1, 0};
    shuffle(position_.epoch);
  }
  const int first = static_cast<int>(position_.batch) * batch_;
  count_ = std::min(batch_, images_.count() - first);
  fetch(first, count_);
  for (int i = 0; i < count_; ++i) {
    const int image = order_(first + i);
    copy_pixels(images_.image(image), pixels_.row(i).data());
    labels_(i) = all_labels_(image);
  }
  ++position_.batch;
}

}  // namespace hindsight::tool
