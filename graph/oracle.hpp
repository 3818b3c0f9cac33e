#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include <hindsight/graph/model.hpp>

namespace hindsight {

/// One joint outcome of all units, as a reward function sees it.
class JointOutcome {
 public:
  JointOutcome(std::span<const std::vector<Outcome>> outcomes, int input_row)
      : outcomes_(outcomes), input_row_(input_row) {}

  /// Throws std::out_of_range where there is no such unit; an input has none.
  Outcome operator()(NodeId node, int unit = 0) const;
  /// Which row of the inputs it goes with.
  int input_row() const { return input_row_; }

 private:
  std::span<const std::vector<Outcome>> outcomes_;
  int input_row_;
};

/// What a reward is, for the oracle only: it must be able to ask for every joint outcome.
struct RewardFunction {
  RewardId reward;
  std::function<double(const JointOutcome&)> value;
};

struct EnumerateOptions {
  std::size_t most_states = 1 << 20;  ///< joint outcomes times input rows
  bool variance = true;               ///< costs one backward pass per state
};

/// Exact expectations over every joint outcome, the rows of the inputs being equally likely.
struct Enumeration {
  std::size_t states = 0;
  std::vector<double> rewards;   ///< expected value per reward
  std::vector<double> gradient;  ///< of the expected sum of rewards
  std::vector<double> estimate;  ///< mean of the gradient that `backward` gives under the chosen estimators
  std::vector<double> variance;  ///< of that gradient, per parameter; empty if not asked for
};

/// Judges a model by summing over everything that could happen, with the code that `forward` and `backward`
/// run. Refuses a model with more states than the limit, naming the count.
template <class S>
Enumeration enumerate(const BasicModel<S>& model,
                      std::type_identity_t<std::span<const InputValues<S>>> inputs,
                      std::span<const RewardFunction> rewards, const EnumerateOptions& options = {});

/// One joint outcome, its probability, and what the estimators make of it.
template <class S>
struct State {
  double probability = 0;  ///< input row included
  const JointOutcome* outcome = nullptr;
  const BasicWorkspace<S>* run = nullptr;  ///< one sample: tables, evidence and the gradient of this state
};

/// Visits every joint outcome that can occur, for moments that Enumeration does not hold.
template <class S>
void for_each_state(const BasicModel<S>& model, std::type_identity_t<std::span<const InputValues<S>>> inputs,
                    std::span<const RewardFunction> rewards,
                    const std::type_identity_t<std::function<void(const State<S>&)>>& visit,
                    const EnumerateOptions& options = {});

}  // namespace hindsight
