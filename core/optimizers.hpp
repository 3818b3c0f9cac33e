#pragma once

#include <span>

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

}  // namespace hindsight
