#include "support/message_reference.hpp"

#include <algorithm>
#include <cmath>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/access.hpp>
#include <hindsight/graph/plan.hpp>
#include <hindsight/nodes/linear.hpp>

#include "support/random_graphs.hpp"

namespace hindsight::testing {
namespace {

using Long = long double;

/// log P(outcome); a lone logit is that of outcome 1.
Long log_probability(const std::vector<Long>& logits, Outcome outcome) {
  if (logits.size() == 1) {
    const Long l = outcome == 1 ? logits[0] : -logits[0];
    return l > 0 ? -std::log1p(std::exp(-l)) : l - std::log1p(std::exp(l));
  }
  const Long largest = *std::max_element(logits.begin(), logits.end());
  Long sum = 0;
  for (const Long logit : logits) sum += std::exp(logit - largest);
  return logits[static_cast<std::size_t>(outcome)] - largest - std::log(sum);
}

/// What one unit of a child reads from one unit of a parent.
struct EdgeShares {
  NodeId parent;
  int unit = 0;
  std::vector<std::vector<Long>> shares;  ///< per outcome of the parent and logit of the child
};

template <class S>
std::vector<EdgeShares> edges_into(const Graph& graph, const BasicModel<S>& model, NodeId child, int unit) {
  const Placement& at = internal::Access::plan(model).layout.placement(child);
  const auto logits = static_cast<std::size_t>(at.shape.logits);
  const internal::LinearLayout layout(at);
  std::vector<EdgeShares> edges;
  for (const internal::WeightRun& run : layout.runs(unit)) {
    const Encoding& encoding = *at.parents[run.parent].from->encoding();
    for (int j = 0; j < run.units; ++j) {
      EdgeShares& edge =
          edges.emplace_back(EdgeShares{graph.parents(child)[run.parent].node, run.first_unit + j, {}});
      for (Outcome u = 0; u < encoding.outcome_count; ++u) {
        std::vector<Long>& share = edge.shares.emplace_back(logits, 0.0L);
        for (std::size_t k = 0; k < logits; ++k)
          for (int f = 0; f < encoding.width; ++f)
            share[k] += static_cast<Long>(encoding.value(u, f)) *
                        static_cast<Long>(
                            model.parameters()[at.first_parameter + run.parameter + k * run.logit_stride +
                                               static_cast<std::size_t>(j * encoding.width + f)]);
      }
    }
  }
  return edges;
}

/// Half of how far apart two candidates put a logit.
Long half_range(const EdgeShares& edge) {
  Long widest = 0;
  for (std::size_t k = 0; k < edge.shares[0].size(); ++k) {
    const auto by_logit = [&](const auto& a, const auto& b) { return a[k] < b[k]; };
    const auto [least, most] = std::minmax_element(edge.shares.begin(), edge.shares.end(), by_logit);
    widest = std::max(widest, (*most)[k] - (*least)[k]);
  }
  return widest / 2;
}

}  // namespace

ForwardOptions JointSamples::clamp(const Graph& graph, int count) const {
  ForwardOptions options{.samples = count};
  for (const NodeId node : graph.nodes())
    if (!graph.is_input(node))
      options.clamp.push_back(
          {node, {of_node[internal::index(node)].data(), count, graph.shape(node).units}});
  return options;
}

JointSamples random_samples(const Graph& graph, int samples, std::uint64_t seed) {
  Dice dice(seed);
  JointSamples joint{samples, {}};
  for (const NodeId node : graph.nodes()) {
    std::vector<Outcome>& outcomes = joint.of_node.emplace_back();
    if (graph.is_input(node)) continue;
    for (int i = 0; i < samples * graph.shape(node).units; ++i)
      outcomes.push_back(dice.below(graph.shape(node).outcome_count()));
  }
  return joint;
}

template <class S>
std::vector<ExpectedEvidence> expected_evidence(const Graph& graph, const BasicModel<S>& model,
                                                const JointSamples& joint, NodeId node, bool inexact_logits) {
  const auto units = static_cast<std::size_t>(graph.shape(node).units),
             candidates = static_cast<std::size_t>(graph.shape(node).outcome_count());
  std::vector<ExpectedEvidence> expected(static_cast<std::size_t>(joint.samples) * units * candidates);
  for (const NodeId child : graph.children(node))
    for (int unit = 0; unit < graph.shape(child).units; ++unit) {
      const std::vector<EdgeShares> edges = edges_into(graph, model, child, unit);
      const Placement& at = internal::Access::plan(model).layout.placement(child);
      const auto logits = static_cast<std::size_t>(at.shape.logits);
      const std::size_t bias = at.first_parameter + internal::LinearLayout(at).bias(unit);
      for (int i = 0; i < joint.samples; ++i) {
        std::vector<Long> actual;
        Long terms = 0;
        for (std::size_t k = 0; k < logits; ++k)
          actual.push_back(static_cast<Long>(model.parameters()[bias + k]));
        for (const EdgeShares& edge : edges) {
          const auto v = static_cast<std::size_t>(joint.outcome(graph, edge.parent, i, edge.unit));
          for (std::size_t k = 0; k < logits; ++k) {
            actual[k] += edge.shares[v][k];
            terms += std::abs(edge.shares[v][k]);
          }
        }
        const Outcome own = joint.outcome(graph, child, i, unit);
        const Long before = log_probability(actual, own);
        const auto [least, most] = std::minmax_element(actual.begin(), actual.end());
        const Long apart = *most - *least;
        for (const EdgeShares& edge : edges) {
          if (edge.parent != node) continue;
          const Long half = half_range(edge), closed_form = std::exp(2 * std::min(half, 2.5L));
          const auto v = static_cast<std::size_t>(joint.outcome(graph, node, i, edge.unit));
          for (std::size_t u = 0; u < candidates; ++u) {
            if (u == v) continue;
            std::vector<Long> changed = actual;
            for (std::size_t k = 0; k < logits; ++k) changed[k] += edge.shares[u][k] - edge.shares[v][k];
            const Long message = log_probability(changed, own) - before;
            ExpectedEvidence& at_candidate =
                expected[(static_cast<std::size_t>(i) * units + static_cast<std::size_t>(edge.unit)) *
                             candidates +
                         u];
            at_candidate.value += message;
            at_candidate.epsilons += closed_form + 64 * std::abs(message);
            if (logits > 1) at_candidate.epsilons += apart + 2 * half;
            if (inexact_logits)
              at_candidate.epsilons += static_cast<Long>(edges.size() + 3) * terms + 4 * half;
          }
        }
      }
    }
  return expected;
}

template std::vector<ExpectedEvidence> expected_evidence(const Graph&, const BasicModel<float>&,
                                                         const JointSamples&, NodeId, bool);
template std::vector<ExpectedEvidence> expected_evidence(const Graph&, const BasicModel<double>&,
                                                         const JointSamples&, NodeId, bool);

}  // namespace hindsight::testing
