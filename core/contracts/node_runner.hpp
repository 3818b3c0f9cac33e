#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/callback.hpp>

namespace hindsight::internal {

/// `reader` has a log-probability that is not a number once `changed` shows another outcome.
[[noreturn]] void refuse_not_a_number(const std::string& reader, std::string_view changed);

/// What blocks share that run one node from its mathematics, in whichever form that is written.
template <class S>
class NodeRunner {
 public:
  explicit NodeRunner(const Placement& placed)
      : at(placed),
        units(static_cast<std::size_t>(at.shape.units)),
        outcome_count(static_cast<std::size_t>(at.shape.outcome_count())),
        parameters(at.shape.parameter_count),
        parent_shapes(at.parent_shapes()) {
    for (const ParentPlace& parent : at.parents) {
      features += parent.from->features();
      parent_units += parent.from->units();
    }
  }

  std::span<const S> theta(const Frame<S>& frame) const {
    return std::span(frame.parameters + at.first_parameter, parameters);
  }
  /// Adds to the gradient of its parameters what `work` sums up from zero, in scratch unless the gradient
  /// starts.
  template <class Work>
  void add_chunk(const Frame<S>& frame, S* scratch, const Work& work) const {
    const std::span<S> gradient(frame.gradient + at.first_parameter, parameters);
    const std::span<S> sum = frame.starts_sum ? gradient : std::span(scratch, parameters);
    std::fill(sum.begin(), sum.end(), S(0));
    work(sum);
    if (!frame.starts_sum)
      for (std::size_t i = 0; i < parameters; ++i) gradient[i] += sum[i];
  }
  std::size_t table_rows() const { return units * outcome_count; }
  bool sends_messages() const {
    return std::any_of(at.parents.begin(), at.parents.end(), [](const auto& p) { return p.wants_messages; });
  }
  bool passes_slopes() const {
    return std::any_of(at.parents.begin(), at.parents.end(), [](const auto& p) { return p.wants_slopes; });
  }

  /// Calls a function that the user wrote.
  template <class Call>
  void guarded(std::string_view subject, const Call& function) const {
    guarded_call({"node-threw", &at.name, subject}, function);
  }

  /// Refuses a unit whose probabilities do not sum to one; `remedy` is a line for the node's log_probs. A NaN
  /// is left for the forward pass, which knows whether a parameter is to
  /// blame.
  void check_sum(std::size_t unit, double total, std::string_view remedy) const {
    constexpr double tolerance = std::is_same_v<S, float> ? 1e-4 : 1e-9;
    if (std::abs(total - 1) > tolerance) refuse_sum(unit, total, remedy);
  }
  /// A log-probability while `parent` shows an outcome that was not sampled. -∞ is one; NaN and +∞ are not,
  /// and would be taken for the mistake of whoever uses the evidence.
  S checked(S log_prob, const ParentPlace& parent) const {
    if (!(log_prob < std::numeric_limits<S>::infinity())) refuse_not_a_number(at.name, parent.from->name);
    return log_prob;
  }

  /// Zeroes what lies behind the samples of some rows.
  void clear_padding(const Frame<S>& frame, S* first_row, std::size_t rows) const {
    for (std::size_t row = 0; row < rows; ++row, first_row += frame.stride)
      std::fill(first_row + frame.samples, first_row + frame.lanes, S(0));
  }
  void sample(const Frame<S>& frame) const {
    for (int unit = 0; unit < at.shape.units; ++unit) sample_unit(frame, at, unit);
  }

  const Placement& at;
  const std::size_t units, outcome_count, parameters;
  const std::vector<ParentShape> parent_shapes;  ///< as readings show them
  std::size_t features = 0, parent_units = 0;    ///< of all that it reads

 private:
  [[noreturn]] void refuse_sum(std::size_t unit, double total, std::string_view remedy) const;
};

}  // namespace hindsight::internal
