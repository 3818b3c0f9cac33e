#include <hindsight/nodes/categorical.hpp>

#include <vector>

#include <fmt/format.h>

#include <hindsight/core/index.hpp>
#include <hindsight/core/numerics.hpp>
#include <hindsight/nodes/linear.hpp>
#include <hindsight/nodes/linear_factors.hpp>

namespace hindsight {

Shape Categorical::shape(std::span<const ParentShape> parents) const {
  if (classes < 2)
    refuse({.code = "one-class",
            .message = fmt::format("a Categorical chooses among at least 2 classes, not {}", classes),
            .help = {"Categorical{.classes = 2}"}});
  return {.units = units,
          .encoding = one_hot_encoding(classes),
          .parameters = internal::linear_parameters(parents, units, classes),
          .logits = classes};
}

void Categorical::write(Attributes& written) const {
  written.set("classes", classes);
  if (units != 1) written.set("units", units);
}

template <class S>
void Categorical::log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
  internal::linear_logits(theta, reading, units, classes, out);
  const std::size_t count = internal::index(classes);
  for (std::size_t first = 0; first < out.size(); first += count) log_softmax(out.data() + first, count);
}

template <class S>
static std::vector<S> logit_slopes(const Categorical& node, std::span<const S> theta,
                                   const Reading<S>& reading, std::span<const S> credit) {
  std::vector<S> delta(credit.size());
  node.log_probs(theta, reading, std::span<S>(delta));
  const std::size_t count = internal::index(node.classes);
  for (std::size_t first = 0; first < delta.size(); first += count) {
    S total = 0;
    for (std::size_t k = first; k < first + count; ++k) total += credit[k];
    for (std::size_t k = first; k < first + count; ++k)
      delta[k] = softmax_gradient(credit[k], delta[k], total);
  }
  return delta;
}

template <class S>
void Categorical::accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                             std::span<S> out) const {
  const std::vector<S> delta = logit_slopes(*this, theta, reading, credit);
  internal::accumulate_linear(reading, units, classes, std::span<const S>(delta), out);
}

template <class S>
void Categorical::backpropagate(std::span<const S> theta, const Reading<S>& reading,
                                std::span<const S> credit, std::span<S> out) const {
  const std::vector<S> delta = logit_slopes(*this, theta, reading, credit);
  internal::backpropagate_linear(theta, reading, units, classes, std::span<const S>(delta), out);
}

void Categorical::initialise(const Initialisation& start, std::span<double> theta) const {
  internal::initialise_glorot(start, classes, theta);
}

template <class S>
Blocks<S> Categorical::lower(std::span<const Member<Categorical>> group) {
  std::vector<const Placement*> places;
  for (const auto& member : group) places.push_back(member.at);
  return internal::lower_linear<S>(places, internal::LinkFunction::softmax);
}

template <class S>
std::unique_ptr<FactorTables<S>> Categorical::factors(std::vector<FactorGroup> groups) {
  return internal::linear_factors<S>(groups);
}

template void Categorical::log_probs(std::span<const float>, const Reading<float>&, std::span<float>) const;
template void Categorical::log_probs(std::span<const double>, const Reading<double>&,
                                     std::span<double>) const;
template void Categorical::accumulate(std::span<const float>, const Reading<float>&, std::span<const float>,
                                      std::span<float>) const;
template void Categorical::accumulate(std::span<const double>, const Reading<double>&,
                                      std::span<const double>, std::span<double>) const;
template void Categorical::backpropagate(std::span<const float>, const Reading<float>&,
                                         std::span<const float>, std::span<float>) const;
template void Categorical::backpropagate(std::span<const double>, const Reading<double>&,
                                         std::span<const double>, std::span<double>) const;
template Blocks<float> Categorical::lower<float>(std::span<const Member<Categorical>>);
template Blocks<double> Categorical::lower<double>(std::span<const Member<Categorical>>);
template std::unique_ptr<FactorTables<float>> Categorical::factors<float>(std::vector<FactorGroup>);
template std::unique_ptr<FactorTables<double>> Categorical::factors<double>(std::vector<FactorGroup>);

template AnyNode::AnyNode(Categorical);

}  // namespace hindsight
