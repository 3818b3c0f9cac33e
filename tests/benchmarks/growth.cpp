#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "memory.hpp"
#include "networks.hpp"
#include "suites.hpp"

namespace hindsight::benchmarks {
namespace {

constexpr int batch = 64;
constexpr std::size_t sizes[] = {10'000, 100'000, 300'000, 1'000'000, 3'000'000, 10'000'000};

/// Three equally wide layers of units above an equally wide input: one shape at every size.
struct Grown {
  Layers layers;
  Wiring wiring;
};

Grown grown(const std::string& kind, std::size_t edges) {
  const Wiring wiring{kind == "dense" ? 1 : 0.1};
  const auto width =
      static_cast<int>(std::lround(std::sqrt(static_cast<double>(edges) / (3 * wiring.density))));
  return {{width, width, width, width, 10}, wiring};
}

class GrownTrainer {
 public:
  explicit GrownTrainer(const Grown& grown)
      : images_(dense_images(batch, grown.layers.front())),
        trainer_(layered(grown.layers, grown.wiring), batch, images_) {}
  void step() { trainer_.step(); }

 private:
  Images images_;
  Trainer trainer_;
};

std::string add_step(const std::string& kind, std::size_t edges) {
  const std::string name = fmt::format("growth/time/{}/{}", kind, edges);
  add_benchmark(name, {{"samples", batch}, {"edges", static_cast<double>(edges)}},
                [=] { return std::make_unique<GrownTrainer>(grown(kind, edges)); });
  return name;
}

}  // namespace

std::size_t measure_memory(const std::string& kind, std::size_t edges) {
  const Grown shape = grown(kind, edges);
  const Images images = dense_images(batch, shape.layers.front());
  const std::size_t before = peak_memory();
  Trainer trainer(layered(shape.layers, shape.wiring), batch, images);
  trainer.step();
  return peak_memory() - before;
}

std::vector<Row> growth(const Data& data) {
  std::vector<Row> rows;
  for (const std::string kind : {"dense", "sparse"}) {
    const bool dense = kind == "dense";
    Names large, memory;
    for (const std::size_t edges : sizes) {
      const std::string name = add_step(kind, edges);
      if (edges >= 100'000) large.push_back(name);
      if (edges >= 1'000'000)
        memory.push_back(add_memory_benchmark(fmt::format("growth/memory/{}/{}", kind, edges), kind, edges));
    }
    rows.push_back(exponent("e", kind + ", 10^5 … 10^7 edges, batch 64: exponent of time",
                            dense ? Target{.least = 0.9, .most = 1.1} : Target{}, large, "edges"));
    rows.push_back(exponent_of("e", kind + ", 10^6 … 10^7 edges: exponent of peak memory",
                               dense ? Target{.most = 1.1} : Target{}, memory, "edges", "bytes"));
    rows.push_back(
        quotient("e", kind + ", 10^7 edges: bytes of peak memory per edge", memory.back(), "bytes", "edges"));
  }
  const Layers layers{784, 64, 64, 10};
  Names batches;
  for (const int samples : {1, 4, 16, 64, 256, 1024}) {
    batches.push_back(fmt::format("growth/batch/{}", samples));
    add_benchmark(batches.back(), {{"samples", samples}},
                  [=, &data] { return std::make_unique<Trainer>(layered(layers), samples, data.mnist); });
  }
  rows.push_back(
      exponent("e", name_of(layers) + ", batch 1 … 1024: exponent of time", {}, batches, "samples"));
  return rows;
}

}  // namespace hindsight::benchmarks
