#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include <hindsight/core/matrix_view.hpp>
#include <hindsight/graph/model.hpp>

namespace hindsight {

/// What a black-box reward is, for the oracle only: it must be able to ask for every joint outcome.
struct RewardFunction {
  RewardId reward;
  KnownReward value;
};

struct EnumerateOptions {
  std::size_t most_states = 1 << 20;  ///< joint outcomes times input rows
  bool variance = true;               ///< costs one backward pass per state
  /// Costs that pass too, and takes a number for every pair of parameters.
  bool covariance = false;
  /// What the baselines remember, as BasicWorkspace::baselines() gives it; they learn nothing meanwhile.
  /// Empty: nothing yet.
  std::span<const double> baselines = {};
};

/// Exact expectations over every joint outcome, the rows of the inputs being equally likely. Where baselines
/// want several samples of each input, a state is as many joint outcomes, one after another.
struct Enumeration {
  std::size_t states = 0;
  std::vector<double> rewards;   ///< expected value per reward
  std::vector<double> gradient;  ///< of the expected sum of rewards
  std::vector<double> estimate;  ///< mean of the gradient that `backward` gives under the chosen estimators
  std::vector<double> variance;  ///< of that gradient, per parameter; empty if not asked for
  /// Of that gradient, parameters × parameters, row after row; empty if not asked for. Its diagonal is the
  /// variance.
  std::vector<double> covariance = {};

  MatrixView<const double> covariance_matrix() const {
    const auto size = static_cast<std::ptrdiff_t>(covariance.empty() ? 0 : estimate.size());
    return {covariance.data(), size, size};
  }
};

/// How many states enumeration would visit, for so many rows of the inputs.
template <class S>
double count_states(const BasicModel<S>& model, std::ptrdiff_t rows);

/// Judges a model by summing over everything that could happen, with the code that `forward` and `backward`
/// run. Refuses a model with more states than the limit, naming the count, and a covariance that does not fit
/// into memory.
template <class S>
Enumeration enumerate(const BasicModel<S>& model,
                      std::type_identity_t<std::span<const InputValues<S>>> inputs,
                      std::span<const RewardFunction> rewards, const EnumerateOptions& options = {});
template <class S>
Enumeration enumerate(const BasicModel<S>& model,
                      std::type_identity_t<std::initializer_list<InputValues<S>>> inputs,
                      std::span<const RewardFunction> rewards, const EnumerateOptions& options = {}) {
  return enumerate<S>(model, std::span<const InputValues<S>>(inputs.begin(), inputs.size()), rewards,
                      options);
}

/// One joint outcome, its probability, and what the estimators make of it.
template <class S>
struct State {
  double probability = 0;                 ///< input row included
  const JointOutcome* outcome = nullptr;  ///< of the first sample of the state
  const BasicWorkspace<S>* run =
      nullptr;  ///< tables, evidence and the gradient of this state, usually one sample
};

/// Visits every joint outcome that can occur, for moments that Enumeration does not hold.
template <class S>
void for_each_state(const BasicModel<S>& model, std::type_identity_t<std::span<const InputValues<S>>> inputs,
                    std::span<const RewardFunction> rewards,
                    const std::type_identity_t<std::function<void(const State<S>&)>>& visit,
                    const EnumerateOptions& options = {});

}  // namespace hindsight
