#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <hindsight/core/baseline.hpp>
#include <hindsight/core/catalogue.hpp>

namespace hindsight {

/// The mean of past batches, of which older ones count less and less.
struct RunningMean {
  static constexpr std::string_view kind = "running-mean";
  double decay = 0.99;  ///< how much of a batch's say is left one batch later

  std::string name() const;
  int replicas() const { return 1; }
  /// The decayed sum of batch means, and of their shares.
  std::size_t state_size(std::size_t) const { return 2; }
  template <class S>
  void predict(const BaselineView<S>& view, std::span<const double> state, std::span<S> out) const;
  template <class S>
  void learn(const BaselineView<S>& view, std::span<double> state) const;

  static RunningMean read(AttributeReader& given);
  bool operator==(const RunningMean&) const = default;
};

/// The mean reward of the other samples of the same input. The workspace then runs each input `samples`
/// times, side by side.
struct LeaveOneOut {
  static constexpr std::string_view kind = "leave-one-out";
  int samples = 4;  ///< of each input; at least 2

  std::string name() const;
  int replicas() const { return samples; }
  std::size_t state_size(std::size_t) const { return 0; }
  template <class S>
  void predict(const BaselineView<S>& view, std::span<const double> state, std::span<S> out) const;
  template <class S>
  void learn(const BaselineView<S>&, std::span<double>) const {}

  static LeaveOneOut read(AttributeReader& given);
  bool operator==(const LeaveOneOut&) const = default;
};

/// A linear function of the inputs, learned by normalised least mean squares.
struct LinearCritic {
  static constexpr std::string_view kind = "linear-critic";
  double rate = 0.1;  ///< the share of a sample's error that learning from it takes away; below 2

  std::string name() const;
  int replicas() const { return 1; }
  /// One weight per feature, and the intercept.
  std::size_t state_size(std::size_t features) const { return features + 1; }
  template <class S>
  void predict(const BaselineView<S>& view, std::span<const double> state, std::span<S> out) const;
  template <class S>
  void learn(const BaselineView<S>& view, std::span<double> state) const;

  static LinearCritic read(AttributeReader& given);
  bool operator==(const LinearCritic&) const = default;
};

static_assert(Baseline<RunningMean> && Baseline<LeaveOneOut> && Baseline<LinearCritic>);

}  // namespace hindsight
