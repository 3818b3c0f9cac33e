// The inner loop of dense messages, once in Highway's vectors and once in Eigen's packets: what the choice
// between them rests on. Compiled once per instruction set, like eigen_products.cpp.
#include <cstddef>

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
#include <Eigen/Core>

#include "products.hpp"

namespace hindsight::benchmarks::HINDSIGHT_INSTRUCTIONS {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr hn::ScalableTag<float> tag;
constexpr std::size_t lanes = hn::MaxLanes(tag);
constexpr std::size_t parents = 4, stretch = 128;

/// One tile of parents, one vector of samples, one stretch of children: x·Σ s·h + log Π (1 - x·m·tanh h).
struct Tile {
  const float* tanhs;
  const float* changes;
  const float* means;
  const float* outcomes;
  const float* x;
  float* out;
  std::size_t stride;
};

void messages_by_highway(const Tile& tile) {
  using Vector = hn::Vec<decltype(tag)>;
  const Vector one = hn::Set(tag, 1.0F);
  Vector product[parents], linear[parents], sign[parents];
  for (std::size_t r = 0; r < parents; ++r) {
    product[r] = one;
    linear[r] = hn::Zero(tag);
    sign[r] = hn::And(hn::Load(tag, tile.x + r * tile.stride), hn::SignBit(tag));
  }
  for (std::size_t c = 0; c < stretch; ++c) {
    const Vector mean = hn::Load(tag, tile.means + c * tile.stride),
                 outcome = hn::Load(tag, tile.outcomes + c * tile.stride);
    for (std::size_t r = 0; r < parents; ++r) {
      const Vector tanh = hn::Set(tag, tile.tanhs[c * parents + r]);
      product[r] = hn::Mul(product[r], hn::NegMulAdd(hn::Xor(mean, sign[r]), tanh, one));
      linear[r] = hn::MulAdd(outcome, hn::Set(tag, tile.changes[c * parents + r]), linear[r]);
    }
  }
  for (std::size_t r = 0; r < parents; ++r)
    hn::Store(hn::Add(hn::Xor(linear[r], sign[r]), hn::Log(tag, product[r])), tag,
              tile.out + r * tile.stride);
}

void messages_by_eigen(const Tile& tile) {
  using Vector = Eigen::Array<float, lanes, 1>;
  using Map = Eigen::Map<const Vector, Eigen::AlignedMax>;
  Vector product[parents], linear[parents], x[parents];
  for (std::size_t r = 0; r < parents; ++r) {
    product[r].setOnes();
    linear[r].setZero();
    x[r] = Map(tile.x + r * tile.stride);
  }
  for (std::size_t c = 0; c < stretch; ++c) {
    const Map mean(tile.means + c * tile.stride), outcome(tile.outcomes + c * tile.stride);
    for (std::size_t r = 0; r < parents; ++r) {
      product[r] *= 1.0F - mean * x[r] * tile.tanhs[c * parents + r];
      linear[r] += outcome * tile.changes[c * parents + r];
    }
  }
  for (std::size_t r = 0; r < parents; ++r)
    Eigen::Map<Vector, Eigen::AlignedMax>(tile.out + r * tile.stride) = linear[r] * x[r] + product[r].log();
}

class MessageTiles final : public Product {
 public:
  MessageTiles(const ProductShape& shape, void (*form)(const Tile&))
      : form_(form),
        parents_(static_cast<std::size_t>(shape.rows)),
        children_(static_cast<std::size_t>(shape.inner)),
        samples_(static_cast<std::size_t>(shape.columns)),
        tables_(Array::Constant(shape.rows * shape.inner * 2, 0.05F)),
        rows_(Array::Constant(shape.inner * shape.columns * 2, 0.5F)),
        outcomes_(Array::Ones(shape.rows * shape.columns)),
        evidence_(Array::Zero(shape.rows * shape.columns)) {}

  void step() override {
    for (std::size_t c = 0; c < children_; c += stretch)
      for (std::size_t p = 0; p < parents_; p += parents)
        for (std::size_t i = 0; i < samples_; i += lanes) {
          const float* const table = tables_.data() + 2 * (p * children_ + c * parents);
          const float* const row = rows_.data() + c * samples_ + i;
          form_({table, table + stretch * parents, row, row + children_ * samples_,
                 outcomes_.data() + p * samples_ + i, evidence_.data() + p * samples_ + i, samples_});
        }
  }

 private:
  using Array = Eigen::ArrayXf;
  void (*form_)(const Tile&);
  std::size_t parents_, children_, samples_;
  Array tables_, rows_, outcomes_, evidence_;
};

}  // namespace

Product* highway_messages(const ProductShape& shape) { return new MessageTiles(shape, messages_by_highway); }
Product* eigen_messages(const ProductShape& shape) { return new MessageTiles(shape, messages_by_eigen); }

}  // namespace hindsight::benchmarks::HINDSIGHT_INSTRUCTIONS
