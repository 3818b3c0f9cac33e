// The linear critic against its recurrence, number by number.
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/core/baseline.hpp>
#include <hindsight/estimators/baselines.hpp>

using namespace hindsight;

namespace {

/// Rows of samples, one per feature, with something beyond the samples that no critic may see.
template <class S>
struct Batch {
  Batch(int samples, std::size_t features, std::size_t stride)
      : inputs(features * stride, S(1e6)), rewards(stride, S(1e6)) {
    view = {.samples = samples,
            .stride = stride,
            .features = features,
            .inputs = inputs.data(),
            .rewards = rewards.data()};
    for (std::size_t i = 0; i < static_cast<std::size_t>(samples); ++i) {
      rewards[i] = static_cast<S>(std::cos(0.7 * static_cast<double>(i)));
      for (std::size_t j = 0; j < features; ++j)
        inputs[j * stride + i] = static_cast<S>(3 * std::sin(1.3 * static_cast<double>(i * features + j)));
    }
  }

  std::vector<S> inputs, rewards;
  BaselineView<S> view;
};

/// Features are summed in their order, after the intercept.
template <class S>
double value_by_hand(const BaselineView<S>& view, const std::vector<double>& state, std::size_t sample) {
  double sum = state.back();
  for (std::size_t j = 0; j < view.features; ++j)
    sum += state[j] * static_cast<double>(view.inputs[j * view.stride + sample]);
  return sum;
}

template <class S>
void learn_by_hand(const BaselineView<S>& view, std::vector<double>& state, double rate) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(view.samples); ++i) {
    double length = 1;
    for (std::size_t j = 0; j < view.features; ++j) {
      const auto input = static_cast<double>(view.inputs[j * view.stride + i]);
      length += input * input;
    }
    const double error = static_cast<double>(view.rewards[i]) - value_by_hand(view, state, i);
    const double step = rate * error / length;
    for (std::size_t j = 0; j < view.features; ++j)
      state[j] += step * static_cast<double>(view.inputs[j * view.stride + i]);
    state.back() += step;
  }
}

}  // namespace

// Numbers of samples around the widths of vectors, at addresses aligned and not. Each batch begins with what
// the one before it taught.
TEST_CASE_TEMPLATE("the linear critic has the bits of its recurrence, sample by sample", S, float, double) {
  const LinearCritic critic{.rate = 0.3};
  for (const std::size_t features : {0, 1, 2, 5, 16, 33})
    for (const int samples : {1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 63, 64, 65, 130})
      for (const std::size_t beyond : {0, 3}) {
        const Batch<S> batch(samples, features, static_cast<std::size_t>(samples) + beyond);
        std::vector<double> state(critic.state_size(features), 0.0), expected = state;
        CAPTURE(features);
        CAPTURE(samples);
        CAPTURE(beyond);
        for (int step = 0; step < 3; ++step) {
          std::vector<S> predicted(static_cast<std::size_t>(samples)), by_hand;
          for (std::size_t i = 0; i < predicted.size(); ++i)
            by_hand.push_back(static_cast<S>(value_by_hand(batch.view, expected, i)));
          critic.predict(batch.view, std::span<const double>(state), std::span<S>(predicted));
          CHECK(predicted == by_hand);
          critic.learn(batch.view, std::span<double>(state));
          learn_by_hand(batch.view, expected, critic.rate);
          CHECK(state == expected);
        }
      }
}

TEST_CASE("what a batch teaches the linear critic is what its parts teach it one after another") {
  const LinearCritic critic{.rate = 0.2};
  const Batch<float> batch(130, 21, 144);
  std::vector<double> whole(critic.state_size(21), 0.0);
  critic.learn(batch.view, std::span<double>(whole));
  for (const int first : {1, 8, 64, 101}) {
    std::vector<double> parts(whole.size(), 0.0);
    BaselineView<float> view = batch.view;
    view.samples = first;
    critic.learn(view, std::span<double>(parts));
    view.samples = batch.view.samples - first;
    view.inputs += first;
    view.rewards += first;
    critic.learn(view, std::span<double>(parts));
    CHECK(parts == whole);
  }
}

TEST_CASE("the linear critic learns nothing from no samples") {
  const Batch<float> batch(0, 3, 16);
  std::vector<double> state{1, -2, 3, 0.5};
  LinearCritic{}.learn(batch.view, std::span<double>(state));
  CHECK(state == std::vector<double>{1, -2, 3, 0.5});
}
