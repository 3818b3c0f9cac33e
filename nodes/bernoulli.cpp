#include <hindsight/nodes/bernoulli.hpp>

#include <cmath>

#include <fmt/format.h>

#include <hindsight/core/index.hpp>
#include <hindsight/core/numerics.hpp>
#include <hindsight/nodes/linear.hpp>
#include <hindsight/nodes/linear_factors.hpp>

namespace hindsight {

Shape Bernoulli::shape(std::span<const ParentShape> parents) const {
  if (!std::isfinite(values.zero) || !std::isfinite(values.one) || values.zero == values.one)
    refuse({.code = "values",
            .message = fmt::format("its values {} and {} must be finite and different, or its children "
                                   "could not tell its outcomes apart",
                                   values.zero, values.one),
            .help = {"Bernoulli{.values = zero_one}   // or minus_plus_one, the default"}});
  return {.units = units,
          .encoding = scalar_encoding({values.zero, values.one}),
          .parameters = internal::linear_parameters(parents, units, 1),
          .logits = 1};
}

Bernoulli Bernoulli::read(AttributeReader& given) {
  Bernoulli node{.units = given.count("units", 1), .values = {}};
  const std::vector<double> values = given.numbers("values");
  if (values.empty()) return node;
  if (values.size() != 2)
    refuse({.code = "values",
            .message = fmt::format("it has {} values; a Bernoulli has two, one per outcome", values.size()),
            .help = {"values=\"0,1\""}});
  node.values = {values[0], values[1]};
  return node;
}

void Bernoulli::write(Attributes& written) const {
  if (units != 1) written.set("units", units);
  if (values != TwoValues{}) written.set("values", std::vector{values.zero, values.one});
}

template <class S>
void Bernoulli::log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
  const std::span<S> logits = out.first(internal::index(units));
  internal::linear_logits(theta, reading, units, 1, logits);
  for (std::size_t unit = logits.size(); unit-- > 0;) {
    const S logit = logits[unit];
    out[2 * unit] = -softplus(logit);
    out[2 * unit + 1] = -softplus(-logit);
  }
}

template <class S>
static std::vector<S> logit_slopes(const Bernoulli& node, std::span<const S> theta, const Reading<S>& reading,
                                   std::span<const S> credit) {
  std::vector<S> log_prob(credit.size()), delta(internal::index(node.units));
  node.log_probs(theta, reading, std::span<S>(log_prob));
  for (std::size_t unit = 0; unit < delta.size(); ++unit)
    delta[unit] = credit[2 * unit + 1] * std::exp(log_prob[2 * unit]) -
                  credit[2 * unit] * std::exp(log_prob[2 * unit + 1]);
  return delta;
}

template <class S>
void Bernoulli::accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                           std::span<S> out) const {
  const std::vector<S> delta = logit_slopes(*this, theta, reading, credit);
  internal::accumulate_linear(reading, units, 1, std::span<const S>(delta), out);
}

template <class S>
void Bernoulli::backpropagate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                              std::span<S> out) const {
  const std::vector<S> delta = logit_slopes(*this, theta, reading, credit);
  internal::backpropagate_linear(theta, reading, units, 1, std::span<const S>(delta), out);
}

void Bernoulli::initialise(const Initialisation& start, std::span<double> theta) const {
  internal::initialise_glorot(start, 1, theta);
}

template <class S>
Blocks<S> Bernoulli::lower(std::span<const Member<Bernoulli>> group) {
  std::vector<const Placement*> places;
  for (const auto& member : group) places.push_back(member.at);
  return internal::lower_linear<S>(places, internal::LinkFunction::bernoulli);
}

template <class S>
std::unique_ptr<FactorTables<S>> Bernoulli::factors(std::vector<FactorGroup> groups) {
  return internal::linear_factors<S>(groups);
}

template void Bernoulli::log_probs(std::span<const float>, const Reading<float>&, std::span<float>) const;
template void Bernoulli::log_probs(std::span<const double>, const Reading<double>&, std::span<double>) const;
template void Bernoulli::accumulate(std::span<const float>, const Reading<float>&, std::span<const float>,
                                    std::span<float>) const;
template void Bernoulli::accumulate(std::span<const double>, const Reading<double>&, std::span<const double>,
                                    std::span<double>) const;
template void Bernoulli::backpropagate(std::span<const float>, const Reading<float>&, std::span<const float>,
                                       std::span<float>) const;
template void Bernoulli::backpropagate(std::span<const double>, const Reading<double>&,
                                       std::span<const double>, std::span<double>) const;
template Blocks<float> Bernoulli::lower<float>(std::span<const Member<Bernoulli>>);
template Blocks<double> Bernoulli::lower<double>(std::span<const Member<Bernoulli>>);
template std::unique_ptr<FactorTables<float>> Bernoulli::factors<float>(std::vector<FactorGroup>);
template std::unique_ptr<FactorTables<double>> Bernoulli::factors<double>(std::vector<FactorGroup>);

template AnyNode::AnyNode(Bernoulli);

}  // namespace hindsight
