#pragma once

#include <string>
#include <vector>

namespace hindsight {

enum class Severity { note, warning, error };

/// Why an estimator is refused, or what a user should know of it.
enum class Reason {
  none,       ///< nothing to say
  biased,     ///< its mean is not the gradient
  policy,     ///< unbiased, refused all the same because the paper's assumption does not hold
  cost,       ///< it would take more time or memory than the limit allows
  undefined,  ///< it has no meaning for this node
};

std::string to_string(Severity);
std::string to_string(Reason);

/// Names of nodes (or of single units, "a[3]"), each the parent of the next.
using Route = std::vector<std::string>;

/// One thing the user should know: the rule, where it applies, the proof, and what to write instead.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string code = {};
  std::string node = {};  ///< empty where no single node is concerned
  std::string message = {};
  std::vector<Route> witness = {};     ///< routes that prove it; every edge in them exists
  std::vector<std::string> help = {};  ///< lines to paste
  Reason reason = Reason::none;
  std::string place = {};  ///< "net.dot:3" where it is about a file
};

std::string to_string(const Diagnostic&);

}  // namespace hindsight
