#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "images.hpp"

namespace hindsight::benchmarks {

/// How libtorch trains a layered network: HNCA on -1/+1 hidden units with REINFORCE at the softmax output, in
/// four forms, or backpropagation through tanh units, which gets its reward from the same sampled class.
enum class TorchMethod {
  literal,   ///< Algorithm 1 of the paper: both counterfactuals of every edge and sample, in log space
  flip,      ///< only the outcome that was not sampled is counterfactual
  factored,  ///< e^{±2W} once per step, one logarithm per sixteen children
  closed,    ///< the closed form that Hindsight uses, with tanh W once per step
  backprop,  ///< gradients written out by hand
  autograd,  ///< gradients by libtorch
};

/// A network and its training step on one thread. The learning step is fused into the products that make the
/// gradient, which is the fastest way to write it.
class TorchTrainer {
 public:
  /// Layer sizes from the input to the classes.
  TorchTrainer(std::span<const int> layers, int batch, TorchMethod method, const Images& images);
  ~TorchTrainer();
  TorchTrainer(const TorchTrainer&) = delete;
  TorchTrainer& operator=(const TorchTrainer&) = delete;

  void step();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What one form of HNCA makes of a batch, for a comparison with Hindsight itself.
struct TorchProbe {
  std::vector<std::vector<std::int32_t>> outcomes;  ///< per layer: samples × units; the last: the classes
  std::vector<float> gradient;                      ///< per layer: weights (units × inputs), then biases
};

/// The first `rewards.size()` images, with parameters in the order of the gradient. The same seed samples the
/// same outcomes whatever the form.
TorchProbe probe_torch(std::span<const int> layers, std::span<const float> parameters, TorchMethod method,
                       const Images& images, std::span<const float> rewards, std::uint64_t seed);

}  // namespace hindsight::benchmarks
