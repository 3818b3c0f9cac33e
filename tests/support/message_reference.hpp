#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

/// What a candidate of one unit should have been told in one sample, and how many epsilons rounding may lead
/// away from it.
struct ExpectedEvidence {
  long double value = 0;
  long double epsilons = 0;
};

/// The outcomes of every node of a graph, sample after sample, whatever a model would have drawn. A node's
/// are samples × units; an input's are empty.
struct JointSamples {
  int samples = 0;
  std::vector<std::vector<Outcome>> of_node;

  Outcome outcome(const Graph& graph, NodeId node, int sample, int unit) const {
    return of_node[static_cast<std::size_t>(node.index)]
                  [static_cast<std::size_t>(sample * graph.shape(node).units + unit)];
  }
  /// The first `count` samples.
  ForwardOptions clamp(const Graph& graph, int count) const;
};

/// Independent and equally likely outcomes for all nodes of the graph.
JointSamples random_samples(const Graph& graph, int samples, std::uint64_t seed);

/// Σ over children of log P(child | candidate) - log P(child | sampled), by log-sigmoids and log-softmaxes of
/// plain sums in long double; samples × units·outcomes. Parents and children must have linear logits and no
/// inputs. The bound is, summed over edges,
///   e^{2·min(|h|, 2.5)}   for a closed form; 2|h| is how far apart candidates put a logit
///   64·|message|
///   how far apart the logits of a categorical child are and may be put: sums in log space round that
/// and, with `inexact_logits`, what sums of numbers lose that are not exact in the scalar.
template <class S>
std::vector<ExpectedEvidence> expected_evidence(const Graph& graph, const BasicModel<S>& model,
                                                const JointSamples& joint, NodeId node, bool inexact_logits);

}  // namespace hindsight::testing
