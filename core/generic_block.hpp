#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <hindsight/core/block.hpp>
#include <hindsight/core/callback.hpp>

namespace hindsight {

/// One node of a group of nodes of type N.
template <class N>
struct Member {
  const N* node = nullptr;
  const Placement* at = nullptr;
};

/// A Node that passes slopes to its parents.
template <class N>
concept BackpropagatingNode = requires(const N node, std::span<const float> theta,
                                       const Reading<float>& reading, std::span<float> out,
                                       std::span<const double> theta_in_double,
                                       const Reading<double>& reading_in_double,
                                       std::span<double> out_in_double) {
  node.backpropagate(theta, reading, theta, out);
  node.backpropagate(theta_in_double, reading_in_double, theta_in_double, out_in_double);
};

/// What one node reads, gathered sample by sample from the rows of its parents.
template <class S>
class GatheredReading {
 public:
  explicit GatheredReading(const Placement& at) : at_(at) {
    for (const ParentPlace& parent : at.parents) {
      features_ += parent.shape.features();
      units_ += static_cast<std::size_t>(parent.shape.units);
    }
  }

  /// Takes the beginning of the frame's scratch, of which it needs features() and units().
  Reading<S> gather(const Frame<S>& frame, int sample) const {
    S* feature = frame.scratch;
    Outcome* outcome = frame.outcome_scratch;
    for (const ParentPlace& parent : at_.parents) {
      for (std::size_t row = 0; row < parent.shape.features(); ++row)
        *feature++ = frame.feature(parent.feature_row + row)[sample];
      for (std::size_t row = 0; row < static_cast<std::size_t>(parent.shape.units); ++row)
        *outcome++ = parent.shape.encoding ? frame.outcome(parent.unit_row + row)[sample] : Outcome(-1);
    }
    return {std::span(frame.scratch, features_), std::span(frame.outcome_scratch, units_), at_.parent_shapes};
  }

  /// Adds one sample's slopes, laid out like the reading's features, to those of the parents that want them.
  void add_slopes(const Frame<S>& frame, int sample, const S* slopes) const {
    for (const ParentPlace& parent : at_.parents) {
      if (parent.wants_slopes)
        for (std::size_t row = 0; row < parent.shape.features(); ++row)
          frame.slope(parent.feature_row + row)[sample] += slopes[row];
      slopes += parent.shape.features();
    }
  }

  std::size_t features() const { return features_; }
  std::size_t units() const { return units_; }
  bool wants_slopes() const {
    return std::any_of(at_.parents.begin(), at_.parents.end(), [](const auto& p) { return p.wants_slopes; });
  }

 private:
  const Placement& at_;
  std::size_t features_ = 0, units_ = 0;
};

/// Refuses log-probabilities that do not sum to one.
[[noreturn]] void throw_unnormalised(const std::string& node, int unit, double total);

/// Runs any node from its plain mathematics, sample by sample: messages by evaluating log_probs once per
/// candidate.
template <class S, class N>
class GenericBlock final : public Block<S> {
 public:
  explicit GenericBlock(Member<N> member)
      : node_(*member.node),
        at_(*member.at),
        reading_(at_),
        table_(static_cast<std::size_t>(at_.shape.units) * static_cast<std::size_t>(at_.shape.outcomes())) {}

  int level() const override { return at_.level; }

  void forward(const Frame<S>& frame) const override {
    for (int i = 0; i < frame.samples; ++i) {
      const Reading<S> reading = reading_.gather(frame, i);
      const std::span<S> table = first_table(frame);
      evaluate(frame, reading, table);
      check(table);
      for (std::size_t row = 0; row < table_; ++row) frame.log_prob(at_.table_row + row)[i] = table[row];
    }
    for (std::size_t row = 0; row < table_; ++row) {
      S* const padded = frame.log_prob(at_.table_row + row);
      std::fill(padded + frame.samples, padded + frame.lanes, S(0));
    }
    for (int unit = 0; unit < at_.shape.units; ++unit) settle_unit(frame, at_, unit);
  }

  void send_messages(const Frame<S>& frame) const override {
    const bool any =
        std::any_of(at_.parents.begin(), at_.parents.end(), [](const auto& p) { return p.wants_messages; });
    if (!any) return;
    for (int i = 0; i < frame.samples; ++i) {
      const Reading<S> reading = reading_.gather(frame, i);
      std::size_t feature = 0, unit = 0;
      for (const ParentPlace& parent : at_.parents) {
        if (parent.wants_messages) send_to(frame, i, reading, parent, feature, unit);
        feature += parent.shape.features();
        unit += static_cast<std::size_t>(parent.shape.units);
      }
    }
  }

  int rows() const override { return 1; }

  void accumulate(const Frame<S>& frame, int, int) const override {
    const std::span<S> weights = first_table(frame);
    S* const gradient = frame.gradient + at_.first_parameter;
    if (frame.starts_sum) std::fill_n(gradient, at_.shape.parameter_count(), S(0));
    for (int i = 0; i < frame.samples; ++i) {
      if (!load_weights(frame, i, weights)) continue;
      const Reading<S> reading = reading_.gather(frame, i);
      guarded("its accumulate", [&] {
        node_.accumulate(theta(frame), reading, std::span<const S>(weights),
                         std::span(gradient, at_.shape.parameter_count()));
      });
    }
  }

  void backpropagate(const Frame<S>& frame) const override {
    if constexpr (BackpropagatingNode<N>) {
      if (!reading_.wants_slopes()) return;
      const std::span<S> weights = first_table(frame);
      const std::span<S> slopes(frame.scratch + reading_.features() + 2 * table_, reading_.features());
      for (int i = 0; i < frame.samples; ++i) {
        if (!load_weights(frame, i, weights)) continue;
        const Reading<S> reading = reading_.gather(frame, i);
        std::fill(slopes.begin(), slopes.end(), S(0));
        guarded("its backpropagate",
                [&] { node_.backpropagate(theta(frame), reading, std::span<const S>(weights), slopes); });
        reading_.add_slopes(frame, i, slopes.data());
      }
    }
  }

  ScratchSize scratch(int) const override { return {2 * reading_.features() + 2 * table_, reading_.units()}; }

 private:
  std::span<const S> theta(const Frame<S>& frame) const {
    return std::span(frame.parameters + at_.first_parameter, at_.shape.parameter_count());
  }
  /// Whether any of the sample's weights is not zero.
  bool load_weights(const Frame<S>& frame, int sample, std::span<S> weights) const {
    bool any = false;
    for (std::size_t row = 0; row < table_; ++row) {
      weights[row] = frame.weight(at_.table_row + row)[sample];
      any = any || weights[row] != 0;
    }
    return any;
  }
  std::span<S> first_table(const Frame<S>& frame) const {
    return std::span(frame.scratch + reading_.features(), table_);
  }
  std::span<S> second_table(const Frame<S>& frame) const {
    return std::span(frame.scratch + reading_.features() + table_, table_);
  }

  void evaluate(const Frame<S>& frame, const Reading<S>& reading, std::span<S> table) const {
    guarded("its log_probs", [&] { node_.log_probs(theta(frame), reading, table); });
  }

  template <class Call>
  void guarded(std::string_view subject, const Call& function) const {
    guarded_call({"node-threw", &at_.name, subject}, function);
  }

  void check(std::span<const S> table) const {
    const auto outcomes = static_cast<std::size_t>(at_.shape.outcomes());
    for (std::size_t unit = 0; unit * outcomes < table.size(); ++unit) {
      double total = 0;
      for (const S log_prob : table.subspan(unit * outcomes, outcomes))
        total += std::exp(static_cast<double>(log_prob));
      constexpr double tolerance = std::is_same_v<S, float> ? 1e-4 : 1e-9;
      // A NaN is left for the executor, which knows whether a parameter is to blame.
      if (std::abs(total - 1) > tolerance) throw_unnormalised(at_.name, static_cast<int>(unit), total);
    }
  }

  /// `feature` and `unit` say where the parent begins in the reading, which is changed candidate by candidate
  /// and restored.
  void send_to(const Frame<S>& frame, int i, const Reading<S>& reading, const ParentPlace& parent,
               std::size_t feature, std::size_t unit) const {
    const Encoding& encoding = *parent.shape.encoding;
    const auto width = static_cast<std::size_t>(encoding.width),
               outcomes = static_cast<std::size_t>(encoding.outcomes);
    for (std::size_t j = 0; j < static_cast<std::size_t>(parent.shape.units); ++j) {
      Outcome& slot = frame.outcome_scratch[unit + j];
      S* const slot_features = frame.scratch + feature + j * width;
      const Outcome actual = slot;
      const auto show = [&](Outcome candidate) {
        slot = candidate;
        for (int f = 0; f < encoding.width; ++f)
          slot_features[f] = static_cast<S>(encoding.value(candidate, f));
      };
      for (Outcome candidate = 0; candidate < encoding.outcomes; ++candidate) {
        if (candidate == actual) continue;
        show(candidate);
        const std::span<S> table = second_table(frame);
        evaluate(frame, reading, table);
        frame.evidence_of(parent.table_row + j * outcomes + static_cast<std::size_t>(candidate))[i] +=
            likelihood_ratio(frame, i, table);
      }
      show(actual);
    }
  }

  /// log P(own outcomes | candidate) - log P(own outcomes | as sampled)
  S likelihood_ratio(const Frame<S>& frame, int i, std::span<const S> table) const {
    const auto outcomes = static_cast<std::size_t>(at_.shape.outcomes());
    S ratio = 0;
    for (std::size_t unit = 0; unit < static_cast<std::size_t>(at_.shape.units); ++unit) {
      const std::size_t row =
          unit * outcomes + static_cast<std::size_t>(frame.outcome(at_.unit_row + unit)[i]);
      ratio += table[row] - frame.log_prob(at_.table_row + row)[i];
    }
    return ratio;
  }

  const N& node_;
  const Placement& at_;
  const GatheredReading<S> reading_;
  const std::size_t table_;
};

}  // namespace hindsight
