#pragma once

#include <functional>

#include <hindsight/core/ids.hpp>

namespace hindsight {

/// What every unit was in one sample, as the function of a reward sees it.
class JointOutcome {
 public:
  /// Where it is kept. Both throw where there is no such unit.
  class Source {
   public:
    virtual ~Source() = default;
    virtual Outcome outcome(NodeId node, int unit) const = 0;
    virtual double value(NodeId node, int unit) const = 0;
  };
  /// Refers to the source.
  JointOutcome(const Source& source, int input_row) : source_(source), input_row_(input_row) {}

  /// Of a stochastic node.
  Outcome operator()(NodeId node, int unit = 0) const { return source_.outcome(node, unit); }
  /// Of an input or a deterministic node. The oracle asks black boxes before anything is computed: there
  /// only inputs have values.
  double value(NodeId node, int unit = 0) const { return source_.value(node, unit); }
  /// Which row of the inputs it goes with.
  int input_row() const { return input_row_; }

 private:
  const Source& source_;
  int input_row_;
};

/// A reward that can be asked for any outcomes, not only for those that happened. Called from every thread of
/// a workspace; what it returns may depend on nothing but what it reads.
using KnownReward = std::function<double(const JointOutcome&)>;

}  // namespace hindsight
