#include <hindsight/core/shape.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/memory.hpp>
#include <hindsight/core/random.hpp>
#include <hindsight/core/report.hpp>

namespace hindsight {
namespace {

using Lists = std::vector<std::vector<int>>;

Lists draw(const RandomWiring& random, const UnitRange& parent, const UnitRange& child,
           const std::string& name) {
  const auto [density, seed] = random;
  if (!(density > 0 && density <= 1))
    refuse({.code = "pattern",
            .message = fmt::format("the edge from '{}' has density {}; it must lie above 0 and not above 1",
                                   name, density),
            .help = {
                fmt::format("Edge{{{}, Pattern::random(0.2, 1)}}   // a fifth of all pairs, seed 1", name)}});
  constexpr double most_draws = 0x1p34;  // about a minute
  if (static_cast<double>(parent.units) * child.units > most_draws)
    refuse({.code = "pattern",
            .message =
                fmt::format("the edge from '{}' would draw for {} × {} pairs one by one; {:.3g} is the most",
                            name, parent.units, child.units, most_draws),
            .help = {"list the pairs that are joined: Pattern::pairs({{0, 0}, …})"}});
  constexpr double bytes_per_pair = 24;  // while they are sorted both ways
  internal::require_memory(bytes_per_pair * density * parent.units * child.units,
                           fmt::format("the edge from '{}', wired unit by unit,", name),
                           "lower the density or the number of units, or make the edge dense");
  Lists lists(static_cast<std::size_t>(child.units));
  const std::uint32_t word = stream_word(Purpose::pattern, 0);
  for (std::size_t to = 0; to < lists.size(); ++to) {
    std::array<std::uint32_t, 4> words{};
    for (std::uint32_t from = 0; from < static_cast<std::uint32_t>(parent.units); ++from) {
      const std::uint32_t number = parent.first_unit + from;
      if (from == 0 || number % 4 == 0)
        words = philox(seed, {word, 0, child.first_unit + static_cast<std::uint32_t>(to), number / 4});
      if (to_uniform<double>(words[number % 4]) < density) lists[to].push_back(static_cast<int>(from));
    }
  }
  return lists;
}

Lists collect(const Pattern::Pairs& pairs, int parent_units, int child_units, const std::string& parent) {
  Lists lists(static_cast<std::size_t>(child_units));
  for (const auto& [from, to] : pairs) {
    if (from < 0 || from >= parent_units || to < 0 || to >= child_units)
      refuse(
          {.code = "pattern",
           .message = fmt::format(
               "the edge from '{}' joins unit {} to unit {}, but '{}' has {} units and the child {}", parent,
               from, to, parent, parent_units, child_units),
           .help = {fmt::format("keep pairs within (0 … {}, 0 … {})", parent_units - 1, child_units - 1)}});
    lists[static_cast<std::size_t>(to)].push_back(from);
  }
  for (std::size_t child = 0; child < lists.size(); ++child) {
    std::vector<int>& list = lists[child];
    std::sort(list.begin(), list.end());
    if (const auto twice = std::adjacent_find(list.begin(), list.end()); twice != list.end())
      refuse(
          {.code = "pattern",
           .message = fmt::format("the edge from '{}' joins unit {} to unit {} twice", parent, *twice, child),
           .help = {"list each pair once; one pair carries one weight"}});
  }
  return lists;
}

}  // namespace

Connectivity::Connectivity(const Lists& parents_of_unit) {
  begin_.push_back(0);
  std::vector<std::pair<int, int>> by_parent;
  for (std::size_t child = 0; child < parents_of_unit.size(); ++child) {
    for (const int parent : parents_of_unit[child]) by_parent.emplace_back(parent, static_cast<int>(child));
    parents_.insert(parents_.end(), parents_of_unit[child].begin(), parents_of_unit[child].end());
    begin_.push_back(parents_.size());
  }
  std::sort(by_parent.begin(), by_parent.end());
  for (const auto& [parent, child] : by_parent) {
    if (read_.empty() || read_.back() != parent) {
      read_.push_back(parent);
      read_begin_.push_back(children_.size());
    }
    children_.push_back(child);
  }
  read_begin_.push_back(children_.size());
}

std::span<const int> Connectivity::children_of(int parent_unit) const {
  const auto found = std::lower_bound(read_.begin(), read_.end(), parent_unit);
  if (found == read_.end() || *found != parent_unit) return {};
  const auto at = static_cast<std::size_t>(found - read_.begin());
  return std::span(children_).subspan(read_begin_[at], read_begin_[at + 1] - read_begin_[at]);
}

Pattern Pattern::random(double density, std::uint64_t seed) {
  Pattern pattern;
  pattern.how_ = How::random;
  pattern.random_ = {density, seed};
  return pattern;
}

Pattern Pattern::pairs(Pairs list) {
  Pattern pattern;
  pattern.how_ = How::pairs;
  pattern.pairs_ = std::move(list);
  return pattern;
}

std::optional<Connectivity> Pattern::connect(const UnitRange& parent, const UnitRange& child,
                                             const std::string& parent_name) const {
  if (is_dense()) return std::nullopt;
  const bool random = how_ == How::random;
  // Lists of both directions while they are made, and where each begins.
  constexpr double bytes_per_unit = sizeof(std::vector<int>) + sizeof(std::size_t);
  internal::require_memory(bytes_per_unit * child.units + 24.0 * static_cast<double>(pairs_.size()),
                           fmt::format("the edge from '{}', wired unit by unit,", parent_name),
                           "lower the number of units, or make the edge dense");
  Connectivity connectivity(random ? draw(random_, parent, child, parent_name)
                                   : collect(pairs_, parent.units, child.units, parent_name));
  if (random) connectivity.drawn_from_ = random_;
  if (connectivity.pairs() == 0)
    refuse({.code = "pattern",
            .message = fmt::format("the edge from '{}' joins no units at all", parent_name),
            .help = {random ? "raise the density, try another seed, or drop the edge"
                            : "list at least one pair, or drop the edge"}});
  return connectivity;
}

}  // namespace hindsight
