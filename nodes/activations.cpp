#include <hindsight/nodes/activations.hpp>

#include <cmath>
#include <vector>

#include <hindsight/core/numerics.hpp>

namespace hindsight {
namespace {

template <class S>
S activate(Link link, S sum) {
  switch (link) {
    case Link::tanh:
      return std::tanh(sum);
    case Link::relu:
      return std::isnan(sum) || sum > 0 ? sum : S(0);
    case Link::sigmoid:
      return std::exp(-softplus(-sum));
    default:
      return sum;
  }
}

/// The derivative, from the value.
template <class S>
S slope_at(Link link, S value) {
  switch (link) {
    case Link::tanh:
      return 1 - value * value;
    case Link::relu:
      return value > 0 ? S(1) : S(0);
    case Link::sigmoid:
      return value * (1 - value);
    default:
      return 1;
  }
}

}  // namespace

template <Link link>
Shape Activation<link>::shape(std::span<const ParentShape> parents) const {
  return {.units = units, .parameters = LinearLayout(parents, units, 1).parameters(), .logits = 1};
}

template <Link link>
template <class S>
void Activation<link>::evaluate(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
  linear_logits(theta, reading, units, 1, out);
  for (S& value : out) value = activate(link, value);
}

template <Link link>
template <class S>
void Activation<link>::backpropagate(std::span<const S> theta, const Reading<S>& reading,
                                     std::span<const S> slopes, std::span<S> parameters,
                                     std::span<S> features) const {
  std::vector<S> delta(slopes.size());
  evaluate(theta, reading, std::span<S>(delta));
  for (std::size_t unit = 0; unit < delta.size(); ++unit)
    delta[unit] = slopes[unit] * slope_at(link, delta[unit]);
  accumulate_linear(reading, units, 1, std::span<const S>(delta), parameters);
  backpropagate_linear(theta, reading, units, 1, std::span<const S>(delta), features);
}

template <Link link>
void Activation<link>::initialise(const Initialisation& start, std::span<double> theta) const {
  initialise_glorot(start, 1, theta);
}

template <Link link>
template <class S>
Blocks<S> Activation<link>::lower(std::span<const Member<Activation>> group) {
  std::vector<const Placement*> places;
  for (const auto& member : group) places.push_back(member.at);
  return lower_linear<S>(places, link);
}

#define HINDSIGHT_INSTANTIATE_FOR(link, S)                                                                 \
  template void Activation<link>::evaluate(std::span<const S>, const Reading<S>&, std::span<S>) const;     \
  template void Activation<link>::backpropagate(std::span<const S>, const Reading<S>&, std::span<const S>, \
                                                std::span<S>, std::span<S>) const;                         \
  template Blocks<S> Activation<link>::lower<S>(std::span<const Member<Activation>>);
#define HINDSIGHT_INSTANTIATE(link)      \
  template struct Activation<link>;      \
  HINDSIGHT_INSTANTIATE_FOR(link, float) \
  HINDSIGHT_INSTANTIATE_FOR(link, double)

HINDSIGHT_INSTANTIATE(Link::tanh)
HINDSIGHT_INSTANTIATE(Link::relu)
HINDSIGHT_INSTANTIATE(Link::sigmoid)
HINDSIGHT_INSTANTIATE(Link::identity)

}  // namespace hindsight
