#include <hindsight/graph/violation_notes.hpp>

#include <algorithm>

namespace hindsight::internal {

Diagnostic ViolationNotes::explained(NodeId node) {
  if (!witnesses_) witnesses_.emplace(search_witnesses(graph_, contraction_));
  return explain(graph_, witnesses_->shortest(node).value());
}

void ViolationNotes::note(NodeId node, Severity severity, const std::function<std::string()>& remark) {
  diagnostics_.add({.severity = severity, .code = "assumption-1", .node = node}, [&] {
    Diagnostic diagnostic = explained(node);
    diagnostic.message += "; " + remark();
    diagnostic.help.clear();
    diagnostic.reason = Reason::none;
    return diagnostic;
  });
}

void ViolationNotes::refuse(NodeId node, const std::function<Lines()>& help, Refusal& refusal) {
  if (!refusal.is_told) {
    refusal.is_told = true;
    refusal.shown = diagnostics_.add({.code = "assumption-1", .node = node}, [&] {
      Diagnostic diagnostic = explained(node);
      const Lines offered = help();
      diagnostic.help.insert(diagnostic.help.begin(), offered.begin(), offered.end());
      diagnostic.reason = Reason::policy;
      return diagnostic;
    });
  } else if (refusal.shown) {
    Lines& lines = diagnostics_[*refusal.shown].help;
    for (const std::string& line : help())
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.insert(lines.end() - 1, line);
  }
}

}  // namespace hindsight::internal
