#include <hindsight/core/diagnostics.hpp>

#include <hindsight/core/report.hpp>
#include <hindsight/core/terminal_text.hpp>

namespace hindsight {

std::string to_string(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return {};
}

std::string to_string(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "none";
    case Reason::biased:
      return "biased";
    case Reason::policy:
      return "policy";
    case Reason::cost:
      return "cost";
    case Reason::undefined:
      return "undefined";
  }
  return {};
}

std::string to_string(const Diagnostic& diagnostic) {
  return TerminalText(Colours::off).diagnostic(diagnostic);
}

Error::Error(Diagnostic diagnostic) {
  text_ = to_string(diagnostic);
  report_.diagnostics.push_back(std::move(diagnostic));
}

void refuse(Diagnostic diagnostic) { throw Error(std::move(diagnostic)); }

Error::Error(Report report) : report_(std::move(report)), text_(to_string(report_)) {}

}  // namespace hindsight
