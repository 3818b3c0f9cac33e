#include <hindsight/core/callback.hpp>

#include <fmt/format.h>

namespace hindsight::internal {

void throw_failed(const Callback& callback, std::string_view what) {
  refuse({.code = std::string(callback.code),
          .node = callback.node ? *callback.node : "",
          .message = fmt::format("{} threw: {}", callback.subject, what),
          .help = {
              "let it answer whatever it is asked; to refuse with a reason of its own, let it throw Error"}});
}

void throw_refused(const Callback& callback, const Error& refusal) {
  Report report = refusal.report();
  for (Diagnostic& diagnostic : report.diagnostics)
    if (diagnostic.node.empty() && callback.node) diagnostic.node = *callback.node;
  throw Error(std::move(report));
}

}  // namespace hindsight::internal
