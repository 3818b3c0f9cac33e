#include <hindsight/graph/blame.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/core/vector_kernels.hpp>

namespace hindsight::internal {
namespace {

template <class S>
void refuse_bad_parameter(const Pass<S>& pass, const Placement& at) {
  const auto number = static_cast<int>(&at - pass.plan.layout.placements.data());
  for (const ParameterPlace& place : pass.plan.parameters.of(NodeId{number}))
    for (std::size_t i = 0; i < place.rows * place.cols; ++i)
      if (const S value = pass.parameters[place.first + i]; !std::isfinite(value))
        refuse({.code = "parameter-not-finite",
                .node = at.name,
                .message = fmt::format("parameter {} of '{}' is {}", i, place.path, value),
                .help = {"lower the learning rate, or load good parameters: learning has diverged"}});
}

template <class S>
[[noreturn]] void blame_log_probs(const Pass<S>& pass, std::size_t table_row, int sample) {
  const Placement& at = pass.plan.layout.owner(table_row);
  refuse_bad_parameter(pass, at);
  refuse(
      {.code = "log-probs-not-finite",
       .node = at.name,
       .message = fmt::format(
           "its log-probabilities are not numbers in sample {}, though its parameters are finite", sample),
       .help = {"logits have overflowed or log_probs is wrong: scale the inputs, or check the node by finite "
                "differences"}});
}

/// Of deterministic nodes in those rows of features.
template <class S>
void blame_function(const Pass<S>& pass, const Frame<S>& frame, const RowRange& rows) {
  for (const Placement& at : pass.plan.layout.placements) {
    if (at.feature_row < rows.first || at.feature_row >= rows.last) continue;
    for (std::size_t unit = 0; unit < index(at.shape.units); ++unit) {
      const S* const values = frame.feature(at.feature_row + unit);
      if (std::none_of(values, values + frame.samples, [](S value) { return std::isnan(value); })) continue;
      refuse_bad_parameter(pass, at);
      refuse({.code = "value-not-a-number",
              .node = at.name,
              .message = fmt::format(
                  "the value of its unit {} is not a number, though its parameters are finite", unit),
              .help = {"sums have overflowed or evaluate is wrong: scale the inputs, or check it by finite "
                       "differences"}});
    }
  }
}

}  // namespace

template <class S>
void refuse_nan(const Pass<S>& pass, const Frame<S>& at, int chunk) {
  const auto& kernels = vector_kernels<S>(at.instructions);
  const std::size_t samples = index(at.samples), table_rows = pass.plan.layout.table_rows;
  for (const RowRange& rows : pass.plan.layout.slope_rows)
    if (kernels.any_nan(at.feature(rows.first), at.stride, rows.last - rows.first, samples))
      blame_function(pass, at, rows);
  if (!kernels.any_nan(at.log_probs, at.stride, table_rows, samples)) return;
  for (std::size_t row = 0; row < table_rows; ++row) {
    const S* const values = at.log_prob(row);
    const S* const bad = std::find_if(values, values + at.samples, [](S value) { return std::isnan(value); });
    if (bad != values + at.samples)
      blame_log_probs(pass, row, chunk * chunk_samples + static_cast<int>(bad - values));
  }
}

template <class S>
void refuse_infinite_credit(const Pass<S>& pass, const Frame<S>& at, const CreditRun& run) {
  const std::size_t rows = index(run.units) * index(run.outcome_count);
  if (vector_kernels<S>(at.instructions)
          .all_finite(at.credit(run.table_row), at.stride, rows, index(at.samples)))
    return;
  for (std::size_t row = run.table_row; row < run.table_row + rows; ++row) {
    const S* const values = at.credit(row);
    const S* const bad =
        std::find_if(values, values + at.samples, [](S value) { return !std::isfinite(value); });
    if (bad != values + at.samples)
      refuse({.code = "credit-not-finite",
              .node = pass.plan.layout.owner(row).name,
              .message =
                  fmt::format("its estimator {} gave the credit {} in sample {} for {}", run.estimator.name(),
                              *bad, bad - (pass.state.credit.data() + row * pass.state.stride),
                              run.reward == CreditRun::all_rewards
                                  ? "all rewards"
                                  : fmt::format("reward '{}'", pass.plan.rewards[index(run.reward)].name)),
              .help = {"check add_credit: it must give finite credit for finite signals"}});
  }
}

template void refuse_nan(const Pass<float>&, const Frame<float>&, int);
template void refuse_nan(const Pass<double>&, const Frame<double>&, int);
template void refuse_infinite_credit(const Pass<float>&, const Frame<float>&, const CreditRun&);
template void refuse_infinite_credit(const Pass<double>&, const Frame<double>&, const CreditRun&);

}  // namespace hindsight::internal
