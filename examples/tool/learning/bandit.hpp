#pragma once

#include <cstdint>
#include <vector>

#include <hindsight/hindsight.hpp>

namespace hindsight::tool {

/// A contextual bandit for any graph: some rows of inputs that are -1 or 1 and, per row and reward, a target
/// for every unit that the reward reads; the reward is the share of them that hit it. All drawn from the
/// seed.
class Bandit {
 public:
  /// Refuses a black-box reward that reads no stochastic node, and what does not fit into memory. Refers to
  /// nothing.
  Bandit(const Graph& graph, int rows, std::uint64_t seed);
  Bandit(const Bandit&) = delete;  // it holds views of itself
  Bandit& operator=(const Bandit&) = delete;

  std::span<const InputValues<float>> inputs() const { return inputs_; }
  std::span<const RewardFunction> rewards() const { return rewards_; }

 private:
  std::vector<Eigen::MatrixXf> values_;  ///< per input
  std::vector<InputValues<float>> inputs_;
  std::vector<RewardFunction> rewards_;
};

}  // namespace hindsight::tool
