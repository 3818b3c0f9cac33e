#include "tool/plan_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <hindsight/core/report.hpp>

#include "tool/atomic_file.hpp"
#include "tool/plain_text.hpp"

namespace hindsight::tool {
namespace {

constexpr std::size_t longest_plan = std::size_t{1} << 16U;

/// As it was written: whether a number fits is a matter of its key.
struct WrittenNumber {
  std::string digits;
};
using Item = std::variant<std::string, WrittenNumber>;

struct Entry {
  std::string key;
  int line = 0;
  bool is_list = false;
  std::vector<Item> items = {};
};

/// Takes a file apart from its beginning to its end.
class Scanner {
 public:
  Scanner(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  std::vector<Entry> entries() {
    std::vector<Entry> found;
    for (skip_lines(); !at_end(); skip_lines()) found.push_back(entry());
    return found;
  }

 private:
  [[noreturn]] void refuse_here(const std::string& what, const std::string& help) const {
    refuse(
        {.code = "sweep-plan", .message = what, .help = {help}, .place = fmt::format("{}:{}", file_, line_)});
  }

  bool at_end() const { return at_ == text_.size(); }
  char next() const { return at_end() ? '\n' : text_[at_]; }
  /// The rest of the line, for messages.
  std::string found() const {
    const std::string_view rest = text_.substr(at_, text_.find('\n', at_) - at_);
    return rest.empty() ? "the end of the line" : fmt::format("'{}'", one_line(std::string(rest), 40));
  }

  void skip_spaces() {
    while (!at_end() && (next() == ' ' || next() == '\t' || next() == '\r')) ++at_;
    if (!at_end() && next() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
  }
  void skip_lines() {
    for (skip_spaces(); !at_end() && next() == '\n'; skip_spaces()) {
      ++at_;
      ++line_;
    }
  }

  Entry entry() {
    const auto belongs = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
             c == '_';
    };
    const std::size_t begin = at_;
    while (!at_end() && belongs(next())) ++at_;
    Entry entry{.key = std::string(text_.substr(begin, at_ - begin)), .line = line_};
    if (entry.key.empty()) refuse_here("expected a key, found " + found(), "seeds = 2");
    skip_spaces();
    if (next() != '=')
      refuse_here(fmt::format("expected '=' after '{}', found {}", one_line(entry.key), found()),
                  "seeds = 2");
    ++at_;
    skip_spaces();
    entry.is_list = next() == '[';
    if (entry.is_list)
      read_list(entry);
    else
      entry.items.push_back(item(entry.key));
    skip_spaces();
    if (next() != '\n')
      refuse_here(
          fmt::format("'{}' is followed by {}", one_line(entry.key), found()),
          "rates = [-3, -2]   # several values stand in brackets, and every key on a line of its own");
    return entry;
  }

  void read_list(Entry& entry) {
    const auto expect = [&](bool right, const char* what) {
      if (!right)
        refuse_here(fmt::format("expected {} in the list of '{}', found {}", what, one_line(entry.key),
                                at_end() ? "the end of the file" : found()),
                    "rates = [-3, -2]");
    };
    ++at_;
    for (skip_lines(); next() != ']' || at_end(); skip_lines()) {
      expect(!at_end(), "']'");
      entry.items.push_back(item(entry.key));
      skip_lines();
      if (!at_end() && next() == ',')
        ++at_;
      else
        expect(!at_end() && next() == ']', "',' or ']'");
    }
    ++at_;
  }

  Item item(const std::string& key) {
    if (next() == '"' || next() == '\'') return text(key);
    const std::size_t begin = at_;
    if (next() == '-' || next() == '+') ++at_;
    while (!at_end() && next() >= '0' && next() <= '9') ++at_;
    const std::string_view digits = text_.substr(begin, at_ - begin);
    const bool ends = std::string_view(" \t\r\n,]#").find(next()) != std::string_view::npos;
    if (digits.find_first_of("0123456789") == std::string_view::npos || !ends) {
      at_ = begin;
      refuse_here(
          fmt::format("'{}' must be a text in quotes or a whole number, found {}", one_line(key), found()),
          "data = \"sample\"   # or seeds = 2, or rates = [-3, -2]");
    }
    return WrittenNumber{std::string(digits)};
  }

  std::string text(const std::string& key) {
    const char quote = text_[at_];
    const std::size_t begin = at_++;
    std::string read;
    for (; next() != '\n'; ++at_) {
      if (next() == quote) {
        ++at_;
        return read;
      }
      if (quote == '"' && next() == '\\') {
        ++at_;
        if (next() != '"' && next() != '\\')
          refuse_here(fmt::format("'{}' has a backslash before something else than \" or \\", one_line(key)),
                      "data = 'a\\b'   # between single quotes, backslashes are themselves");
      }
      if (static_cast<unsigned char>(next()) < ' ' || next() == 0x7F)
        refuse_here(fmt::format("'{}' has a control character in its text", one_line(key)),
                    "data = \"sample\"");
      read += next();
    }
    at_ = begin;
    refuse_here(fmt::format("expected the end of the text of '{}', found {}", one_line(key), found()),
                "data = \"sample\"");
  }

  std::string file_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

/// Puts what was read where it belongs.
class PlanReader {
 public:
  explicit PlanReader(const std::string& file) { plan_.source.file = file; }

  void take(const Entry& entry) {
    if (const auto [at, is_new] = plan_.source.lines.emplace(entry.key, entry.line); !is_new)
      refuse_at(entry, fmt::format("'{}' is given twice, first in line {}", entry.key, at->second),
                "keep one of the two");
    const auto is_key = [&](const auto& one) { return entry.key == one.key; };
    for (const auto& one : plan_texts)
      if (is_key(one)) plan_.*one.member = text(entry, single(entry));
    for (const auto& one : plan_numbers)
      if (is_key(one)) plan_.*one.member = number(entry, single(entry), one.bounds);
    for (const auto& one : plan_text_lists)
      if (is_key(one)) fill(plan_.*one.member, entry, [&](const Item& item) { return text(entry, item); });
    for (const auto& one : plan_number_lists)
      if (is_key(one))
        fill(plan_.*one.member, entry, [&](const Item& item) { return number(entry, item, one.bounds); });
    if (const std::vector<std::string> known = keys();
        std::find(known.begin(), known.end(), entry.key) == known.end())
      refuse_at(entry,
                fmt::format("there is no key '{}'{}", shortened(entry.key), did_you_mean(entry.key, known)),
                fmt::format("one of: {}", fmt::join(known, ", ")));
  }

  const SweepPlan& plan() const { return plan_; }

 private:
  [[noreturn]] void refuse_at(const Entry& entry, const std::string& what, const std::string& help) const {
    refuse({.code = "sweep-plan",
            .message = what,
            .help = {help},
            .place = fmt::format("{}:{}", plan_.source.file, entry.line)});
  }

  static std::vector<std::string> keys() {
    std::vector<std::string> keys;
    for (const auto& one : plan_texts) keys.emplace_back(one.key);
    for (const auto& one : plan_text_lists) keys.emplace_back(one.key);
    for (const auto& one : plan_number_lists) keys.emplace_back(one.key);
    for (const auto& one : plan_numbers) keys.emplace_back(one.key);
    return keys;
  }

  const Item& single(const Entry& entry) const {
    if (entry.is_list)
      refuse_at(entry, fmt::format("'{}' must be one value, found a list", entry.key),
                fmt::format("{} = …   # without brackets", entry.key));
    return entry.items.front();
  }
  template <class List, class Read>
  void fill(List& list, const Entry& entry, const Read& read) {
    list.clear();
    for (const Item& item : entry.items) list.push_back(read(item));
  }
  std::string text(const Entry& entry, const Item& item) const {
    if (const auto* written = std::get_if<WrittenNumber>(&item))
      refuse_at(entry,
                fmt::format("'{}' must be a text in quotes, found {}", entry.key, shortened(written->digits)),
                fmt::format("{} = \"…\"", entry.key));
    return std::get<std::string>(item);
  }
  int number(const Entry& entry, const Item& item, const Bounds& bounds) const {
    const auto refuse_number = [&](const std::string& found) {
      refuse_at(entry,
                fmt::format("'{}' must be a whole number from {} to {}, found {}", entry.key, bounds.lowest,
                            bounds.highest, found),
                "see examples/tool/experiments/sweeps/paper.toml");
    };
    if (const auto* written = std::get_if<std::string>(&item))
      refuse_number(fmt::format("the text \"{}\"", one_line(*written, 40)));
    const std::string& digits = std::get<WrittenNumber>(item).digits;
    const char* const begin = digits.data() + (digits.front() == '+' ? 1 : 0);
    int number = 0;
    const auto [end, problem] = std::from_chars(begin, digits.data() + digits.size(), number);
    if (problem != std::errc() || !bounds.contain(number)) refuse_number(shortened(digits));
    return number;
  }

  SweepPlan plan_;
};

}  // namespace

SweepPlan read_plan(const std::filesystem::path& file) {
  const std::string text = read_file(file, longest_plan);
  PlanReader reader(file.string());
  for (const Entry& entry : Scanner(file.string(), text).entries()) reader.take(entry);
  SweepPlan plan = reader.plan();
  if (plan.source.lines.empty())
    refuse({.code = "sweep-plan",
            .message = "the plan is empty",
            .help = {"see examples/tool/experiments/sweeps/paper.toml"},
            .place = file.string()});
  for (const char* key : {"depths", "units"})
    if (plan.source.lines.contains(key) && plan.source.lines.contains("topologies"))
      refuse({.code = "sweep-plan",
              .message = fmt::format("'{}' means nothing beside topologies", key),
              .help = {"topologies = [\"layered:units=64,depth=3\"]   # a topology has options of its own"},
              .place = plan.source.place(key)});
  check(plan);
  return plan;
}

}  // namespace hindsight::tool
