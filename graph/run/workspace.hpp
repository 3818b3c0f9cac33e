#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <hindsight/core/ids.hpp>
#include <hindsight/core/matrix_view.hpp>
#include <hindsight/core/random.hpp>

namespace hindsight {

namespace internal {
struct Access;
template <class S>
struct RunState;

[[noreturn]] void refuse_moved_from();

/// A pointer that is null only in what was moved from, where to use it is an error.
template <class Pointer>
class Kept {
 public:
  Kept() = default;
  Kept(Pointer pointer) : pointer_(std::move(pointer)) {}
  auto& operator*() const { return *pointer(); }
  auto* operator->() const { return pointer().get(); }
  const Pointer& pointer() const {
    if (!pointer_) refuse_moved_from();
    return pointer_;
  }

 private:
  Pointer pointer_;
};
}  // namespace internal

struct WorkspaceOptions {
  int threads = 1;  ///< that share the work; results are the same, bit for bit, for any number
  /// Samples of the largest batch that is to come in parts. Memory for their sums is taken at once; otherwise
  /// it is taken when the first part comes.
  int batch = 0;
};

/// Everything that changes while a model runs: outcomes, messages, credit, the gradient, the position in the
/// random stream. Belongs to one model (and its copies); all memory is taken at once, when it is made, but
/// for the sums of a batch that comes in parts and was not announced (WorkspaceOptions::batch).
template <class S>
class BasicWorkspace {
 public:
  BasicWorkspace(const BasicWorkspace& other);
  BasicWorkspace& operator=(const BasicWorkspace& other);
  BasicWorkspace(BasicWorkspace&&) noexcept;
  BasicWorkspace& operator=(BasicWorkspace&&) noexcept;
  ~BasicWorkspace();

  /// The most samples one batch may have.
  int capacity() const;
  /// Samples of the last forward pass.
  int samples() const;
  int threads() const;

  /// Samples × units.
  MatrixView<const Outcome> outcomes(NodeId node) const;
  /// Samples × units, of an input or a deterministic node.
  MatrixView<const S> values(NodeId node) const;
  /// Samples × units·outcomes: log π(outcome | parents).
  MatrixView<const S> log_probs(NodeId node) const;
  /// Samples × units·outcomes: log P(children | outcome) - log P(children | sampled outcome). Zero where no
  /// estimator asked for it; what more steps of hindsight say is not in it.
  MatrixView<const S> evidence(NodeId node) const;
  /// Evidence used for this reward, several steps included.
  MatrixView<const S> evidence(NodeId node, RewardId reward) const;
  /// Samples × units·outcomes: what the estimators made of the rewards, times the sample's share of the mean.
  MatrixView<const S> credit(NodeId node) const;

  /// Of the mean reward, in the order of the model's parameters.
  std::span<const S> gradient() const;
  /// The piece that belongs to the parameters of that name.
  MatrixView<const S> gradient(std::string_view path) const;

  /// What the reward was in every sample of the last backward pass.
  std::span<const S> rewards(RewardId reward) const;

  /// What all baselines remember; to be kept with the parameters of a run that is to go on.
  std::span<double> baselines();
  std::span<const double> baselines() const;

  StreamPosition position() const;
  void seek(const StreamPosition& position);

 private:
  friend internal::Access;
  explicit BasicWorkspace(std::unique_ptr<internal::RunState<S>> state);

  internal::Kept<std::unique_ptr<internal::RunState<S>>> state_;
};

using Workspace = BasicWorkspace<float>;

extern template class BasicWorkspace<float>;
extern template class BasicWorkspace<double>;

}  // namespace hindsight
