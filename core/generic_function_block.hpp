#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <hindsight/core/block.hpp>
#include <hindsight/core/callback.hpp>
#include <hindsight/core/generic_block.hpp>

namespace hindsight {

/// Runs any deterministic node from its plain mathematics, sample by sample.
template <class S, class F>
class GenericFunctionBlock final : public Block<S> {
 public:
  explicit GenericFunctionBlock(Member<F> member)
      : function_(*member.node),
        at_(*member.at),
        reading_(at_),
        units_(static_cast<std::size_t>(at_.shape.units)) {}

  int level() const override { return at_.level; }

  void forward(const Frame<S>& frame) const override {
    const std::span<S> values = numbers(frame, 0, units_);
    for (int i = 0; i < frame.samples; ++i) {
      const Reading<S> reading = reading_.gather(frame, i);
      guarded("its evaluate", [&] { function_.evaluate(theta(frame), reading, values); });
      for (std::size_t unit = 0; unit < units_; ++unit)
        frame.feature(at_.feature_row + unit)[i] = values[unit];
    }
    for (std::size_t unit = 0; unit < units_; ++unit) {
      S* const padded = frame.feature(at_.feature_row + unit);
      std::fill(padded + frame.samples, padded + frame.lanes, S(0));
    }
  }

  void send_messages(const Frame<S>&) const override {}

  void backpropagate(const Frame<S>& frame) const override {
    if (!reading_.wants_slopes()) return;
    const std::span<S> unused = numbers(frame, units_ + reading_.features(), at_.shape.parameter_count());
    for_each_sloping_sample(frame, [&](int i, std::span<const S> slopes, const Reading<S>& reading) {
      const std::span<S> to_parents = numbers(frame, units_, reading_.features());
      std::fill(to_parents.begin(), to_parents.end(), S(0));
      function_.backpropagate(theta(frame), reading, slopes, unused, to_parents);
      reading_.add_slopes(frame, i, to_parents.data());
    });
  }

  int rows() const override { return 1; }

  void accumulate(const Frame<S>& frame, int, int) const override {
    const std::span<S> gradient(frame.gradient + at_.first_parameter, at_.shape.parameter_count());
    if (frame.starts_sum) std::fill(gradient.begin(), gradient.end(), S(0));
    const std::span<S> unused = numbers(frame, units_, reading_.features());
    for_each_sloping_sample(frame, [&](int, std::span<const S> slopes, const Reading<S>& reading) {
      function_.backpropagate(theta(frame), reading, slopes, gradient, unused);
    });
  }

  ScratchSize scratch(int) const override {
    return {2 * reading_.features() + units_ + at_.shape.parameter_count(), reading_.units()};
  }

 private:
  std::span<const S> theta(const Frame<S>& frame) const {
    return std::span(frame.parameters + at_.first_parameter, at_.shape.parameter_count());
  }
  /// Scratch behind what the reading takes.
  std::span<S> numbers(const Frame<S>& frame, std::size_t first, std::size_t count) const {
    return std::span(frame.scratch + reading_.features() + first, count);
  }

  template <class Call>
  void guarded(std::string_view subject, const Call& function) const {
    guarded_call({"node-threw", &at_.name, subject}, function);
  }

  template <class Work>
  void for_each_sloping_sample(const Frame<S>& frame, const Work& work) const {
    const std::span<S> slopes = numbers(frame, 0, units_);
    for (int i = 0; i < frame.samples; ++i) {
      bool any = false;
      for (std::size_t unit = 0; unit < units_; ++unit) {
        slopes[unit] = frame.slope(at_.feature_row + unit)[i];
        any = any || slopes[unit] != 0;
      }
      if (!any) continue;
      const Reading<S> reading = reading_.gather(frame, i);
      guarded("its backpropagate", [&] { work(i, slopes, reading); });
    }
  }

  const F& function_;
  const Placement& at_;
  const GatheredReading<S> reading_;
  const std::size_t units_;
};

}  // namespace hindsight
