// The patterns of edges, as files write them.
#include <algorithm>

#include <fmt/format.h>

#include <hindsight/core/numbers.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph_draft.hpp>

namespace hindsight::internal {

/// "0>1 0>5": unit of the parent, unit of the child.
static Pattern::Pairs to_pairs(std::string_view text) {
  constexpr std::string_view separators = " ,\t\n\r";
  Pattern::Pairs pairs;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
    if (text.empty()) return pairs;
    const std::string_view word = text.substr(0, text.find_first_of(separators));
    const std::size_t arrow = std::min(word.find('>'), word.size());
    const auto from = parse_number<int>(word.substr(0, arrow));
    const auto to = parse_number<int>(word.substr(std::min(arrow + 1, word.size())));
    if (!from || !to)
      refuse({.code = "bad-attribute",
              .message = fmt::format("the pattern holds '{}', which is no pair of units", shortened(word)),
              .help = {"pattern=\"0>1 0>5\"   // unit of the parent > unit of the child"}});
    pairs.emplace_back(*from, *to);
    text.remove_prefix(word.size());
  }
}

Pattern to_pattern(AttributeReader& given) {
  const bool drawn = given.has("density") || given.has("seed"), listed = given.has("pattern");
  if (drawn && listed)
    refuse(
        {.code = "bad-attribute",
         .message =
             "the edge has both a pattern, which lists its pairs, and a density or a seed, which draw them",
         .help = {"[density=0.2 seed=3]", "[pattern=\"0>1 0>5\"]"}});
  if (listed) return Pattern::pairs(to_pairs(given.text("pattern", "")));
  if (drawn) return Pattern::random(given.number("density", 1), given.seed("seed", 0));
  return Pattern::dense();
}

}  // namespace hindsight::internal
