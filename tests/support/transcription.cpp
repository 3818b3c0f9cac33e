#include "support/transcription.hpp"

#include <cmath>
#include <cstddef>

namespace hindsight::testing {
namespace {

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

double softmax_of(const std::vector<double>& logits, int k) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  return std::exp(logits[static_cast<std::size_t>(k)]) / sum;
}

double shown(const PaperNeuron& neuron, int outcome) { return outcome == 1 ? neuron.high : neuron.low; }

/// x⃗: what the neuron receives from its parents, inputs first.
std::vector<double> received(std::span<const PaperNeuron> network, std::span<const double> inputs,
                             std::span<const int> outcomes, const PaperNeuron& neuron) {
  std::vector<double> x;
  for (const int i : neuron.inputs) x.push_back(inputs[static_cast<std::size_t>(i)]);
  for (const int p : neuron.parents)
    x.push_back(shown(network[static_cast<std::size_t>(p)], outcomes[static_cast<std::size_t>(p)]));
  return x;
}

/// l⃗ = Θx⃗ + b⃗
std::vector<double> logits_of(const PaperNeuron& neuron, const std::vector<double>& x) {
  std::vector<double> l = neuron.bias;
  for (std::size_t k = 0; k < l.size(); ++k)
    for (std::size_t i = 0; i < x.size(); ++i) l[k] += neuron.theta[k][i] * x[i];
  return l;
}

double probability(const std::vector<double>& l, int outcome) {
  if (l.size() > 1) return softmax_of(l, outcome);
  return outcome == 1 ? sigmoid_of(l[0]) : 1 - sigmoid_of(l[0]);
}

}  // namespace

std::vector<PaperGradient> paper_updates(std::span<const PaperNeuron> network, std::span<const double> inputs,
                                         std::span<const int> outcomes, double reward) {
  const std::size_t count = network.size();
  std::vector<std::vector<double>> x(count), l(count);
  std::vector<std::vector<double>> q1(count), q0(count);  // what each neuron receives from its children
  for (std::size_t n = 0; n < count; ++n) {
    x[n] = received(network, inputs, outcomes, network[n]);
    l[n] = logits_of(network[n], x[n]);
  }
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t p = 0; p < network[n].parents.size(); ++p) {
      const auto parent = static_cast<std::size_t>(network[n].parents[p]);
      const std::size_t i = network[n].inputs.size() + p;
      // l⃗₁ = l + θ⃗⊙(1 - x⃗) and l⃗₀ = l - θ⃗⊙x⃗, with the values the parent shows in place of 1 and 0
      std::vector<double> l1 = l[n], l0 = l[n];
      for (std::size_t k = 0; k < l[n].size(); ++k) {
        l1[k] += network[n].theta[k][i] * (network[parent].high - x[n][i]);
        l0[k] += network[n].theta[k][i] * (network[parent].low - x[n][i]);
      }
      q1[parent].push_back(probability(l1, outcomes[n]));
      q0[parent].push_back(probability(l0, outcomes[n]));
    }
  std::vector<PaperGradient> updates;
  for (std::size_t n = 0; n < count; ++n) {
    PaperGradient update{network[n].theta, network[n].bias};
    std::vector<double> factor(l[n].size());
    if (network[n].output) {
      for (std::size_t k = 0; k < factor.size(); ++k) {
        const bool happened = factor.size() > 1 ? outcomes[n] == static_cast<int>(k) : outcomes[n] == 1;
        factor[k] =
            ((happened ? 1.0 : 0.0) - probability(l[n], factor.size() > 1 ? static_cast<int>(k) : 1)) *
            reward;
      }
    } else {
      double product1 = 1, product0 = 1;
      for (const double q : q1[n]) product1 *= q;
      for (const double q : q0[n]) product0 *= q;
      const double p = sigmoid_of(l[n][0]);
      const double q_bar = p * product1 + (1 - p) * product0;
      factor[0] = p * (1 - p) * (product1 - product0) / q_bar * reward;
    }
    for (std::size_t k = 0; k < factor.size(); ++k) {
      for (std::size_t i = 0; i < x[n].size(); ++i) update.theta[k][i] = factor[k] * x[n][i];
      update.bias[k] = factor[k];
    }
    updates.push_back(std::move(update));
  }
  return updates;
}

}  // namespace hindsight::testing
