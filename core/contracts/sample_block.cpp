#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <hindsight/core/node.hpp>
#include <hindsight/core/node_runner.hpp>

namespace hindsight::internal {
namespace {

/// What one node reads, gathered sample by sample from the rows of its parents into the beginning of the
/// scratch.
template <class S>
Reading<S> gather_sample(const Frame<S>& frame, const NodeRunner<S>& runner, int sample) {
  S* feature = frame.scratch;
  Outcome* outcome = frame.outcome_scratch;
  for (const ParentPlace& parent : runner.at.parents) {
    for (std::size_t row = 0; row < parent.from->features(); ++row)
      *feature++ = frame.feature(parent.from->feature_row + row)[sample];
    for (std::size_t row = 0; row < parent.from->units(); ++row)
      *outcome++ =
          parent.from->is_discrete ? frame.outcome(parent.from->unit_row + row)[sample] : Outcome(-1);
  }
  return {std::span(frame.scratch, runner.features), std::span(frame.outcome_scratch, runner.parent_units),
          runner.parent_shapes};
}

/// Adds one sample's slopes, laid out like a reading's features, to those of the parents that want them.
template <class S>
void add_slopes(const Frame<S>& frame, const NodeRunner<S>& runner, int sample, const S* slopes) {
  for (const ParentPlace& parent : runner.at.parents) {
    if (parent.wants_slopes)
      for (std::size_t row = 0; row < parent.from->features(); ++row)
        frame.slope(parent.from->feature_row + row)[sample] += slopes[row];
    slopes += parent.from->features();
  }
}

/// One sample's numbers from some rows; whether any of them is not zero.
template <class S>
bool load_column(const S* first_row, std::size_t stride, int sample, std::span<S> out) {
  bool any = false;
  for (std::size_t row = 0; row < out.size(); ++row) {
    out[row] = first_row[row * stride + static_cast<std::size_t>(sample)];
    any = any || out[row] != 0;
  }
  return any;
}

/// Runs a stochastic node sample by sample: messages by evaluating log_probs once per candidate.
template <class S>
class SampleBlock final : public Block<S> {
 public:
  SampleBlock(std::unique_ptr<const NodeMath<SampleForm<S>>> node, const Placement& at)
      : node_(std::move(node)), runner_(at) {}

  int level() const override { return runner_.at.level; }

  void forward(const Frame<S>& frame) const override {
    const std::span<S> table = numbers(frame, runner_.features, runner_.table_rows());
    for (int i = 0; i < frame.samples; ++i) {
      evaluate(frame, gather_sample(frame, runner_, i), table);
      check(table);
      for (std::size_t row = 0; row < table.size(); ++row)
        frame.log_prob(runner_.at.table_row + row)[i] = table[row];
    }
    runner_.clear_padding(frame, frame.log_prob(runner_.at.table_row), runner_.table_rows());
    runner_.sample(frame);
  }

  void send_messages(const Frame<S>& frame) const override {
    if (!runner_.sends_messages()) return;
    for (int i = 0; i < frame.samples; ++i) {
      const Reading<S> reading = gather_sample(frame, runner_, i);
      std::size_t feature = 0, unit = 0;
      for (const ParentPlace& parent : runner_.at.parents) {
        if (parent.wants_messages) send_to(frame, i, reading, parent, feature, unit);
        feature += parent.from->features();
        unit += parent.from->units();
      }
    }
  }

  int rows() const override { return 1; }

  void accumulate(const Frame<S>& frame, int, int) const override {
    S* const scratch = numbers(frame, runner_.features + runner_.table_rows(), runner_.parameters).data();
    runner_.add_chunk(frame, scratch, [&](std::span<S> sum) {
      for_each_credited_sample(frame, "its accumulate", [&](int, const Reading<S>& reading, auto credit) {
        node_->accumulate(runner_.theta(frame), reading, credit, sum);
      });
    });
  }

  void backpropagate(const Frame<S>& frame) const override {
    if (!runner_.passes_slopes()) return;
    const std::span<S> slopes = numbers(frame, runner_.features + runner_.table_rows(), runner_.features);
    for_each_credited_sample(frame, "its backpropagate", [&](int i, const Reading<S>& reading, auto credit) {
      std::fill(slopes.begin(), slopes.end(), S(0));
      node_->backpropagate(runner_.theta(frame), reading, credit, slopes);
      add_slopes(frame, runner_, i, slopes.data());
    });
  }

  /// A reading, a table and slopes or a gradient.
  ScratchSize scratch(int) const override {
    return {runner_.features + runner_.table_rows() + std::max(runner_.features, runner_.parameters),
            runner_.parent_units};
  }

 private:
  static std::span<S> numbers(const Frame<S>& frame, std::size_t first, std::size_t count) {
    return std::span(frame.scratch + first, count);
  }

  template <class Work>
  void for_each_credited_sample(const Frame<S>& frame, std::string_view subject, const Work& work) const {
    const std::span<S> credit = numbers(frame, runner_.features, runner_.table_rows());
    for (int i = 0; i < frame.samples; ++i) {
      if (!load_column(frame.credit(runner_.at.table_row), frame.stride, i, credit)) continue;
      const Reading<S> reading = gather_sample(frame, runner_, i);
      runner_.guarded(subject, [&] { work(i, reading, std::span<const S>(credit)); });
    }
  }

  void evaluate(const Frame<S>& frame, const Reading<S>& reading, std::span<S> table) const {
    runner_.guarded("its log_probs", [&] { node_->log_probs(runner_.theta(frame), reading, table); });
  }

  void check(std::span<const S> table) const {
    for (std::size_t unit = 0; unit < runner_.units; ++unit) {
      double total = 0;
      for (const S log_prob : table.subspan(unit * runner_.outcome_count, runner_.outcome_count))
        total += std::exp(static_cast<double>(log_prob));
      runner_.check_sum(unit, total,
                        "log_softmax(out.data() + unit * outcome_count, outcome_count);   // in log_probs, "
                        "after the scores");
    }
  }

  /// `feature` and `unit` say where the parent begins in the reading, which is changed candidate by candidate
  /// and restored.
  void send_to(const Frame<S>& frame, int i, const Reading<S>& reading, const ParentPlace& parent,
               std::size_t feature, std::size_t unit) const {
    const Encoding& encoding = parent.from->shape.encoding;
    const auto width = static_cast<std::size_t>(encoding.width),
               outcome_count = static_cast<std::size_t>(encoding.outcome_count);
    const std::span<S> table = numbers(frame, runner_.features, runner_.table_rows());
    for (std::size_t j = 0; j < parent.from->units(); ++j) {
      Outcome& slot = frame.outcome_scratch[unit + j];
      S* const slot_features = frame.scratch + feature + j * width;
      const Outcome actual = slot;
      const auto show = [&](Outcome candidate) {
        slot = candidate;
        for (int f = 0; f < encoding.width; ++f)
          slot_features[f] = static_cast<S>(encoding.value(candidate, f));
      };
      for (Outcome candidate = 0; candidate < encoding.outcome_count; ++candidate) {
        if (candidate == actual) continue;
        show(candidate);
        evaluate(frame, reading, table);
        frame.evidence(parent.from->table_row + j * outcome_count + static_cast<std::size_t>(candidate))[i] +=
            likelihood_ratio(frame, i, table, parent);
      }
      show(actual);
    }
  }

  /// log P(own outcomes | candidate) - log P(own outcomes | as sampled)
  S likelihood_ratio(const Frame<S>& frame, int i, std::span<const S> table,
                     const ParentPlace& parent) const {
    S ratio = 0;
    for (std::size_t unit = 0; unit < runner_.units; ++unit) {
      const std::size_t row = unit * runner_.outcome_count +
                              static_cast<std::size_t>(frame.outcome(runner_.at.unit_row + unit)[i]);
      ratio += runner_.checked(table[row], parent) - frame.log_prob(runner_.at.table_row + row)[i];
    }
    return ratio;
  }

  const std::unique_ptr<const NodeMath<SampleForm<S>>> node_;
  const NodeRunner<S> runner_;
};

/// Runs a deterministic node sample by sample.
template <class S>
class SampleFunctionBlock final : public Block<S> {
 public:
  SampleFunctionBlock(std::unique_ptr<const FunctionMath<SampleForm<S>>> function, const Placement& at)
      : function_(std::move(function)), runner_(at) {}

  int level() const override { return runner_.at.level; }

  void forward(const Frame<S>& frame) const override {
    const std::span<S> values = numbers(frame, 0, runner_.units);
    for (int i = 0; i < frame.samples; ++i) {
      const Reading<S> reading = gather_sample(frame, runner_, i);
      runner_.guarded("its evaluate", [&] { function_->evaluate(runner_.theta(frame), reading, values); });
      for (std::size_t unit = 0; unit < runner_.units; ++unit)
        frame.feature(runner_.at.feature_row + unit)[i] = values[unit];
    }
    runner_.clear_padding(frame, frame.feature(runner_.at.feature_row), runner_.units);
  }

  void send_messages(const Frame<S>&) const override {}

  void backpropagate(const Frame<S>& frame) const override {
    if (!runner_.passes_slopes()) return;
    const std::span<S> to_parents = numbers(frame, runner_.units, runner_.features),
                       unused = numbers(frame, runner_.units + runner_.features, runner_.parameters);
    for_each_sloping_sample(frame, [&](int i, std::span<const S> slopes, const Reading<S>& reading) {
      std::fill(to_parents.begin(), to_parents.end(), S(0));
      function_->backpropagate(runner_.theta(frame), reading, slopes, unused, to_parents);
      add_slopes(frame, runner_, i, to_parents.data());
    });
  }

  int rows() const override { return 1; }

  void accumulate(const Frame<S>& frame, int, int) const override {
    const std::span<S> unused = numbers(frame, runner_.units, runner_.features);
    S* const scratch = numbers(frame, runner_.units + runner_.features, runner_.parameters).data();
    runner_.add_chunk(frame, scratch, [&](std::span<S> sum) {
      for_each_sloping_sample(frame, [&](int, std::span<const S> slopes, const Reading<S>& reading) {
        function_->backpropagate(runner_.theta(frame), reading, slopes, sum, unused);
      });
    });
  }

  ScratchSize scratch(int) const override {
    return {2 * runner_.features + runner_.units + runner_.parameters, runner_.parent_units};
  }

 private:
  /// Scratch behind what the reading takes.
  std::span<S> numbers(const Frame<S>& frame, std::size_t first, std::size_t count) const {
    return std::span(frame.scratch + runner_.features + first, count);
  }

  template <class Work>
  void for_each_sloping_sample(const Frame<S>& frame, const Work& work) const {
    const std::span<S> slopes = numbers(frame, 0, runner_.units);
    for (int i = 0; i < frame.samples; ++i) {
      if (!load_column(frame.slope(runner_.at.feature_row), frame.stride, i, slopes)) continue;
      const Reading<S> reading = gather_sample(frame, runner_, i);
      runner_.guarded("its backpropagate", [&] { work(i, slopes, reading); });
    }
  }

  const std::unique_ptr<const FunctionMath<SampleForm<S>>> function_;
  const NodeRunner<S> runner_;
};

}  // namespace

template <class S>
std::unique_ptr<Block<S>> generic_block(std::unique_ptr<const NodeMath<SampleForm<S>>> node,
                                        const Placement& at) {
  return std::make_unique<SampleBlock<S>>(std::move(node), at);
}

template <class S>
std::unique_ptr<Block<S>> generic_block(std::unique_ptr<const FunctionMath<SampleForm<S>>> function,
                                        const Placement& at) {
  return std::make_unique<SampleFunctionBlock<S>>(std::move(function), at);
}

template std::unique_ptr<Block<float>> generic_block(std::unique_ptr<const NodeMath<SampleForm<float>>>,
                                                     const Placement&);
template std::unique_ptr<Block<double>> generic_block(std::unique_ptr<const NodeMath<SampleForm<double>>>,
                                                      const Placement&);
template std::unique_ptr<Block<float>> generic_block(std::unique_ptr<const FunctionMath<SampleForm<float>>>,
                                                     const Placement&);
template std::unique_ptr<Block<double>> generic_block(std::unique_ptr<const FunctionMath<SampleForm<double>>>,
                                                      const Placement&);

}  // namespace hindsight::internal
