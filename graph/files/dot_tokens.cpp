#include <hindsight/graph/dot_tokens.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/printable.hpp>
#include <hindsight/core/report.hpp>

namespace hindsight::internal {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/// Of the number that the text begins with; 0: there is none.
std::size_t number_length(std::string_view text) {
  std::size_t end = text.starts_with('-') ? 1 : 0, digits = 0;
  const auto pass_digits = [&] {
    for (; end < text.size() && is_digit(text[end]); ++end) ++digits;
  };
  pass_digits();
  if (end < text.size() && text[end] == '.') {
    ++end;
    pass_digits();
  }
  return digits > 0 ? end : 0;
}

/// The digits after the first letter; 0: they are none.
char32_t hexadecimal(std::string_view text, std::size_t digits) {
  unsigned value = 0;
  const std::string_view number = text.substr(std::min<std::size_t>(1, text.size()), digits);
  const auto [stopped, problem] = std::from_chars(number.data(), number.data() + number.size(), value, 16);
  return problem == std::errc() && stopped == number.data() + number.size() ? value : 0;
}

/// None of those that are escaped takes more than three bytes.
void append_to(std::string& text, const Character& character) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  const char32_t code = character.code;
  if (!character.is_utf8 || code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0U | code >> 6U);
  } else {
    add(0xE0U | code >> 12U);
    add(0x80U | (code >> 6U & 0x3FU));
  }
  add(0x80U | (code & 0x3FU));
}

}  // namespace

bool DotToken::is_keyword(std::string_view word) const { return is_bare && lower_case(text) == word; }

DotToken DotTokens::take() {
  DotToken taken = std::move(token_);
  advance();
  return taken;
}

bool DotTokens::is_assignment() const {
  DotTokens ahead(*this);
  ahead.skip_blanks();
  return token_.kind == DotToken::Kind::id && ahead.at("=");
}

bool DotTokens::accept(std::string_view mark) {
  if (!token_.is(mark)) return false;
  advance();
  return true;
}

void DotTokens::expect(std::string_view mark, std::string_view after) {
  if (!accept(mark)) refuse_next(fmt::format("'{}' after {}", mark, after));
}

std::string DotTokens::expect_id(std::string_view what) {
  if (token_.kind != DotToken::Kind::id) refuse_next(std::string(what));
  return take().text;
}

void DotTokens::refuse_next(const std::string& wanted) const {
  const std::string found = token_.kind == DotToken::Kind::end
                                ? "the file ends"
                                : fmt::format("here is '{}'", shortened(token_.text));
  draft_.refuse_at(token_.line, {.code = "file-syntax",
                                 .message = fmt::format("{} is expected, but {}", wanted, found),
                                 .help = {"digraph net { x [kind=input units=784]; x -> h; }"}});
}

void DotTokens::pass(std::size_t count) {
  for (; count > 0; --count)
    if (text_[place_++] == '\n') ++line_;
}

void DotTokens::skip_blanks() {
  while (place_ < text_.size()) {
    const bool starts_line = place_ == 0 || text_[place_ - 1] == '\n';
    if (is_blank(text_[place_])) {
      pass(1);
    } else if (at("//") || (starts_line && at("#"))) {
      pass(std::min(text_.find('\n', place_), text_.size()) - place_);
    } else if (at("/*")) {
      const std::size_t end = text_.find("*/", place_ + 2);
      if (end == std::string_view::npos)
        draft_.refuse_at(
            line_,
            {.code = "file-syntax", .message = "a comment begins here and never ends", .help = {"/* … */"}});
      pass(end + 2 - place_);
    } else {
      return;
    }
  }
}

void DotTokens::advance() {
  skip_blanks();
  token_ = {.kind = DotToken::Kind::mark, .text = {}, .line = line_};
  if (place_ == text_.size()) {
    token_.kind = DotToken::Kind::end;
    return;
  }
  for (const std::string_view mark : {"->", "--", "{", "}", "[", "]", ";", ",", "=", ":"})
    if (at(mark)) {
      token_.text = mark;
      pass(mark.size());
      return;
    }
  token_.kind = DotToken::Kind::id;
  const char first = text_[place_];
  std::size_t end = place_;
  if (first == '"') return read_quoted();
  if (first == '<') return read_markup();
  if (is_letter(first)) {
    token_.is_bare = true;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
  } else {
    end += number_length(text_.substr(place_));
  }
  if (end == place_)
    draft_.refuse_at(line_, {.code = "file-syntax",
                             .message = fmt::format("no name, number or mark begins with '{}'", first),
                             .help = {"put names with other characters into quotes: \"a+b\""}});
  token_.text = text_.substr(place_, end - place_);
  pass(end - place_);
}

/// Strings joined by '+' are one.
void DotTokens::read_quoted() {
  const std::size_t first_line = line_;
  while (true) {
    pass(1);
    while (true) {
      const std::size_t stop = std::min(text_.find_first_of("\"\\", place_), text_.size());
      token_.text += text_.substr(place_, stop - place_);
      pass(stop - place_);
      if (place_ == text_.size())
        draft_.refuse_at(first_line, {.code = "file-syntax",
                                      .message = "a quoted name begins here and never ends",
                                      .help = {"end it with a quotation mark"}});
      if (text_[place_] == '"') break;
      read_escape();
    }
    pass(1);
    skip_blanks();
    if (!at("+")) return;
    pass(1);
    skip_blanks();
    if (!at("\""))
      draft_.refuse_at(line_, {.code = "file-syntax",
                               .message = "'+' joins two quoted strings, but no second one follows",
                               .help = {"\"a long \" + \"name\""}});
  }
}

/// As Graphviz has it, a backslash stays before anything but a quotation mark, a line break or a backslash;
/// to these we add what `dot_id` writes for characters that terminals would obey.
void DotTokens::read_escape() {
  const std::string_view rest = text_.substr(place_ + 1);
  const char after = rest.empty() ? '\0' : rest.front();
  if (after == '"' || after == '\\') token_.text += after;
  if (after == '"' || after == '\\' || after == '\n') return pass(2);
  const std::size_t digits = after == 'u' ? 4 : after == 'x' ? 2 : 0;
  const Character character{.bytes = 1, .code = hexadecimal(rest, digits), .is_utf8 = after == 'u'};
  if (digits == 0 || rest.size() <= digits || character.is_shown() ||
      rest.substr(0, digits + 1) != std::string_view(escaped(character)).substr(1) ||
      (!character.is_utf8 && character.code < 0x80)) {
    token_.text += '\\';
    return pass(1);
  }
  append_to(token_.text, character);
  pass(2 + digits);
}

/// Graphviz' labels in angle brackets: kept as they are.
void DotTokens::read_markup() {
  const std::size_t first_line = line_, first = place_;
  int depth = 0;
  do {
    if (place_ == text_.size())
      draft_.refuse_at(first_line, {.code = "file-syntax",
                                    .message = "a label in angle brackets begins here and never ends",
                                    .help = {"<…>"}});
    depth += text_[place_] == '<' ? 1 : text_[place_] == '>' ? -1 : 0;
    pass(1);
  } while (depth > 0);
  token_.text = text_.substr(first, place_ - first);
}

}  // namespace hindsight::internal
