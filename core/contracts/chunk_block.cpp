#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <hindsight/core/chunk_reading.hpp>
#include <hindsight/core/node.hpp>
#include <hindsight/core/node_runner.hpp>

namespace hindsight::internal {
namespace {

/// Runs a stochastic node chunk by chunk: messages by evaluating log_probs once per unit that is told and
/// other outcome of it.
template <class S>
class ChunkBlock final : public Block<S> {
 public:
  ChunkBlock(std::unique_ptr<const NodeMath<ChunkForm<S>>> node, const Placement& at)
      : node_(std::move(node)), runner_(at), reader_(runner_) {}

  int level() const override { return runner_.at.level; }

  void forward(const Frame<S>& frame) const override {
    S* const rows = frame.log_prob(runner_.at.table_row);
    const MatrixView<S> table = transposed(rows, frame.stride, frame.samples, runner_.table_rows());
    evaluate(frame, reader_.read(frame), table);
    check(table);
    runner_.clear_padding(frame, rows, runner_.table_rows());
    runner_.sample(frame);
  }

  void send_messages(const Frame<S>& frame) const override {
    if (!runner_.sends_messages()) return;
    const ChunkReading<S> reading = reader_.copy(frame);
    S* features = frame.scratch;
    Outcome* outcomes = frame.outcome_scratch;
    for (const ParentPlace& parent : runner_.at.parents)
      for (int unit = 0; unit < parent.from->shape.units; ++unit) {
        if (parent.wants_messages) send_to(frame, reading, parent, unit, features, outcomes);
        features += parent.from->width() * frame.lanes;
        outcomes += frame.lanes;
      }
  }

  int rows() const override { return 1; }

  void accumulate(const Frame<S>& frame, int, int) const override {
    runner_.add_chunk(frame, second_scratch(frame), [&](std::span<S> sum) {
      if (const MatrixView<const S> credit = credit_of(frame); has_nonzero(credit))
        runner_.guarded("its accumulate",
                        [&] { node_->accumulate(runner_.theta(frame), reader_.read(frame), credit, sum); });
    });
  }

  void backpropagate(const Frame<S>& frame) const override {
    const MatrixView<const S> credit = credit_of(frame);
    if (!runner_.passes_slopes() || !has_nonzero(credit)) return;
    const ChunkSlopes<S> slopes(frame, runner_, second_scratch(frame));
    runner_.guarded("its backpropagate", [&] {
      node_->backpropagate(runner_.theta(frame), reader_.read(frame), credit, slopes.view());
    });
    slopes.add_to_parents();
  }

  /// A reading, and a table, slopes or a gradient.
  ScratchSize scratch(int lanes) const override {
    const auto row = static_cast<std::size_t>(lanes);
    const std::size_t rows = std::max(runner_.table_rows(), runner_.features) * row;
    return {runner_.features * row + std::max(rows, runner_.parameters), runner_.parent_units * row};
  }

 private:
  MatrixView<const S> credit_of(const Frame<S>& frame) const {
    return transposed<const S>(frame.credit(runner_.at.table_row), frame.stride, frame.samples,
                               runner_.table_rows());
  }
  /// Behind what a copied reading takes.
  S* second_scratch(const Frame<S>& frame) const {
    return frame.scratch + runner_.features * static_cast<std::size_t>(frame.lanes);
  }

  void evaluate(const Frame<S>& frame, const ChunkReading<S>& reading, MatrixView<S> table) const {
    runner_.guarded("its log_probs", [&] { node_->log_probs(runner_.theta(frame), reading, table); });
  }

  void check(MatrixView<const S> table) const {
    for (std::ptrdiff_t i = 0; i < table.rows(); ++i)
      for (std::size_t unit = 0; unit < runner_.units; ++unit) {
        double total = 0;
        for (std::size_t k = 0; k < runner_.outcome_count; ++k)
          total += std::exp(
              static_cast<double>(table(i, static_cast<std::ptrdiff_t>(unit * runner_.outcome_count + k))));
        runner_.check_sum(
            unit, total,
            "log_softmax(&out(i, unit * outcome_count), outcome_count, out.col_stride());   // in log_probs, "
            "for every sample i");
      }
  }

  /// Lets every sample of the reading, in its copied rows, show the unit's next outcome, and again until all
  /// were shown; then it is as it was.
  void send_to(const Frame<S>& frame, const ChunkReading<S>& reading, const ParentPlace& parent, int unit,
               S* features, Outcome* outcomes) const {
    const Encoding& encoding = parent.from->shape.encoding;
    Frame<S> copied = frame;
    copied.stride = static_cast<std::size_t>(frame.lanes);
    const auto show_next = [&] {
      for (int i = 0; i < frame.lanes; ++i)
        outcomes[i] = outcomes[i] + 1 == encoding.outcome_count ? 0 : outcomes[i] + 1;
      write_features(copied, encoding, outcomes, features);
    };
    const MatrixView<S> tried =
        transposed(second_scratch(frame), copied.stride, frame.samples, runner_.table_rows());
    const std::size_t first_row =
        parent.from->table_row +
        static_cast<std::size_t>(unit) * static_cast<std::size_t>(encoding.outcome_count);
    for (int others = encoding.outcome_count - 1; others > 0; --others) {
      show_next();
      evaluate(frame, reading, tried);
      const std::array<S, chunk_samples> ratios = likelihood_ratios(frame, tried, parent);
      for (int i = 0; i < frame.samples; ++i)
        frame.evidence(first_row + static_cast<std::size_t>(outcomes[i]))[i] +=
            ratios[static_cast<std::size_t>(i)];
    }
    show_next();
  }

  /// Per sample: log P(own outcomes | candidate) - log P(own outcomes | as sampled)
  std::array<S, chunk_samples> likelihood_ratios(const Frame<S>& frame, MatrixView<const S> tried,
                                                 const ParentPlace& parent) const {
    std::array<S, chunk_samples> ratios{};
    for (std::size_t unit = 0; unit < runner_.units; ++unit) {
      const Outcome* const own = frame.outcome(runner_.at.unit_row + unit);
      for (int i = 0; i < frame.samples; ++i) {
        const std::size_t row = unit * runner_.outcome_count + static_cast<std::size_t>(own[i]);
        ratios[static_cast<std::size_t>(i)] +=
            runner_.checked(tried(i, static_cast<std::ptrdiff_t>(row)), parent) -
            frame.log_prob(runner_.at.table_row + row)[i];
      }
    }
    return ratios;
  }

  const std::unique_ptr<const NodeMath<ChunkForm<S>>> node_;
  const NodeRunner<S> runner_;
  const ChunkReader<S> reader_;
};

/// Runs a deterministic node chunk by chunk.
template <class S>
class ChunkFunctionBlock final : public Block<S> {
 public:
  ChunkFunctionBlock(std::unique_ptr<const FunctionMath<ChunkForm<S>>> function, const Placement& at)
      : function_(std::move(function)), runner_(at), reader_(runner_) {}

  int level() const override { return runner_.at.level; }

  void forward(const Frame<S>& frame) const override {
    S* const rows = frame.feature(runner_.at.feature_row);
    runner_.guarded("its evaluate", [&] {
      function_->evaluate(runner_.theta(frame), reader_.read(frame),
                          transposed(rows, frame.stride, frame.samples, runner_.units));
    });
    runner_.clear_padding(frame, rows, runner_.units);
  }

  void send_messages(const Frame<S>&) const override {}

  void backpropagate(const Frame<S>& frame) const override {
    const MatrixView<const S> slopes = slopes_of(frame);
    if (!runner_.passes_slopes() || !has_nonzero(slopes)) return;
    const ChunkSlopes<S> to_parents(frame, runner_, second_scratch(frame));
    const std::span<S> unused(second_scratch(frame) + scalars(frame), runner_.parameters);
    pass_back(frame, slopes, unused, to_parents.view());
    to_parents.add_to_parents();
  }

  int rows() const override { return 1; }

  void accumulate(const Frame<S>& frame, int, int) const override {
    const MatrixView<S> unused = transposed(second_scratch(frame), static_cast<std::size_t>(frame.lanes),
                                            frame.samples, runner_.features);
    runner_.add_chunk(frame, second_scratch(frame) + scalars(frame), [&](std::span<S> sum) {
      if (const MatrixView<const S> slopes = slopes_of(frame); has_nonzero(slopes))
        pass_back(frame, slopes, sum, unused);
    });
  }

  /// A reading, slopes of all that is read, and a gradient.
  ScratchSize scratch(int lanes) const override {
    const auto row = static_cast<std::size_t>(lanes);
    return {2 * runner_.features * row + runner_.parameters, runner_.parent_units * row};
  }

 private:
  /// Of all that is read.
  std::size_t scalars(const Frame<S>& frame) const {
    return runner_.features * static_cast<std::size_t>(frame.lanes);
  }
  S* second_scratch(const Frame<S>& frame) const { return frame.scratch + scalars(frame); }

  MatrixView<const S> slopes_of(const Frame<S>& frame) const {
    return transposed<const S>(frame.slope(runner_.at.feature_row), frame.stride, frame.samples,
                               runner_.units);
  }

  void pass_back(const Frame<S>& frame, MatrixView<const S> slopes, std::span<S> parameters,
                 MatrixView<S> features) const {
    runner_.guarded("its backpropagate", [&] {
      function_->backpropagate(runner_.theta(frame), reader_.read(frame), slopes, parameters, features);
    });
  }

  const std::unique_ptr<const FunctionMath<ChunkForm<S>>> function_;
  const NodeRunner<S> runner_;
  const ChunkReader<S> reader_;
};

}  // namespace

template <class S>
std::unique_ptr<Block<S>> generic_block(std::unique_ptr<const NodeMath<ChunkForm<S>>> node,
                                        const Placement& at) {
  return std::make_unique<ChunkBlock<S>>(std::move(node), at);
}

template <class S>
std::unique_ptr<Block<S>> generic_block(std::unique_ptr<const FunctionMath<ChunkForm<S>>> function,
                                        const Placement& at) {
  return std::make_unique<ChunkFunctionBlock<S>>(std::move(function), at);
}

template std::unique_ptr<Block<float>> generic_block(std::unique_ptr<const NodeMath<ChunkForm<float>>>,
                                                     const Placement&);
template std::unique_ptr<Block<double>> generic_block(std::unique_ptr<const NodeMath<ChunkForm<double>>>,
                                                      const Placement&);
template std::unique_ptr<Block<float>> generic_block(std::unique_ptr<const FunctionMath<ChunkForm<float>>>,
                                                     const Placement&);
template std::unique_ptr<Block<double>> generic_block(std::unique_ptr<const FunctionMath<ChunkForm<double>>>,
                                                      const Placement&);

}  // namespace hindsight::internal
