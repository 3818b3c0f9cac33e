#pragma once

#include <span>
#include <vector>

#include "support/bits.hpp"
#include "support/random_graphs.hpp"

namespace hindsight::testing {

/// Made-up samples for networks with one input, often zero, and two black-box rewards.
template <class S>
struct TwoRewards {
  static constexpr int features = 21;
  std::vector<S> x, first, second;
  explicit TwoRewards(int samples) {
    Dice dice(41);
    for (int i = 0; i < samples * features; ++i)
      x.push_back(dice.chance(0.4) ? S(0) : static_cast<S>(dice.between(-1, 1)));
    for (int i = 0; i < samples; ++i) {
      first.push_back(static_cast<S>(dice.between(-1, 1)));
      second.push_back(static_cast<S>(dice.between(-1, 1)));
    }
  }
  /// Of a network with an input x and the rewards r1 and r2.
  template <class Net>
  void run(const Net& net, const BasicModel<S>& model, BasicWorkspace<S>& run, int begin, int end,
           const BackwardOptions& options = {}) const {
    const auto from = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
    model.forward(run, {{net.x, {x.data() + begin * features, end - begin, features}}});
    model.backward(
        run,
        {{net.r1, std::span(first).subspan(from, count)}, {net.r2, std::span(second).subspan(from, count)}},
        options);
  }
};

}  // namespace hindsight::testing
