#include <hindsight/nodes/activations.hpp>

#include <cmath>
#include <vector>

#include <hindsight/core/numerics.hpp>
#include <hindsight/nodes/linear.hpp>

namespace hindsight {
namespace {

template <class S>
S activate(ActivationFunction function, S sum) {
  switch (function) {
    case ActivationFunction::tanh:
      return std::tanh(sum);
    case ActivationFunction::relu:
      return std::isnan(sum) || sum > 0 ? sum : S(0);
    case ActivationFunction::sigmoid:
      return std::exp(-softplus(-sum));
    default:
      return sum;
  }
}

/// The derivative, from the value.
template <class S>
S slope_at(ActivationFunction function, S value) {
  switch (function) {
    case ActivationFunction::tanh:
      return 1 - value * value;
    case ActivationFunction::relu:
      return value > 0 ? S(1) : S(0);
    case ActivationFunction::sigmoid:
      return value * (1 - value);
    default:
      return 1;
  }
}

constexpr internal::LinkFunction link_of(ActivationFunction function) {
  switch (function) {
    case ActivationFunction::tanh:
      return internal::LinkFunction::tanh;
    case ActivationFunction::relu:
      return internal::LinkFunction::relu;
    case ActivationFunction::sigmoid:
      return internal::LinkFunction::sigmoid;
    default:
      return internal::LinkFunction::identity;
  }
}

}  // namespace

template <ActivationFunction function>
Shape Activation<function>::shape(std::span<const ParentShape> parents) const {
  return {.units = units, .parameters = internal::linear_parameters(parents, units, 1), .logits = 1};
}

template <ActivationFunction function>
template <class S>
void Activation<function>::evaluate(std::span<const S> theta, const Reading<S>& reading,
                                    std::span<S> out) const {
  internal::linear_logits(theta, reading, units, 1, out);
  for (S& value : out) value = activate(function, value);
}

template <ActivationFunction function>
template <class S>
void Activation<function>::backpropagate(std::span<const S> theta, const Reading<S>& reading,
                                         std::span<const S> slopes, std::span<S> parameters,
                                         std::span<S> features) const {
  std::vector<S> delta(slopes.size());
  evaluate(theta, reading, std::span<S>(delta));
  for (std::size_t unit = 0; unit < delta.size(); ++unit)
    delta[unit] = slopes[unit] * slope_at(function, delta[unit]);
  internal::accumulate_linear(reading, units, 1, std::span<const S>(delta), parameters);
  internal::backpropagate_linear(theta, reading, units, 1, std::span<const S>(delta), features);
}

template <ActivationFunction function>
void Activation<function>::initialise(const Initialisation& start, std::span<double> theta) const {
  internal::initialise_glorot(start, 1, theta);
}

template <ActivationFunction function>
template <class S>
Blocks<S> Activation<function>::lower(std::span<const Member<Activation>> group) {
  std::vector<const Placement*> places;
  for (const auto& member : group) places.push_back(member.at);
  return internal::lower_linear<S>(places, link_of(function));
}

#define HINDSIGHT_INSTANTIATE_FOR(function, S)                                                             \
  template void Activation<function>::evaluate(std::span<const S>, const Reading<S>&, std::span<S>) const; \
  template void Activation<function>::backpropagate(std::span<const S>, const Reading<S>&,                 \
                                                    std::span<const S>, std::span<S>, std::span<S>) const; \
  template Blocks<S> Activation<function>::lower<S>(std::span<const Member<Activation>>);
#define HINDSIGHT_INSTANTIATE(function)      \
  template struct Activation<function>;      \
  HINDSIGHT_INSTANTIATE_FOR(function, float) \
  HINDSIGHT_INSTANTIATE_FOR(function, double)

HINDSIGHT_INSTANTIATE(ActivationFunction::tanh)
HINDSIGHT_INSTANTIATE(ActivationFunction::relu)
HINDSIGHT_INSTANTIATE(ActivationFunction::sigmoid)
HINDSIGHT_INSTANTIATE(ActivationFunction::identity)

template AnyNode::AnyNode(Tanh);
template AnyNode::AnyNode(Relu);
template AnyNode::AnyNode(Sigmoid);
template AnyNode::AnyNode(Identity);

}  // namespace hindsight
