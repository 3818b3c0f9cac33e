#include <hindsight/core/nearest_name.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>

namespace hindsight::internal {
namespace {

/// Letters longer than this are not compared: nothing of ours is called so.
constexpr std::size_t longest = 64;

/// Insertions, deletions, replacements and swaps of neighbours that turn one name into the other.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view written, std::span<const std::string> known) {
  if (written.size() > longest) return {};
  std::string nearest;
  // A name of one letter is near to no other.
  std::size_t fewest = std::min((written.size() + 2) / 3 + 1, written.size());
  for (const std::string& name : known) {
    if (std::max(name.size(), written.size()) - std::min(name.size(), written.size()) >= fewest) continue;
    if (const std::size_t count = edits(written, name); count < fewest) {
      fewest = count;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace hindsight::internal

namespace hindsight {

std::string did_you_mean(std::string_view written, std::span<const std::string> known) {
  const std::string nearest = internal::nearest_name(written, known);
  return nearest.empty() || nearest == written ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace hindsight
