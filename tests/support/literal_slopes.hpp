#pragma once

#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <hindsight/graph/access.hpp>
#include <hindsight/graph/plan.hpp>
#include <hindsight/hindsight.hpp>

#include "support/chunk_nodes.hpp"
#include "support/shapes.hpp"

namespace hindsight::testing {

/// Σ_C Σ_c w_C(c)·log π_C(c) over all stochastic nodes of one sample of a run, computed from the plain
/// mathematics of the nodes in double, with the outcomes and credit of the run and one number changed: the
/// literal definition of slopes and gradients.
template <class S>
class LiteralObjective {
 public:
  /// Inputs as they were given: samples × units each, in order of addition.
  LiteralObjective(const Graph& graph, const BasicModel<S>& model, const BasicWorkspace<S>& run)
      : parameters(model.parameters().begin(), model.parameters().end()),
        graph_(graph),
        plan_(internal::Access::plan(model)),
        run_(run) {}

  double operator()(int sample) const {
    std::vector<std::vector<double>> features;
    double sum = 0;
    for (const NodeId node : graph_.nodes()) {
      features.push_back(features_of(node, sample, features));
      if (nudged_node == node) features.back()[nudged_feature] += nudge;
      if (graph_.is_stochastic(node)) sum += credited_log_probs(node, sample, features);
    }
    return sum;
  }

  /// By central differences; the step of 1e-5 leaves an error of about 1e-10.
  std::vector<double> slopes(NodeId node, int unit, int sample) {
    const auto width = static_cast<std::size_t>(graph_.shape(node).encoding.width);
    std::vector<double> found;
    for (std::size_t j = 0; j < width; ++j) {
      nudged_node = node;
      nudged_feature = static_cast<std::size_t>(unit) * width + j;
      nudge = 1e-5;
      const double above = (*this)(sample);
      nudge = -1e-5;
      found.push_back((above - (*this)(sample)) / 2e-5);
    }
    nudged_node = NodeId{};
    return found;
  }

  double gradient(std::size_t parameter) {
    const double kept = parameters[parameter];
    double difference = 0;
    for (const double step : {1e-5, -1e-5}) {
      parameters[parameter] = kept + step;
      for (int i = 0; i < run_.samples(); ++i) difference += (*this)(i) / (2 * step);
    }
    parameters[parameter] = kept;
    return difference;
  }

  std::vector<double> parameters;
  NodeId nudged_node{};
  std::size_t nudged_feature = 0;
  double nudge = 0;

 private:
  /// Calls `work` with the node as the type it has.
  template <class Work>
  static void with_node(const AnyNode& node, const Work& work) {
    const auto try_as = [&]<class... N>(std::type_identity<N>...) {
      const bool known = ((node.as<N>() && (work(*node.as<N>()), true)) || ...);
      if (!known) throw std::logic_error("a node of another type");
    };
    try_as(std::type_identity<Bernoulli>{}, std::type_identity<Categorical>{}, std::type_identity<Table>{},
           std::type_identity<SineVote>{}, std::type_identity<Tanh>{}, std::type_identity<Relu>{},
           std::type_identity<Sigmoid>{}, std::type_identity<Identity>{}, std::type_identity<SquareSums>{},
           std::type_identity<FeatureProduct>{}, std::type_identity<ChunkSineVote>{},
           std::type_identity<ChunkSquareSums>{});
  }

  const Placement& placement(NodeId node) const {
    return plan_.layout.placements[static_cast<std::size_t>(node.index)];
  }
  std::span<const double> theta(NodeId node) const {
    return std::span(parameters).subspan(placement(node).first_parameter, graph_.shape(node).parameter_count);
  }

  struct Gathered {
    std::vector<double> features;
    std::vector<Outcome> outcomes;
  };
  Gathered gather(NodeId node, int sample, const std::vector<std::vector<double>>& features) const {
    Gathered gathered;
    for (const Graph::Parent& parent : graph_.parents(node)) {
      const auto& read = features[static_cast<std::size_t>(parent.node.index)];
      gathered.features.insert(gathered.features.end(), read.begin(), read.end());
      for (int unit = 0; unit < graph_.shape(parent.node).units; ++unit)
        gathered.outcomes.push_back(
            graph_.is_stochastic(parent.node) ? run_.outcomes(parent.node)(sample, unit) : -1);
    }
    return gathered;
  }

  std::vector<double> features_of(NodeId node, int sample,
                                  const std::vector<std::vector<double>>& before) const {
    const NodeShape& shape = graph_.shape(node);
    std::vector<double> features;
    if (graph_.is_stochastic(node)) {
      for (int unit = 0; unit < shape.units; ++unit)
        for (int j = 0; j < shape.encoding.width; ++j)
          features.push_back(shape.encoding.value(run_.outcomes(node)(sample, unit), j));
    } else if (graph_.is_input(node)) {
      for (int unit = 0; unit < shape.units; ++unit)
        features.push_back(static_cast<double>(run_.values(node)(sample, unit)));
    } else {
      features.resize(static_cast<std::size_t>(shape.units));
      const Gathered read = gather(node, sample, before);
      const std::vector<ParentShape> parents = placement(node).parent_shapes();
      const Reading<double> reading{read.features, read.outcomes, parents};
      with_node(*graph_.node(node), [&](const auto& function) {
        using F = std::decay_t<decltype(function)>;
        if constexpr (SampleFunction<F>)
          function.evaluate(theta(node), reading, std::span(features));
        else if constexpr (ChunkFunction<F>)
          function.evaluate(theta(node), as_chunk(reading), one_sample(features));
      });
    }
    return features;
  }

  double credited_log_probs(NodeId node, int sample, const std::vector<std::vector<double>>& features) const {
    const auto credit = run_.credit(node);
    std::vector<double> log_probs(static_cast<std::size_t>(credit.cols()));
    const Gathered read = gather(node, sample, features);
    const std::vector<ParentShape> parents = placement(node).parent_shapes();
    const Reading<double> reading{read.features, read.outcomes, parents};
    with_node(*graph_.node(node), [&](const auto& stochastic) {
      using N = std::decay_t<decltype(stochastic)>;
      if constexpr (SampleNode<N>)
        stochastic.log_probs(theta(node), reading, std::span(log_probs));
      else if constexpr (ChunkNode<N>)
        stochastic.log_probs(theta(node), as_chunk(reading), one_sample(log_probs));
    });
    double sum = 0;
    for (std::ptrdiff_t k = 0; k < credit.cols(); ++k)
      if (credit(sample, k) != 0)
        sum += static_cast<double>(credit(sample, k)) * log_probs[static_cast<std::size_t>(k)];
    return sum;
  }

  const Graph& graph_;
  const internal::Plan<S>& plan_;
  const BasicWorkspace<S>& run_;
};

}  // namespace hindsight::testing
