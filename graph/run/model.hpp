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
#include <hindsight/core/ids.hpp>
#include <hindsight/core/instruction_set.hpp>
#include <hindsight/core/matrix_view.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/validator.hpp>
#include <hindsight/graph/workspace.hpp>

namespace hindsight {

namespace internal {
template <class S>
struct Plan;
}

/// What an input is in every sample: samples × units; or in every row of samples, if baselines want several
/// samples of each.
template <class S>
struct InputValues {
  NodeId node;
  MatrixArgument<S> values;
};

/// What a reward was in every sample.
template <class S>
struct RewardValues {
  RewardId reward;
  MatrixArgument<S> values;
};

/// Outcomes to take instead of sampling: samples × units.
struct ClampedOutcomes {
  NodeId node;
  MatrixArgument<Outcome> outcomes;
};

struct ForwardOptions {
  std::vector<ClampedOutcomes> clamp = {};  ///< what has a name must outlive the call
  int samples = 0;                          ///< 0: as many as the inputs have or, without inputs, as fit
};

struct BackwardOptions {
  int of = 0;  ///< samples of the whole batch, said in every part of it; 0: this is the whole
  /// Add to the gradient of the parts before. Baselines learn from each part, after it.
  bool continues = false;
};

/// A stretch of the flat parameter vector, and so of every gradient.
struct ParameterRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

struct CompileOptions {
  std::uint64_t seed = 0;                              ///< of initial parameters and of all sampling
  std::optional<InstructionSet> instructions = {};     ///< none: the fastest this machine has
  double rerun_limit = ValidateOptions{}.rerun_limit;  ///< as in ValidateOptions
  double elimination_limit = ValidateOptions{}.elimination_limit;  ///< the same
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

  /// Estimates the gradient of the mean reward: messages, then credit, then the gradient.
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

  /// Samples of each input that the baselines want, side by side.
  int replicas() const;
  /// What the kernels run on.
  InstructionSet instructions() const;

  /// What `validate` said of the graph.
  const Report& report() const { return *report_; }

 private:
  friend internal::Access;

  internal::Kept<std::shared_ptr<const Report>> report_;
  internal::Kept<std::shared_ptr<const internal::Plan<S>>> plan_;
  std::vector<S> parameters_;
};

using Model = BasicModel<float>;

extern template class BasicModel<float>;
extern template class BasicModel<double>;

}  // namespace hindsight
