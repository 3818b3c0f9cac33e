#pragma once

/// The whole library: build a Graph, validate it, compile it into a Model, run it in a Workspace.

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/eigen.hpp>
#include <hindsight/core/ids.hpp>
#include <hindsight/core/matrix_view.hpp>
#include <hindsight/core/node.hpp>
#include <hindsight/core/numerics.hpp>
#include <hindsight/core/optimizers.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/estimators/baselines.hpp>
#include <hindsight/estimators/hnca.hpp>
#include <hindsight/estimators/reinforce.hpp>
#include <hindsight/estimators/straight_through.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/graph_file.hpp>
#include <hindsight/graph/microscope.hpp>
#include <hindsight/graph/model.hpp>
#include <hindsight/graph/oracle.hpp>
#include <hindsight/graph/topologies.hpp>
#include <hindsight/graph/validator.hpp>
#include <hindsight/graph/violations.hpp>
#include <hindsight/nodes/activations.hpp>
#include <hindsight/nodes/bernoulli.hpp>
#include <hindsight/nodes/categorical.hpp>
#include <hindsight/nodes/table.hpp>

namespace hindsight {

/// Every estimator and node type that ships. Auto takes HNCA where it is admissible and REINFORCE elsewhere.
Catalogue standard_catalogue();

inline Report validate(const Graph& graph, const ValidateOptions& options = {}) {
  return validate(graph, standard_catalogue(), options);
}

inline void estimate_with_first(Graph& graph, std::span<const AnyEstimator> estimators,
                                const ValidateOptions& options = {}) {
  estimate_with_first(graph, estimators, standard_catalogue(), options);
}

inline Comparison compare_estimators(const Graph& graph, std::span<const float> parameters, const Task& task,
                                     const MicroscopeOptions& options) {
  return compare_estimators(graph, standard_catalogue(), parameters, task, options);
}

inline Graph parse_graph(std::string_view text, GraphFormat format, const std::string& name = "graph") {
  return parse_graph(text, format, standard_catalogue(), name);
}
inline Graph read_graph(const std::filesystem::path& file) { return read_graph(file, standard_catalogue()); }
inline std::string to_dot(const Graph& graph) { return to_dot(graph, standard_catalogue()); }

template <class S = float>
BasicModel<S> compile(const Graph& graph, const Catalogue& catalogue, const CompileOptions& options = {}) {
  return BasicModel<S>(graph, catalogue, options);
}

template <class S = float>
BasicModel<S> compile(const Graph& graph, const CompileOptions& options = {}) {
  return BasicModel<S>(graph, standard_catalogue(), options);
}

}  // namespace hindsight
