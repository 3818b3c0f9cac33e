#include <algorithm>

#include <fmt/format.h>

#include <hindsight/core/numbers.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph_draft.hpp>

namespace hindsight::internal {
namespace {

/// As Python prints what belongs to an edge: {}, or {'weight': 0.5}.
bool is_dictionary(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r");
  return text.starts_with('{') && last != std::string_view::npos && text[last] == '}';
}

struct Words {
  std::vector<std::string_view> list;
  bool has_arrow = false;
};

Words words_of(std::string_view line) {
  constexpr std::string_view separators = " \t\r,;";
  Words words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
    if (line.empty()) return words;
    if (line.starts_with("->")) {
      words.has_arrow = true;
      line.remove_prefix(2);
      continue;
    }
    if (words.list.size() == 2 && is_dictionary(line)) return words;
    const std::size_t end = std::min({line.find_first_of(separators), line.find("->"), line.size()});
    words.list.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

bool is_heading(std::span<const std::string_view> words) {
  constexpr std::pair<std::string_view, std::string_view> headings[] = {
      {"source", "target"}, {"Source", "Target"}, {"from", "to"}, {"From", "To"}, {"parent", "child"}};
  return words.size() >= 2 && std::find(std::begin(headings), std::end(headings),
                                        std::pair(words[0], words[1])) != std::end(headings);
}

}  // namespace

/// "parent child" per line, with blanks, commas, semicolons or "->" between; a name alone is a node. A third
/// column of numbers, as other programs write weights, or of Python's dictionaries is passed over: here
/// weights are learned.
GraphDraft read_edge_list(std::string_view text, const std::string& file) {
  GraphDraft draft(file);
  bool is_first = true;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto [words, has_arrow] = words_of(row);
    if (words.empty() || words[0].starts_with('#') || words[0].starts_with('%') || words[0].starts_with("//"))
      continue;
    const bool heading = is_first && is_heading(words);
    is_first = false;
    if (heading) continue;
    if (words.size() > 3 || (words.size() == 3 && !internal::parse_number<double>(words[2])))
      draft.refuse_at(line,
                      {.code = "file-syntax",
                       .message = fmt::format("a line of an edge list is a parent and a child, but here "
                                              "are {} words, the third of them '{}'",
                                              words.size(), shortened(words[2])),
                       .help = {"a b", "or a file that begins with 'digraph'"}});
    if (has_arrow && words.size() < 2)
      draft.refuse_at(line, {.code = "file-syntax",
                             .message = fmt::format("an arrow joins two names, but here is only '{}'",
                                                    shortened(words[0])),
                             .help = {"a -> b"}});
    const std::uint32_t from = draft.node(words[0], line).node;
    if (words.size() > 1) draft.add_edge(from, draft.node(words[1], line).node, line);
  }
  return draft;
}

}  // namespace hindsight::internal
