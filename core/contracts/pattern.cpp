#include <hindsight/core/shape.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/memory.hpp>
#include <hindsight/core/random.hpp>
#include <hindsight/core/report.hpp>

namespace hindsight {
namespace {

using Lists = std::vector<std::vector<int>>;

/// Which pairs of all that the units of a graph could form are joined. Those between are skipped: the time to
/// draw grows with what is joined. Units are cut into blocks by their numbers in the graph, and every child
/// draws for every block by itself: so no pair depends on which nodes the units are gathered into.
class DrawnPairs {
 public:
  DrawnPairs(double density, std::uint64_t seed)
      : log_apart_(std::log1p(-density)), key_(seed ^ std::bit_cast<std::uint64_t>(density)) {
    constexpr double joined_per_block = 8;
    while (block_bits_ < 31 && std::ldexp(density, block_bits_) < joined_per_block) ++block_bits_;
  }

  void add_parents(std::vector<int>& parents, const UnitRange& range, std::uint32_t child) const {
    const std::uint32_t first = range.first_unit, last = first + static_cast<std::uint32_t>(range.units) - 1;
    const double block_size = std::ldexp(1.0, block_bits_);
    for (std::uint32_t block = first >> block_bits_; block <= last >> block_bits_; ++block) {
      const double begin = block * block_size, end = std::min(begin + block_size, last + 1.0);
      std::uint32_t draws = 0;
      for (double unit = begin + skipped(child, block, draws); unit < end;
           unit += 1 + skipped(child, block, draws))
        if (unit >= first) parents.push_back(static_cast<int>(unit - first));
    }
  }

 private:
  /// How many are not joined before the next that is.
  double skipped(std::uint32_t child, std::uint32_t block, std::uint32_t& draws) const {
    const auto words = philox(key_, {stream_word(Purpose::pattern, 0), child, block, draws++});
    const double uniform = (words[0] + words[1] * 0x1p-32) * 0x1p-32;
    // At density 1 the quotient is 0; a uniform that was rounded up to 1 would make it NaN there.
    return uniform < 1 ? std::floor(std::log1p(-uniform) / log_apart_) : 0;
  }

  double log_apart_;
  std::uint64_t key_;  ///< also of the density: blocks of other densities are other draws
  int block_bits_ = 0;
};

Lists draw(const RandomWiring& random, const UnitRange& parent, const UnitRange& child,
           const std::string& name) {
  const auto [density, seed] = random;
  if (!(density > 0 && density <= 1))
    refuse({.code = "pattern",
            .message = fmt::format("the edge from '{}' has density {}; it must lie above 0 and not above 1",
                                   name, density),
            .help = {
                fmt::format("Edge{{{}, Pattern::random(0.2, 1)}}   // a fifth of all pairs, seed 1", name)}});
  constexpr double bytes_per_pair = 24;  // while they are sorted both ways
  internal::require_memory(bytes_per_pair * density * parent.units * child.units,
                           fmt::format("the edge from '{}', wired unit by unit,", name),
                           "lower the density or the number of units, or make the edge dense");
  Lists lists(static_cast<std::size_t>(child.units));
  const DrawnPairs pairs(density, seed);
  for (std::size_t to = 0; to < lists.size(); ++to)
    pairs.add_parents(lists[to], parent, child.first_unit + static_cast<std::uint32_t>(to));
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
