#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

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

/// Another estimator to write instead, and why one would.
struct Alternative {
  std::string expression;  ///< as it stands in C++, e.g. "Reinforce{}"
  std::string remark;
  std::string in_file = {};  ///< as it stands in a graph file, e.g. "reinforce"; empty: in none
};

struct Verdict {
  bool admissible = true;
  bool unbiased = true;
  Reason reason = Reason::none;
  std::string why = {};
  std::vector<Alternative> alternatives = {};
};

/// A list that never changes, so that copies share it. Reads like a const std::vector.
template <class T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<T> items)
      : items_(items.empty() ? nullptr : std::make_shared<const std::vector<T>>(std::move(items))) {}
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  const T* begin() const { return items_ ? items_->data() : nullptr; }
  const T* end() const { return begin() + size(); }
  std::size_t size() const { return items_ ? items_->size() : 0; }
  bool empty() const { return size() == 0; }
  const T& operator[](std::size_t i) const { return (*items_)[i]; }

 private:
  std::shared_ptr<const std::vector<T>> items_;
};

/// What one catalogued estimator would be for one (node, reward) pair.
struct Opinion {
  std::string estimator;
  Verdict verdict;
};

/// How one node is credited by one reward downstream of it.
struct CreditVerdict {
  std::string node;
  std::string reward;
  std::string estimator;      ///< the one that will run
  std::string baseline = {};  ///< that the reward is compared with; empty: none
  bool automatic = true;      ///< chosen by Auto, not by the user
  Verdict verdict;            ///< on that estimator
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
  std::vector<CreditVerdict> credits;
  std::vector<Diagnostic> diagnostics;  ///< `validate` writes out the first 20 of a severity and code
  std::vector<Further> further;         ///< the rest of them: large graphs repeat themselves
  std::size_t edges = 0;
  std::size_t rewards = 0;

  /// No error: `compile` accepts the graph.
  bool admissible() const;
  /// How often something was found, written out or not.
  std::size_t count(std::string_view code) const;
  /// Assumption 1 holds at every node that was checked. A report without nodes, which could not be made or
  /// has nothing to check, does not say so.
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

/// For a message about a name that does not exist: "; did you mean 'units'?", or nothing if no known name is
/// near.
std::string did_you_mean(std::string_view written, std::span<const std::string> known);
/// For a message that quotes what somebody wrote: the text, or its beginning of at most that many bytes with
/// an ellipsis; cut between characters.
std::string shortened(std::string_view text, std::size_t bytes = 60);
/// For whatever people are shown: the text with all that a terminal would obey instead of showing it spelled
/// out. Control characters, marks that turn the direction of text and bytes that are no UTF-8 become
/// "\u001b", "\xff". Reports and what() are printable already.
std::string printable(std::string_view text);

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

  /// By hand: fmt::format_to would compile all of fmt's formatting again in every program.
  template <class Context>
  auto format(const hindsight::Report& report, Context& context) const {
    const std::string text = coloured ? to_coloured_string(report) : to_string(report);
    return std::copy(text.begin(), text.end(), context.out());
  }
};
