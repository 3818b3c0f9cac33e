#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/instruction_set.hpp>
#include <hindsight/core/matrix_view.hpp>
#include <hindsight/graph/executor.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/validator.hpp>
#include <hindsight/graph/workspace.hpp>

namespace hindsight {

/// A stretch of the flat parameter vector, and so of every gradient.
struct ParameterRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

struct CompileOptions {
  std::uint64_t seed = 0;                           ///< of initial parameters and of all sampling
  std::optional<InstructionSet> instructions = {};  ///< none: the fastest this machine has
  double reevaluation_limit = ValidateOptions{}.reevaluation_limit;  ///< as in ValidateOptions
  double elimination_limit = ValidateOptions{}.elimination_limit;    ///< the same
};

/// A graph that is ready to run: an immutable plan and one flat vector of parameters. Running it changes only
/// the workspace, so several workspaces may share a model.
template <class S>
class BasicModel {
 public:
  /// Throws the report as Error if the graph is not admissible.
  BasicModel(const Graph&, const Catalogue&, const CompileOptions&);

  /// Memory for batches of up to `capacity` samples.
  BasicWorkspace<S> workspace(int capacity, const WorkspaceOptions& options = {}) const;

  /// Samples every node, from the inputs on.
  void forward(BasicWorkspace<S>& run, std::span<const InputValues<S>> inputs,
               const ForwardOptions& options = {}) const;
  void forward(BasicWorkspace<S>& run, std::initializer_list<InputValues<S>> inputs,
               const ForwardOptions& options = {}) const;

  /// Estimates the gradient of the mean reward: messages, then weights, then gradients.
  void backward(BasicWorkspace<S>& run, std::span<const RewardValues<S>> rewards,
                const BackwardOptions& options = {}) const;
  void backward(BasicWorkspace<S>& run, std::initializer_list<RewardValues<S>> rewards,
                const BackwardOptions& options = {}) const;

  /// All parameters, in canonical order: nodes as they were added; per node its edges, then its bias.
  std::span<S> parameters() { return parameters_; }
  std::span<const S> parameters() const { return parameters_; }
  /// One named piece, e.g. "a/weights/x" or "a/bias".
  MatrixView<S> parameters(std::string_view path);
  MatrixView<const S> parameters(std::string_view path) const;
  /// Where a node's parameters, or one named piece of them, lie in the flat vector.
  ParameterRange range(NodeId node) const;
  ParameterRange range(std::string_view path) const;
  /// The names of all pieces, in canonical order.
  std::vector<std::string> parameter_names() const;

  /// What `validate` said of the graph.
  const Report& report() const { return *report_; }
  const Plan<S>& plan() const { return *plan_; }

 private:
  std::shared_ptr<const Report> report_;
  std::shared_ptr<const Plan<S>> plan_;
  std::vector<S> parameters_;
};

using Model = BasicModel<float>;

extern template class BasicModel<float>;
extern template class BasicModel<double>;

}  // namespace hindsight
