#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/diagnostic_list.hpp>
#include <hindsight/graph/violations.hpp>

namespace hindsight::internal {

/// Says of nodes that violate Assumption 1 what follows from it, with the routes that prove it.
class ViolationNotes {
 public:
  using Lines = std::vector<std::string>;

  /// Refers to all of them.
  ViolationNotes(const Graph& graph, const Contraction& contraction, DiagnosticList& diagnostics)
      : graph_(graph), contraction_(contraction), diagnostics_(diagnostics) {}

  /// It does no harm; the remark says why.
  void note(NodeId node, Severity severity, const std::function<std::string()>& remark);

  /// What was said of one node.
  struct Refusal {
    bool is_told = false;
    std::optional<std::size_t> shown = {};  ///< where; none: only the node's name is listed
  };
  /// An estimator needs the assumption there. Told once, with the lines for every reward that it concerns.
  void refuse(NodeId node, const std::function<Lines()>& help, Refusal& refusal);

 private:
  Diagnostic explained(NodeId node);

  const Graph& graph_;
  const Contraction& contraction_;
  DiagnosticList& diagnostics_;
  std::optional<WitnessSearch> witnesses_;  ///< made when the first is wanted
};

}  // namespace hindsight::internal
