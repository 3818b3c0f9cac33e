#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hindsight/graph/graph_draft.hpp>

namespace hindsight::internal {

/// One token of the DOT language.
struct DotToken {
  enum class Kind { end, id, mark };

  Kind kind = Kind::end;
  std::string text;      ///< of an id without its quotes; of a mark "{", "->", …
  bool is_bare = false;  ///< an id that may be a keyword
  std::size_t line = 1;

  bool is(std::string_view wanted) const { return kind == Kind::mark && text == wanted; }
  /// Keywords are the same in capitals.
  bool is_keyword(std::string_view word) const;
};

/// Cuts DOT into tokens; comments and lines that begin with '#' are passed over.
class DotTokens {
 public:
  DotTokens(std::string_view text, const GraphDraft& draft) : text_(text), draft_(draft) { advance(); }

  const DotToken& next() const { return token_; }
  DotToken take();
  /// The next token is an id and '=' follows it.
  bool is_assignment() const;
  /// Takes the mark if it is next.
  bool accept(std::string_view mark);
  void expect(std::string_view mark, std::string_view after);
  std::string expect_id(std::string_view what);
  [[noreturn]] void refuse_next(const std::string& wanted) const;

 private:
  void advance();
  void skip_blanks();
  void read_quoted();
  /// What a backslash stands before in a quoted string.
  void read_escape();
  void read_markup();
  bool at(std::string_view prefix) const { return text_.substr(place_).starts_with(prefix); }
  /// Moves on, counting lines.
  void pass(std::size_t count);

  std::string_view text_;
  const GraphDraft& draft_;
  std::size_t place_ = 0, line_ = 1;
  DotToken token_;
};

}  // namespace hindsight::internal
