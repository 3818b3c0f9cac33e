#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace hindsight {

/// Stochastic gradient ascent: parameters += rate · gradient.
class Sgd {
 public:
  struct Options {
    double rate = 0.01;
  };

  explicit Sgd(Options options) : options_(options) {}

  void step(std::span<float> parameters, std::span<const float> gradient) const;
  void step(std::span<double> parameters, std::span<const double> gradient) const;

 private:
  Options options_;
};

/// Gradient ascent with momentum (Polyak, 1964): velocity = decay · velocity + gradient, parameters += rate ·
/// velocity. Its state grows with the first step and belongs to one vector of parameters.
template <class S>
class BasicMomentum {
 public:
  struct Options {
    double rate = 0.01;
    double decay = 0.9;
  };
  /// All that it remembers; what a checkpoint keeps.
  struct State {
    std::vector<S> velocity = {};
  };

  /// Throws Error unless the decay lies in [0, 1).
  explicit BasicMomentum(Options options);

  void step(std::span<S> parameters, std::span<const S> gradient);

  const State& state() const { return state_; }
  void restore(State state) { state_ = std::move(state); }

 private:
  Options options_;
  State state_;
};

using Momentum = BasicMomentum<float>;

extern template class BasicMomentum<float>;
extern template class BasicMomentum<double>;

/// Adam (Kingma and Ba, 2015), ascending. Its state grows with the first step and belongs to one vector of
/// parameters.
template <class S>
class BasicAdam {
 public:
  struct Options {
    double rate = 0.001;
    double first_decay = 0.9;
    double second_decay = 0.999;
    double epsilon = 1e-8;
  };
  /// All that it remembers; what a checkpoint keeps.
  struct State {
    std::uint64_t steps = 0;
    std::vector<S> first_moment = {};
    std::vector<S> second_moment = {};
  };

  explicit BasicAdam(Options options) : options_(options) {}

  void step(std::span<S> parameters, std::span<const S> gradient);

  const State& state() const { return state_; }
  void restore(State state);

 private:
  Options options_;
  State state_;
};

using Adam = BasicAdam<float>;

extern template class BasicAdam<float>;
extern template class BasicAdam<double>;

}  // namespace hindsight
