#pragma once

#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

/// One sample of a workspace, for functions of rewards.
template <class S>
class RunSource final : public JointOutcome::Source {
 public:
  explicit RunSource(const BasicWorkspace<S>& run, int sample = 0) : run_(run), sample_(sample) {}
  Outcome outcome(NodeId node, int unit) const override { return run_.outcomes(node)(sample_, unit); }
  double value(NodeId node, int unit) const override {
    return static_cast<double>(run_.values(node)(sample_, unit));
  }

 private:
  const BasicWorkspace<S>& run_;
  int sample_;
};

}  // namespace hindsight::testing
