#pragma once

#include <memory>
#include <utility>

#include <hindsight/graph/model.hpp>
#include <hindsight/graph/run_state.hpp>
#include <hindsight/graph/workspace.hpp>

namespace hindsight::internal {

/// What the library's own parts may see of models and workspaces.
struct Access {
  template <class S>
  static const Plan<S>& plan(const BasicModel<S>& model) {
    return *model.plan_;
  }
  template <class S>
  static double workspace_bytes(const BasicModel<S>& model, int capacity) {
    return RunState<S>::bytes(model.plan_.pointer(), capacity, {});
  }
  template <class S>
  static RunState<S>& state(BasicWorkspace<S>& run) {
    return *run.state_;
  }
  template <class S>
  static BasicWorkspace<S> workspace(std::unique_ptr<RunState<S>> state) {
    return BasicWorkspace<S>(std::move(state));
  }
};

}  // namespace hindsight::internal
