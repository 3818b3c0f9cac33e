#include <hindsight/core/optimizers.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Core>

#include <hindsight/core/instruction_set.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/core/vector_kernels.hpp>

namespace hindsight {
namespace {

void check_size(std::size_t parameters, std::size_t gradient, std::string_view optimizer) {
  if (parameters != gradient)
    refuse({.code = "gradient-size",
            .message = fmt::format("{} parameters cannot take a step along a gradient of {} numbers",
                                   parameters, gradient),
            .help = {fmt::format(
                "{}.step(model.parameters(), run.gradient());   // of one and the same model", optimizer)}});
}

template <class S>
void ascend(std::span<S> parameters, std::span<const S> gradient, double rate) {
  check_size(parameters.size(), gradient.size(), "sgd");
  internal::vector_kernels<S>(available_instruction_sets().back())
      .add_scaled(parameters, gradient.data(), static_cast<S>(rate));
}

/// What an optimizer remembers is of other parameters.
[[noreturn]] void refuse_other_parameters(std::string_view optimizer, std::string_view line,
                                          std::size_t remembered, std::size_t given) {
  refuse({.code = "gradient-size",
          .message = fmt::format("this {} remembers {} parameters and cannot step {} of them", optimizer,
                                 remembered, given),
          .help = {fmt::format("{};   // one of its own for each model", line)}});
}

/// Optimizers pass several times over what belongs to so many parameters, while the nearest cache holds it.
constexpr std::size_t parameters_per_block = 1024;

template <class S>
using Numbers = Eigen::Array<S, Eigen::Dynamic, 1>;

/// work(begin, count) for one block of parameters after another.
template <class Work>
void for_each_block(std::size_t parameters, const Work& work) {
  for (std::size_t begin = 0; begin < parameters; begin += parameters_per_block)
    work(begin, static_cast<Eigen::Index>(std::min(parameters_per_block, parameters - begin)));
}

}  // namespace

void Sgd::step(std::span<float> parameters, std::span<const float> gradient) const {
  ascend(parameters, gradient, options_.rate);
}

void Sgd::step(std::span<double> parameters, std::span<const double> gradient) const {
  ascend(parameters, gradient, options_.rate);
}

template <class S>
BasicMomentum<S>::BasicMomentum(Options options) : options_(options) {
  if (!(options.decay >= 0 && options.decay < 1))
    refuse({.code = "optimizer-option",
            .message = fmt::format("a velocity that decays by {} does not settle", options.decay),
            .help = {"Momentum{{.rate = 0.01, .decay = 0.9}}   // at least 0, less than 1"}});
}

template <class S>
void BasicMomentum<S>::step(std::span<S> parameters, std::span<const S> gradient) {
  check_size(parameters.size(), gradient.size(), "momentum");
  if (state_.velocity.empty()) state_.velocity.assign(parameters.size(), S(0));
  if (parameters.size() != state_.velocity.size())
    refuse_other_parameters("Momentum", "Momentum momentum{{.rate = 0.01}}", state_.velocity.size(),
                            parameters.size());
  const auto rate = static_cast<S>(options_.rate), decay = static_cast<S>(options_.decay);
  for_each_block(parameters.size(), [&](std::size_t begin, Eigen::Index count) {
    Eigen::Map<Numbers<S>> velocity(state_.velocity.data() + begin, count);
    velocity = decay * velocity + Eigen::Map<const Numbers<S>>(gradient.data() + begin, count);
    Eigen::Map<Numbers<S>>(parameters.data() + begin, count) += rate * velocity;
  });
}

template <class S>
void BasicAdam<S>::step(std::span<S> parameters, std::span<const S> gradient) {
  check_size(parameters.size(), gradient.size(), "adam");
  if (state_.steps == 0) {
    state_.first_moment.assign(parameters.size(), S(0));
    state_.second_moment.assign(parameters.size(), S(0));
  }
  if (parameters.size() != state_.first_moment.size())
    refuse_other_parameters("Adam", "Adam adam{{.rate = 0.001}}", state_.first_moment.size(),
                            parameters.size());
  ++state_.steps;
  const auto steps = static_cast<double>(state_.steps);
  const auto first_decay = static_cast<S>(options_.first_decay),
             second_decay = static_cast<S>(options_.second_decay);
  const auto epsilon = static_cast<S>(options_.epsilon);
  const auto rate = static_cast<S>(options_.rate / (1 - std::pow(options_.first_decay, steps)));
  const auto correction = static_cast<S>(1 / (1 - std::pow(options_.second_decay, steps)));
  for_each_block(parameters.size(), [&](std::size_t begin, Eigen::Index count) {
    Eigen::Map<Numbers<S>> first(state_.first_moment.data() + begin, count);
    Eigen::Map<Numbers<S>> second(state_.second_moment.data() + begin, count);
    Eigen::Map<Numbers<S>> stepping(parameters.data() + begin, count);
    const Eigen::Map<const Numbers<S>> along(gradient.data() + begin, count);
    first = first_decay * first + (1 - first_decay) * along;
    second = second_decay * second + (1 - second_decay) * along * along;
    stepping += rate * first / ((second * correction).sqrt() + epsilon);
  });
}

template <class S>
void BasicAdam<S>::restore(State state) {
  if (state.first_moment.size() != state.second_moment.size())
    refuse({.code = "gradient-size",
            .message = fmt::format("a state of {} first and {} second moments does not belong together",
                                   state.first_moment.size(), state.second_moment.size()),
            .help = {"adam.restore(other.state());"}});
  state_ = std::move(state);
}

template class BasicMomentum<float>;
template class BasicMomentum<double>;
template class BasicAdam<float>;
template class BasicAdam<double>;

}  // namespace hindsight
