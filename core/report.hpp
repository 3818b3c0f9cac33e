#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <hindsight/core/diagnostics.hpp>
#include <hindsight/core/estimator.hpp>
#include <hindsight/core/shared_list.hpp>

namespace hindsight {

/// What one catalogued estimator would be for one (node, reward) pair.
struct Opinion {
  std::string estimator;
  Verdict verdict;
};

/// How one node is credited by one reward downstream of it.
struct Credit {
  std::string node;
  std::string reward;
  std::string estimator;  ///< the one that will run
  std::string baseline;   ///< that the reward is compared with; empty: none
  bool automatic = true;  ///< chosen by Auto, not by the user
  Verdict verdict;        ///< on that estimator
  std::string why;
  SharedList<Opinion> opinions;  ///< on every catalogued estimator
};

/// One node as the report lists it.
struct NodeSummary {
  std::string name;
  std::string kind;
  int units = 0;
  int level = 0;        ///< length of the longest route from a source
  bool checked = true;  ///< Assumption 1 was checked here (inputs: only in strict mode)
  bool deterministic = false;
  bool assumption_1 = true;  ///< it holds, or was not checked
};

/// How many diagnostics of one severity and code a report writes out.
inline constexpr std::size_t shown_per_code = 20;

/// Nodes of which the same can be said as in diagnostics that were written out, without the words.
struct Further {
  Severity severity = Severity::error;
  std::string code;
  std::vector<std::string> nodes;  ///< in the order of the diagnostics before them
};

/// All that was found about a graph, for people (format it) and for programs (read it).
struct Report {
  std::vector<NodeSummary> nodes;
  std::vector<Credit> credits;
  std::vector<Diagnostic> diagnostics;  ///< `validate` writes out the first 20 of a severity and code
  std::vector<Further> further;         ///< the rest of them: large graphs repeat themselves
  std::size_t edges = 0;
  std::size_t rewards = 0;

  /// No error: `compile` accepts the graph.
  bool admissible() const;
  /// How often something was found, written out or not.
  std::size_t count(std::string_view code) const;
  /// Assumption 1 holds at every node that was checked.
  bool assumption_1_holds() const;
};

std::string to_string(const Report&);
/// The same with colours for a terminal.
std::string to_coloured_string(const Report&);

/// The one exception type of the library. Its text is the report's.
class Error : public std::exception {
 public:
  explicit Error(Report report);
  explicit Error(Diagnostic diagnostic);

  const Report& report() const { return report_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Report report_;
  std::string text_;
};

/// Throws an Error that says one thing.
[[noreturn]] void refuse(Diagnostic diagnostic);

}  // namespace hindsight

/// `{}` is plain text; `{:c}` adds colours for a terminal.
template <>
struct fmt::formatter<hindsight::Report> {
  bool coloured = false;

  constexpr auto parse(format_parse_context& context) {
    auto at = context.begin();
    if (at != context.end() && *at == 'c') {
      coloured = true;
      ++at;
    }
    return at;
  }

  template <class Context>
  auto format(const hindsight::Report& report, Context& context) const {
    return fmt::format_to(context.out(), "{}", coloured ? to_coloured_string(report) : to_string(report));
  }
};
