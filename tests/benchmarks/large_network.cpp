#include <memory>
#include <thread>

#include "networks.hpp"
#include "suites.hpp"
#include "torch_suite.hpp"

namespace hindsight::benchmarks {
namespace {

constexpr int batch = 256;
constexpr int steps = 2;  ///< in a row, so that the end of a step is not always a meeting of threads

class OneModelOnTwoThreads {
 public:
  OneModelOnTwoThreads(const Network& network, const Images& images) : trainer_(network, batch, images, 2) {}
  void step() {
    for (int i = 0; i < steps; ++i) trainer_.step();
  }

 private:
  Trainer trainer_;
};

/// What two cores can do at best while they share caches and memory.
class TwoModels {
 public:
  TwoModels(const Network& network, const Images& images)
      : first_(network, batch, images), second_(network, batch, images) {}
  void step() {
    const auto run = [](Trainer& trainer) {
      for (int i = 0; i < steps; ++i) trainer.step();
    };
    std::thread other(run, std::ref(second_));
    run(first_);
    other.join();
  }

 private:
  Trainer first_, second_;
};

}  // namespace

std::vector<Row> large_network(const Data& data) {
  const Layers layers{784, 1024, 1024, 10};
  const std::string name = name_of(layers), prefix = "large/" + name, hnca = prefix + "/hnca";
  const auto network = [layers] { return layered(layers); };
  const Images& images = data.mnist;
  add_benchmark(hnca, {{"samples", batch}},
                [=, &images] { return std::make_unique<Trainer>(network(), batch, images); });
  add_benchmark(prefix + "/reinforce", {{"samples", batch}},
                [=, &images] { return std::make_unique<Trainer>(with_reinforce(network()), batch, images); });
  add_torch_peers(prefix, layers, batch, images, TorchPeers::scalable);
  add_benchmark(prefix + "/one_model_two_threads", {{"samples", steps * batch}}, [=, &images] {
    return std::make_unique<OneModelOnTwoThreads>(network(), images);
  })->UseRealTime();
  add_benchmark(prefix + "/two_models", {{"samples", 2 * steps * batch}}, [=, &images] {
    return std::make_unique<TwoModels>(network(), images);
  })->UseRealTime();

  const std::string torch = prefix + "/torch/";
  return {
      ratio("b", name + ", batch 256: HNCA / REINFORCE", {.most = 4}, {hnca}, {prefix + "/reinforce"}),
      ratio("b", name + ", batch 256: libtorch factored HNCA / HNCA", {.least = 2.5}, {torch + "factored"},
            {hnca}),
      ratio("b", name + ", batch 256: our closed form in libtorch / HNCA", {}, {torch + "closed"}, {hnca}),
      ratio("b", name + ", batch 256: libtorch backprop by hand / HNCA", {}, {torch + "backprop"}, {hnca}),
      // Two models do twice the work of one.
      ratio("f", name + ", batch 256: throughput on two threads / of two models", {.least = 0.9},
            {prefix + "/two_models"}, {prefix + "/one_model_two_threads"}, 0.5)};
}

}  // namespace hindsight::benchmarks
