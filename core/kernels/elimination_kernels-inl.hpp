// Sums over tables of logarithms, samples in the vector lanes. Compiled once per instruction set.
#if defined(HINDSIGHT_ELIMINATION_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HINDSIGHT_ELIMINATION_KERNELS_INL
#undef HINDSIGHT_ELIMINATION_KERNELS_INL
#else
#define HINDSIGHT_ELIMINATION_KERNELS_INL
#endif

#include <limits>

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <hindsight/core/elimination_kernels.hpp>
#include <hindsight/core/outcome_counter.hpp>

HWY_BEFORE_NAMESPACE();
namespace hindsight::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Where each table has the row of the present joint outcome.
template <class S>
struct TableRows {
  const S* first[most_tables];
  std::size_t count = 0;

  HWY_INLINE TableRows(std::span<const LogTable<S>> tables, const OutcomeCounter& counter, int lanes)
      : count(tables.size()) {
    for (std::size_t t = 0; t < count; ++t)
      first[t] = tables[t].first + counter.row(tables[t].strides) * static_cast<std::size_t>(lanes);
  }
  /// Σ tables, `offset` numbers further.
  HWY_INLINE hn::Vec<hn::ScalableTag<S>> sum(std::size_t offset) const {
    const hn::ScalableTag<S> d;
    auto total = hn::Load(d, first[0] + offset);
    for (std::size_t t = 1; t < count; ++t) total = hn::Add(total, hn::Load(d, first[t] + offset));
    return total;
  }
};

/// Calls value(rows, lane) for every joint outcome and vector of samples, and stores what it returns.
template <class S, class Value>
HWY_INLINE void fill_table(std::span<const LogTable<S>> tables, std::span<const int> outcome_counts,
                           int lanes, S* out, const Value& value) {
  const hn::ScalableTag<S> d;
  constexpr auto width = static_cast<std::size_t>(hn::MaxLanes(d));
  const auto row = static_cast<std::size_t>(lanes);
  OutcomeCounter counter(outcome_counts);
  do {
    const TableRows<S> rows(tables, counter, lanes);
    for (std::size_t i = 0; i < row; i += width) hn::Store(value(rows, i), d, out + i);
    out += row;
  } while (counter.advance());
}

template <class S>
void join(std::span<const LogTable<S>> tables, std::span<const int> outcome_counts, int lanes, S* out) {
  fill_table(tables, outcome_counts, lanes, out,
             [](const TableRows<S>& rows, std::size_t i) HWY_ATTR { return rows.sum(i); });
}

/// log(e^a + e^b). Where both are -∞ the difference is no number; it is replaced before it is used.
template <class S, class V>
HWY_INLINE V log_add(V a, V b) {
  const hn::ScalableTag<S> d;
  const auto larger = hn::Max(a, b);
  const auto nothing = hn::Eq(larger, hn::Set(d, -std::numeric_limits<S>::infinity()));
  const auto gap = hn::IfThenElse(nothing, hn::Zero(d), hn::Sub(hn::Min(a, b), larger));
  return hn::Add(larger, hn::Log1p(d, hn::Exp(d, hn::Max(gap, hn::Set(d, S(-1e4))))));
}

template <class S>
HWY_INLINE hn::Vec<hn::ScalableTag<S>> log_sum(const TableRows<S>& rows, int summed, std::size_t row,
                                               std::size_t lane) {
  const hn::ScalableTag<S> d;
  const auto impossible = hn::Set(d, -std::numeric_limits<S>::infinity());
  const auto outcome_count = static_cast<std::size_t>(summed);
  auto largest = rows.sum(lane);
  for (std::size_t k = 1; k < outcome_count; ++k) largest = hn::Max(largest, rows.sum(k * row + lane));
  const auto nothing = hn::Eq(largest, impossible);
  const auto reference = hn::IfThenElse(nothing, hn::Zero(d), largest);
  auto total = hn::Zero(d);
  for (std::size_t k = 0; k < outcome_count; ++k) {
    const auto gap = hn::Max(hn::Sub(rows.sum(k * row + lane), reference), hn::Set(d, S(-1e4)));
    total = hn::Add(total, hn::Exp(d, gap));
  }
  // The largest term alone is 1.
  const auto logarithm = hn::Log(d, hn::Max(total, hn::Set(d, S(1))));
  return hn::IfThenElse(nothing, impossible, hn::Add(reference, logarithm));
}

template <class S>
void sum_out(std::span<const LogTable<S>> tables, std::span<const int> outcome_counts, int summed, int lanes,
             S* out) {
  const auto row = static_cast<std::size_t>(lanes);
  if (summed == 2)
    fill_table(tables, outcome_counts, lanes, out, [&](const TableRows<S>& rows, std::size_t i) HWY_ATTR {
      return log_add<S>(rows.sum(i), rows.sum(row + i));
    });
  else
    fill_table(tables, outcome_counts, lanes, out, [&](const TableRows<S>& rows, std::size_t i) HWY_ATTR {
      return log_sum(rows, summed, row, i);
    });
}

template <class S>
void make_relative(const S* table, int outcome_count, const Outcome* sampled, int lanes, std::size_t stride,
                   S* rows) {
  const hn::ScalableTag<S> d;
  const hn::Rebind<Outcome, hn::ScalableTag<S>> narrow;
  constexpr auto width = static_cast<std::size_t>(hn::MaxLanes(d));
  const auto row = static_cast<std::size_t>(lanes);
  for (std::size_t i = 0; i < row; i += width) {
    hn::Vec<hn::ScalableTag<S>> outcome;
    if constexpr (sizeof(S) == sizeof(Outcome))
      outcome = hn::ConvertTo(d, hn::Load(narrow, sampled + i));
    else
      outcome = hn::PromoteTo(d, hn::Load(narrow, sampled + i));
    const auto is = [&](int k) HWY_ATTR { return hn::Eq(outcome, hn::Set(d, static_cast<S>(k))); };
    const auto entry = [&](int k)
                           HWY_ATTR { return hn::Load(d, table + static_cast<std::size_t>(k) * row + i); };
    auto reference = entry(0);
    for (int k = 1; k < outcome_count; ++k) reference = hn::IfThenElse(is(k), entry(k), reference);
    for (int k = 0; k < outcome_count; ++k)
      hn::Store(hn::IfThenZeroElse(is(k), hn::Sub(entry(k), reference)), d,
                rows + static_cast<std::size_t>(k) * stride + i);
  }
}

template <class S>
const EliminationKernels<S>& elimination_table() {
  static constexpr EliminationKernels<S> table{
      .join = join<S>, .sum_out = sum_out<S>, .make_relative = make_relative<S>};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace hindsight::internal
HWY_AFTER_NAMESPACE();

#endif
