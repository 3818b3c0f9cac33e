#include <hindsight/core/pattern.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/random.hpp>
#include <hindsight/core/report.hpp>

namespace hindsight {
namespace {

using Lists = std::vector<std::vector<int>>;

Lists draw(double density, std::uint64_t seed, int parent_units, int child_units, const std::string& parent) {
  if (!(density > 0 && density <= 1))
    refuse({.code = "pattern",
            .message = fmt::format("the edge from '{}' has density {}; it must lie above 0 and not above 1",
                                   parent, density),
            .help = {fmt::format("Edge{{{}, Pattern::random(0.2, 1)}}   // a fifth of all pairs, seed 1",
                                 parent)}});
  Lists lists(static_cast<std::size_t>(child_units));
  const std::uint32_t word = stream_word(Purpose::pattern, 0);
  for (int child = 0; child < child_units; ++child)
    for (int first = 0; first < parent_units; first += 4) {
      const auto words =
          philox(seed, {word, 0, static_cast<std::uint32_t>(child), static_cast<std::uint32_t>(first / 4)});
      for (int unit = first; unit < std::min(first + 4, parent_units); ++unit)
        if (to_uniform<double>(words[static_cast<std::size_t>(unit - first)]) < density)
          lists[static_cast<std::size_t>(child)].push_back(unit);
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

Connectivity::Connectivity(int parent_units, const Lists& parents_of_unit) {
  begin_.push_back(0);
  child_begin_.assign(static_cast<std::size_t>(parent_units) + 1, 0);
  for (const std::vector<int>& list : parents_of_unit) {
    parents_.insert(parents_.end(), list.begin(), list.end());
    begin_.push_back(parents_.size());
    for (const int parent : list) ++child_begin_[static_cast<std::size_t>(parent) + 1];
  }
  for (std::size_t i = 1; i < child_begin_.size(); ++i) child_begin_[i] += child_begin_[i - 1];
  children_.resize(parents_.size());
  std::vector<std::size_t> next(child_begin_.begin(), child_begin_.end() - 1);
  for (std::size_t child = 0; child < parents_of_unit.size(); ++child)
    for (const int parent : parents_of_unit[child])
      children_[next[static_cast<std::size_t>(parent)]++] = static_cast<int>(child);
}

Pattern Pattern::random(double density, std::uint64_t seed) {
  Pattern pattern;
  pattern.how_ = How::random;
  pattern.density_ = density;
  pattern.seed_ = seed;
  return pattern;
}

Pattern Pattern::pairs(Pairs list) {
  Pattern pattern;
  pattern.how_ = How::pairs;
  pattern.pairs_ = std::move(list);
  return pattern;
}

std::optional<Connectivity> Pattern::connect(int parent_units, int child_units,
                                             const std::string& parent) const {
  if (is_dense()) return std::nullopt;
  const bool random = how_ == How::random;
  const Lists lists = random ? draw(density_, seed_, parent_units, child_units, parent)
                             : collect(pairs_, parent_units, child_units, parent);
  Connectivity connectivity(parent_units, lists);
  if (connectivity.pairs() == 0)
    refuse({.code = "pattern",
            .message = fmt::format("the edge from '{}' joins no units at all", parent),
            .help = {random ? "raise the density, try another seed, or drop the edge"
                            : "list at least one pair, or drop the edge"}});
  return connectivity;
}

}  // namespace hindsight
