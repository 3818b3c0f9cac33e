#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

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

std::size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      std::size_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  throw std::runtime_error("no VmHWM in /proc/self/status");
}

/// In a process of its own: a peak can be read only once, and what was freed before would hide growth.
double memory_of_child(const std::string& kind, std::size_t edges) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = fmt::format("'{}' --memory={}:{}", self, kind, edges);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  double bytes = 0;
  if (!pipe || std::fscanf(pipe.get(), "%lf", &bytes) != 1)
    throw std::runtime_error("no answer from " + command);
  return bytes;
}

std::string add_memory(const std::string& kind, std::size_t edges) {
  const std::string name = fmt::format("growth/memory/{}/{}", kind, edges);
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 for (auto _ : state) state.counters["bytes"] = memory_of_child(kind, edges);
                                 state.counters["edges"] = static_cast<double>(edges);
                               })
      ->Iterations(1)
      ->Repetitions(1);
  return name;
}

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
      if (edges >= 1'000'000) memory.push_back(add_memory(kind, edges));
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
