#include <hindsight/graph/diagnostic_list.hpp>

#include <string>

namespace hindsight::internal {

void DiagnosticList::add(Diagnostic diagnostic) { report_.diagnostics.push_back(std::move(diagnostic)); }

std::optional<std::size_t> DiagnosticList::add(const Heading& heading,
                                               const std::function<Diagnostic()>& write) {
  Said& said = said_[{heading.severity, heading.code}];
  if (said.times++ < shown_per_code) {
    Diagnostic diagnostic = write();
    diagnostic.severity = heading.severity;
    diagnostic.code = heading.code;
    diagnostic.node = graph_.name(heading.node);
    add(std::move(diagnostic));
    return report_.diagnostics.size() - 1;
  }
  if (!said.further) {
    said.further = report_.further.size();
    report_.further.push_back({heading.severity, std::string(heading.code), {}});
  }
  report_.further[*said.further].nodes.push_back(graph_.name(heading.node));
  return std::nullopt;
}

}  // namespace hindsight::internal
