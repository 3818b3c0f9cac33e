//  rain ──→ wet ──→ slip ──→ comfort      `wet` is a noisy-or, a kind of node the library does not have
//  hose ──↗
//
// A node is plain mathematics for one sample: what shape it has, how probable its outcomes are, and the
// gradient of their log-probabilities. Nothing to inherit; sampling and messages to parents follow from it.
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include <hindsight/hindsight.hpp>

using namespace hindsight;

/// Stays off only if every active parent fails to switch it on; parent i fails with probability σ(-θ_i).
struct NoisyOr {
  static constexpr std::string_view kind = "NoisyOr";

  Shape shape(std::span<const ParentShape> parents) const {
    std::size_t causes = 0;
    for (const ParentShape& parent : parents) causes += parent.units;
    return {
        .units = 1, .encoding = scalar_encoding({0, 1}), .parameters = {{"strength", causes}, {"leak", 1}}};
  }

  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    out[0] = log_sigmoid(-theta.back());  // the leak is always active
    for (std::size_t i = 0; i < reading.outcomes.size(); ++i)
      if (reading.outcomes[i] == 1) out[0] += log_sigmoid(-theta[i]);
    out[1] = std::log(-std::expm1(out[0]));
  }

  template <class S>
  void accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                  std::span<S> out) const {
    S log_prob[2];
    log_probs(theta, reading, std::span<S>(log_prob));
    // log P(on) falls by P(off)/P(on) for each unit that log P(off) rises.
    const S along_off = credit[0] - credit[1] * std::exp(log_prob[0] - log_prob[1]);
    for (std::size_t i = 0; i < theta.size(); ++i)
      if (i + 1 == theta.size() || reading.outcomes[i] == 1) out[i] -= along_off * sigmoid(theta[i]);
  }
};

static_assert(Node<NoisyOr>);

int main() {
  Graph graph;
  const NodeId rain = graph.add("rain", Bernoulli{.values = zero_one}, {});
  const NodeId hose = graph.add("hose", Bernoulli{.values = zero_one}, {});
  const NodeId wet = graph.add("wet", NoisyOr{}, {rain, hose});
  const NodeId slip = graph.add("slip", Table{.rows = {{0.99, 0.01}, {0.7, 0.3}}}, {wet});
  const RewardId comfort = graph.reward("comfort", {slip});
  fmt::print("{}\n\n", validate(graph));

  // The oracle sums over all sixteen joint outcomes: is the estimate unbiased with the new node in between?
  BasicModel<double> model = compile<double>(graph);
  model.parameters("wet/strength")(0) = 2.0;
  model.parameters("wet/leak")(0) = -3.0;
  const std::vector<RewardFunction> value{
      {comfort, [=](const JointOutcome& outcome) { return outcome(slip) == 1 ? -1.0 : 0.0; }}};
  const Enumeration exact = enumerate<double>(model, {}, value);
  fmt::print("expected comfort {:.4f} over {} joint outcomes\n", exact.rewards[0], exact.states);
  for (std::size_t i = 0; i < exact.gradient.size(); ++i)
    fmt::print("  parameter {}: exact gradient {:+.6f}, mean estimate {:+.6f}\n", i, exact.gradient[i],
               exact.estimate[i]);
}
