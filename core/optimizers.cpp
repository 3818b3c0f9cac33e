#include <hindsight/core/optimizers.hpp>

#include <fmt/format.h>

#include <hindsight/core/instruction_set.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/core/vector_kernels.hpp>

namespace hindsight {
namespace {

template <class S>
void ascend(std::span<S> parameters, std::span<const S> gradient, double rate) {
  if (parameters.size() != gradient.size())
    refuse({.code = "gradient-size",
            .message = fmt::format("{} parameters cannot take a step along a gradient of {} numbers",
                                   parameters.size(), gradient.size()),
            .help = {"sgd.step(model.parameters(), run.gradient());   // of one and the same model"}});
  vector_kernels<S>(available_instruction_sets().back())
      .add_scaled(parameters, gradient.data(), static_cast<S>(rate));
}

}  // namespace

void Sgd::step(std::span<float> parameters, std::span<const float> gradient) const {
  ascend(parameters, gradient, options_.rate);
}

void Sgd::step(std::span<double> parameters, std::span<const double> gradient) const {
  ascend(parameters, gradient, options_.rate);
}

}  // namespace hindsight
