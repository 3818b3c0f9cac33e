#pragma once

#include <cstddef>
#include <span>

#include <hindsight/core/report.hpp>

namespace hindsight {

/// Stochastic gradient ascent: parameters += rate · gradient.
class Sgd {
 public:
  struct Options {
    double rate = 0.01;
  };

  explicit Sgd(Options options) : options_(options) {}

  void step(std::span<float> parameters, std::span<const float> gradient) const {
    ascend(parameters, gradient);
  }
  void step(std::span<double> parameters, std::span<const double> gradient) const {
    ascend(parameters, gradient);
  }

 private:
  template <class S>
  void ascend(std::span<S> parameters, std::span<const S> gradient) const {
    if (parameters.size() != gradient.size())
      refuse({.code = "gradient-size",
              .message = fmt::format("{} parameters cannot take a step along a gradient of {} numbers",
                                     parameters.size(), gradient.size()),
              .help = {"sgd.step(model.parameters(), run.gradient());   // of one and the same model"}});
    const S rate = static_cast<S>(options_.rate);
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] += rate * gradient[i];
  }

  Options options_;
};

}  // namespace hindsight
