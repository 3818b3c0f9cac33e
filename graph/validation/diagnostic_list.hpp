#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::internal {

/// Writes the diagnostics of a report: of one severity and code the first ones, and of the rest only the
/// names of their nodes.
class DiagnosticList {
 public:
  struct Heading {
    Severity severity = Severity::error;
    std::string_view code;
    NodeId node;
  };

  /// Refers to both.
  DiagnosticList(const Graph& graph, Report& report) : graph_(graph), report_(report) {}

  void add(Diagnostic diagnostic);
  /// Asks for the words only if they are written out. Returns where; none: only the node's name is listed.
  std::optional<std::size_t> add(const Heading& heading, const std::function<Diagnostic()>& write);
  Diagnostic& operator[](std::size_t place) { return report_.diagnostics[place]; }

 private:
  struct Said {
    std::size_t times = 0;
    std::optional<std::size_t> further;  ///< where the report lists the rest
  };

  const Graph& graph_;
  Report& report_;
  std::map<std::pair<Severity, std::string_view>, Said> said_;
};

}  // namespace hindsight::internal
