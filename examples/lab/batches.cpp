#include "lab/batches.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <hindsight/core/random.hpp>

namespace hindsight::lab {

void copy_pixels(std::span<const std::uint8_t> image, float* out) {
  for (std::size_t i = 0; i < image.size(); ++i) out[i] = static_cast<float>(image[i]) * (1.0F / 255.0F);
}

Batches::Batches(const LabelledImages& images, int batch, std::uint64_t seed)
    : images_(images),
      batch_(batch),
      seed_(seed),
      order_(static_cast<std::size_t>(images.count())),
      pixels_(static_cast<std::size_t>(batch) * static_cast<std::size_t>(images.features())),
      labels_(static_cast<std::size_t>(batch)) {
  shuffle(0);
}

void Batches::seek(const DataPosition& position) {
  position_ = position;
  shuffle(position.epoch);
}

/// Fisher and Yates, with the library's own random numbers: the same on every machine.
void Batches::shuffle(std::uint32_t epoch) {
  std::iota(order_.begin(), order_.end(), 0U);
  constexpr std::uint32_t purpose = 0xda7a0000;
  for (std::size_t i = order_.size() - 1; i > 0; --i) {
    const auto number = static_cast<std::uint32_t>(i);
    const std::uint64_t word = philox(seed_, {purpose, epoch, number / 4, 0})[number % 4];
    std::swap(order_[i], order_[word * (i + 1) >> 32U]);
  }
}

/// Images lie scattered in memory. Asked for all at once they come in much less time than one after another.
void Batches::fetch(int first, int count) const {
  constexpr std::size_t cache_line = 64;
  unsigned sum = 0;
  for (int i = first; i < first + count; ++i) {
    const auto image = images_.image(static_cast<int>(order_[static_cast<std::size_t>(i)]));
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
    const auto image = static_cast<int>(order_[static_cast<std::size_t>(first + i)]);
    copy_pixels(images_.image(image), pixels_.data() + static_cast<std::ptrdiff_t>(i) * images_.features());
    labels_[static_cast<std::size_t>(i)] = images_.labels[static_cast<std::size_t>(image)];
  }
  ++position_.batch;
}

}  // namespace hindsight::lab
