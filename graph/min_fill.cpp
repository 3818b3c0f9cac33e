#include <hindsight/graph/min_fill.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>

namespace hindsight {
namespace {

class MinFill {
 public:
  MinFill(std::vector<std::vector<int>> neighbours, std::span<const int> outcomes, double limit)
      : neighbours_(std::move(neighbours)), outcomes_(outcomes), limit_(limit), ranks_(outcomes.size()) {
    for (std::size_t v = 1; v < ranks_.size(); ++v) rate(v);
  }

  EliminationOrder run() {
    for (std::size_t left = outcomes_.size(); left > 1; --left) {
      const std::size_t next = best();
      const double entries = ranks_[next].entries;
      result_.entries += entries;
      if (entries > largest_) {
        largest_ = entries;
        result_.largest = neighbours_[next];
        result_.largest.insert(
            std::lower_bound(result_.largest.begin(), result_.largest.end(), static_cast<int>(next)),
            static_cast<int>(next));
      }
      if (result_.entries > limit_) {
        result_.is_complete = false;
        return std::move(result_);
      }
      result_.order.push_back(static_cast<int>(next));
      eliminate(next);
    }
    return std::move(result_);
  }

 private:
  static constexpr std::size_t too_large = std::numeric_limits<std::size_t>::max();

  struct Rank {
    std::size_t fill = 0;
    double entries = 0;
    bool is_gone = false;
  };

  bool are_joined(int a, int b) const {
    const std::vector<int>& of = neighbours_[static_cast<std::size_t>(a)];
    return std::binary_search(of.begin(), of.end(), b);
  }

  void rate(std::size_t variable) {
    const std::vector<int>& around = neighbours_[variable];
    Rank& rank = ranks_[variable];
    rank.entries = outcomes_[variable];
    for (const int other : around) rank.entries *= outcomes_[static_cast<std::size_t>(other)];
    rank.fill = 0;
    // Nothing that passes the limit will be taken, and its neighbours may be very many.
    if (rank.entries > limit_) {
      rank.fill = too_large;
      return;
    }
    for (std::size_t i = 0; i < around.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) rank.fill += are_joined(around[i], around[j]) ? 0 : 1;
  }

  std::size_t best() const {
    std::size_t best = 0;
    for (std::size_t v = 1; v < ranks_.size(); ++v) {
      if (ranks_[v].is_gone) continue;
      if (best == 0 ||
          std::tuple(ranks_[v].fill, ranks_[v].entries) < std::tuple(ranks_[best].fill, ranks_[best].entries))
        best = v;
    }
    return best;
  }

  void eliminate(std::size_t variable) {
    ranks_[variable].is_gone = true;
    const std::vector<int> around = std::move(neighbours_[variable]);
    std::vector<int> affected = around;
    for (const int one : around) {
      std::vector<int>& of = neighbours_[static_cast<std::size_t>(one)];
      std::vector<int> joined;
      std::set_union(of.begin(), of.end(), around.begin(), around.end(), std::back_inserter(joined));
      std::erase_if(joined, [&](int other) { return other == one || other == static_cast<int>(variable); });
      affected.insert(affected.end(), joined.begin(), joined.end());
      of = std::move(joined);
    }
    std::sort(affected.begin(), affected.end());
    affected.erase(std::unique(affected.begin(), affected.end()), affected.end());
    for (const int one : affected)
      if (one != 0) rate(static_cast<std::size_t>(one));
  }

  std::vector<std::vector<int>> neighbours_;
  std::span<const int> outcomes_;
  const double limit_;
  std::vector<Rank> ranks_;
  double largest_ = 0;
  EliminationOrder result_;
};

}  // namespace

EliminationOrder min_fill(std::vector<std::vector<int>> neighbours, std::span<const int> outcomes,
                          double limit) {
  return MinFill(std::move(neighbours), outcomes, limit).run();
}

}  // namespace hindsight
