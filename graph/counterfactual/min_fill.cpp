#include <hindsight/graph/min_fill.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include <hindsight/core/index.hpp>

namespace hindsight::internal {
namespace {

class MinFill {
 public:
  MinFill(std::vector<std::vector<int>> neighbours, std::span<const int> outcome_counts, double limit)
      : neighbours_(std::move(neighbours)),
        outcome_counts_(outcome_counts),
        limit_(limit),
        ranks_(outcome_counts.size()) {
    for (int v = 1; v < static_cast<int>(ranks_.size()); ++v) queue_.insert(ranks_[index(v)] = rank(v));
  }

  EliminationOrder run() {
    while (!queue_.empty()) {
      const auto [fill, entries, next] = *queue_.begin();
      result_.entries += entries;
      if (entries > largest_) {
        largest_ = entries;
        std::vector<int>& largest = result_.largest = neighbours_[index(next)];
        largest.insert(std::lower_bound(largest.begin(), largest.end(), next), next);
      }
      if (result_.entries > limit_) {
        result_.is_complete = false;
        return std::move(result_);
      }
      result_.order.push_back(next);
      queue_.erase(queue_.begin());
      eliminate(next, fill > 0);
    }
    return std::move(result_);
  }

 private:
  static constexpr std::size_t too_large = std::numeric_limits<std::size_t>::max();
  /// Edges that are missing among the neighbours, entries of the table, the variable.
  using Rank = std::tuple<std::size_t, double, int>;

  bool are_joined(int a, int b) const {
    const std::vector<int>& of = neighbours_[index(a)];
    return std::binary_search(of.begin(), of.end(), b);
  }

  Rank rank(int variable) const {
    const std::vector<int>& around = neighbours_[index(variable)];
    double entries = outcome_counts_[index(variable)];
    for (const int other : around) entries *= outcome_counts_[index(other)];
    // Nothing that passes the limit will be taken, and its neighbours may be very many.
    if (entries > limit_) return {too_large, entries, variable};
    std::size_t fill = 0;
    for (std::size_t i = 0; i < around.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) fill += are_joined(around[i], around[j]) ? 0 : 1;
    return {fill, entries, variable};
  }

  /// Neighbours lose the variable and are joined with each other. Where that takes new edges, it changes the
  /// rank of whatever is joined to both ends of one.
  void eliminate(int variable, bool adds_edges) {
    const std::vector<int> around = std::move(neighbours_[index(variable)]);
    std::vector<int> affected = around, further;
    for (const int one : around) {
      std::vector<int>& of = neighbours_[index(one)];
      if (adds_edges) {
        further.insert(further.end(), of.begin(), of.end());
        std::vector<int> joined;
        std::set_union(of.begin(), of.end(), around.begin(), around.end(), std::back_inserter(joined));
        of = std::move(joined);
      }
      std::erase_if(of, [&](int other) { return other == one || other == variable; });
    }
    std::sort(further.begin(), further.end());
    for (auto at = further.begin(); at != further.end();) {
      const auto end = std::upper_bound(at, further.end(), *at);
      if (end - at > 1 && *at != variable) affected.push_back(*at);
      at = end;
    }
    std::sort(affected.begin(), affected.end());
    affected.erase(std::unique(affected.begin(), affected.end()), affected.end());
    for (const int one : affected) {
      if (one == 0) continue;
      queue_.erase(ranks_[index(one)]);
      queue_.insert(ranks_[index(one)] = rank(one));
    }
  }

  std::vector<std::vector<int>> neighbours_;
  std::span<const int> outcome_counts_;
  const double limit_;
  std::vector<Rank> ranks_;
  std::set<Rank> queue_;
  double largest_ = 0;
  EliminationOrder result_;
};

}  // namespace

EliminationOrder min_fill(std::vector<std::vector<int>> neighbours, std::span<const int> outcome_counts,
                          double limit) {
  return MinFill(std::move(neighbours), outcome_counts, limit).run();
}

}  // namespace hindsight::internal
