#include <algorithm>

#include <hindsight/core/callback.hpp>
#include <hindsight/graph/executor.hpp>
#include <hindsight/graph/parallel.hpp>

namespace hindsight {

/// The only part of the backward pass that has an order. A node's slopes are complete once all blocks of
/// later levels have passed theirs back; then its weights can be made of them, and only then can it pass
/// slopes on.
template <class S>
void Executor<S>::backpropagate(std::span<const PathwiseRun> pathwise) {
  if (plan_.sloped.empty()) return;
  for_each_item(chunks(), run_.threads_, [&](int chunk, int worker) {
    const Frame<S> at = frame(chunk, worker);
    for (const RowRange& rows : plan_.sloped)
      for (std::size_t row = rows.first; row < rows.last; ++row) std::fill_n(at.slope(row), at.lanes, S(0));
    auto next = pathwise.begin();
    for (auto block = plan_.blocks.rbegin(); block != plan_.blocks.rend(); ++block) {
      for (; next != pathwise.end() && next->level >= (*block)->level(); ++next) add_weights(at, *next);
      guarded_call({"node-threw", nullptr, "the backpropagate of a block"},
                   [&] { (*block)->backpropagate(at); });
    }
  });
}

template <class S>
void Executor<S>::add_weights(const Frame<S>& at, const PathwiseRun& run) const {
  const CreditRun& credit = run.credit;
  const LocalView<S> view{.units = credit.units,
                          .outcomes = credit.outcomes,
                          .samples = at.samples,
                          .stride = at.stride,
                          .log_probs = at.log_prob(credit.table_row),
                          .sampled = at.outcome(credit.unit_row),
                          .evidence = at.evidence_of(credit.table_row),
                          .instructions = at.instructions,
                          .slopes = at.slope(run.feature_row),
                          .encoding = run.encoding};
  guarded_call({"estimator-threw", &credit.node, "its estimator"}, [&] {
    credit.estimator.add_weights(view, WeightTable<S>{&view, at.weight(credit.table_row)});
  });
  check_weights(at, credit);
}

template void Executor<float>::backpropagate(std::span<const PathwiseRun>);
template void Executor<double>::backpropagate(std::span<const PathwiseRun>);
template void Executor<float>::add_weights(const Frame<float>&, const PathwiseRun&) const;
template void Executor<double>::add_weights(const Frame<double>&, const PathwiseRun&) const;

}  // namespace hindsight
