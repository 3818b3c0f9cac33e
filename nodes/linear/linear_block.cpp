#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <hindsight/core/index.hpp>
#include <hindsight/core/vector_kernels.hpp>
#include <hindsight/nodes/linear.hpp>
#include <hindsight/nodes/linear_edges.hpp>
#include <hindsight/nodes/linear_fusion.hpp>
#include <hindsight/nodes/linear_kernels.hpp>
#include <hindsight/nodes/linear_messages.hpp>
#include <hindsight/nodes/linear_reads.hpp>
#include <hindsight/nodes/linear_sparse_messages.hpp>

namespace hindsight::internal {
namespace {

/// Units whose random numbers are drawn together.
constexpr std::size_t units_drawn_at_once = 16;

/// Logit rows whose derivatives are worked together.
constexpr std::size_t accumulated_rows = 256;

/// Units with linear logits and one number of outcomes, whichever nodes they belong to. What all of them read
/// is a dense product; the rest is summed row by row, with the samples in the vector lanes.
template <class S>
class LinearBlock final : public Block<S> {
 public:
  /// Leaves its sparse messages between binary units to the collector.
  LinearBlock(const FusedUnits& fused, LinkFunction link, SparseEdges& sparse)
      : link_(link), level_(fused.units.front().at->level) {
    const NodeShape& shape = fused.units.front().at->shape;
    children_.outcome_count = index(shape.outcome_count());
    children_.logits = index(shape.logits);
    for (const FeatureRun& run : fused.shared)
      dense_.push_back({run.feature_row,
                        run.features,
                        run.step,
                        !run.encoding && !run.wants_slopes,
                        run.wants_slopes,
                        {}});
    reserve(fused.units.size());
    for (const ReadingUnit& unit : fused.units) {
      add_unit(unit);
      for (const FeatureRun& run : unit.runs) wants_slopes_ = wants_slopes_ || run.wants_slopes;
    }
    sparse_rows_.shrink_to_fit();
    segments_.shrink_to_fit();
    BlockEdges<S> edges = collect_edges<S>(fused.units, dense_, link, sparse);
    if (link == LinkFunction::bernoulli) list_sparse_edges(sparse);
    dense_messages_ = DenseMessages<S>(children_, std::move(edges.groups));
    general_messages_ = GeneralMessages<S>(children_, std::move(edges.general));
  }
  LinearBlock(const LinearBlock&) = delete;  // the messages refer to its parts
  LinearBlock& operator=(const LinearBlock&) = delete;

  int level() const override { return level_; }
  bool reads_bits() const override { return reads_bits_; }

  void forward(const Frame<S>& frame) const override {
    const auto& kernels = linear_kernels<S>(frame.instructions);
    const SampleRows<const S> features = all_features(frame);
    const SampleRows<S> logits{is_deterministic(link_) ? frame.features : frame.log_probs, frame.stride,
                               frame.lanes};
    for (std::size_t row = 0; row < logit_rows_.size(); ++row)
      std::fill_n(logits.row(logit_rows_[row]), frame.lanes, frame.parameters[biases_[row]]);
    for (const DenseRun& run : dense_)
      kernels.add_dense(run.weights(frame.parameters, 0, logit_rows_.size()), run.features_of(features),
                        logits, logit_rows_.data(), frame.scratch);
    for (std::size_t row = 0; row < logit_rows_.size(); ++row)
      for (const SparseSegment<S>& segment : segments(row))
        if (const S* const weights = frame.parameters + segment.parameter; segment.binary)
          kernels.add_bits(weights, binary_units(frame, segment), frame.lanes, logits.row(logit_rows_[row]));
        else
          kernels.add_sparse(weights, rows(segment), features, logits.row(logit_rows_[row]));
    if (is_deterministic(link_)) {
      for (const std::size_t row : logit_rows_) kernels.activate(link_, logits.row(row), frame.lanes);
      return;
    }
    for (std::size_t first = 0; first < units_.size(); first += units_drawn_at_once)
      sample(frame, kernels, first, std::min(first + units_drawn_at_once, units_.size()));
  }

  std::size_t table_size() const override {
    return dense_messages_.table_size() + general_messages_.table_size();
  }
  int table_parts() const override {
    return static_cast<int>(dense_messages_.parts() + general_messages_.parts());
  }
  void prepare(const Frame<S>& frame, int first, int last) const override {
    std::size_t before = 0;
    for_each_sender(frame.tables, [&](const auto& sender, S* tables) {
      const std::size_t begin = std::max(before, index(first)),
                        end = std::min(before + sender.parts(), index(last));
      if (begin < end) sender.prepare(frame, tables, begin - before, end - before);
      before += sender.parts();
    });
  }
  void send_messages(const Frame<S>& frame) const override {
    for_each_sender(frame.tables, [&](const auto& sender, S* tables) { sender.send(frame, tables); });
  }

  void backpropagate(const Frame<S>& frame) const override {
    if (!wants_slopes_) return;
    for (std::size_t unit = 0; unit < units_.size(); unit += units_at_once())
      backpropagate_units(frame, unit, std::min(unit + units_at_once(), units_.size()));
  }

  int rows() const override { return static_cast<int>(units_.size()); }

  void accumulate(const Frame<S>& frame, int first, int last) const override {
    const std::size_t end = index(last);
    for (std::size_t unit = index(first); unit < end; unit += units_at_once())
      accumulate_units(frame, unit, std::min(unit + units_at_once(), end));
  }

  ScratchSize scratch(int lanes) const override {
    const std::size_t deltas = std::min(units_.size(), units_at_once()) * children_.logits * index(lanes);
    const std::size_t uniforms = lane_group + units_drawn_at_once * (index(lanes) + 8);
    return {std::max({uniforms, deltas + product_scratch_size(lanes), dense_messages_.scratch(lanes),
                      general_messages_.scratch(lanes)}),
            0};
  }

 private:
  struct Unit {
    std::size_t feature_row = 0;
    const Encoding* encoding = nullptr;
    BinaryValues<S> values = {};  ///< of a Bernoulli unit
  };

  SampleRows<const S> all_features(const Frame<S>& frame) const {
    return {frame.features, frame.stride, frame.lanes};
  }
  std::span<const SparseSegment<S>> segments(std::size_t row) const {
    return std::span(segments_).subspan(segments_begin_[row],
                                        segments_begin_[row + 1] - segments_begin_[row]);
  }
  std::span<const std::uint32_t> rows(const SparseSegment<S>& segment) const {
    return std::span(sparse_rows_).subspan(segment.first, segment.count);
  }
  BinaryUnits<S> binary_units(const Frame<S>& frame, const SparseSegment<S>& segment) const {
    return {rows(segment), frame.outcome_bits, segment.binary->low, segment.binary->high};
  }
  std::size_t units_at_once() const { return std::max<std::size_t>(1, accumulated_rows / children_.logits); }

  void reserve(std::size_t units) {
    children_.table_row.reserve(units);
    children_.unit_row.reserve(units);
    units_.reserve(units);
    numbers_.reserve(units);
    logit_rows_.reserve(units * children_.logits);
    biases_.reserve(units * children_.logits);
    segments_begin_.reserve(units * children_.logits + 1);
  }

  void add_unit(const ReadingUnit& unit) {
    const std::size_t number = index(unit.unit);
    const Encoding& encoding = unit.at->shape.encoding;
    children_.table_row.push_back(unit.at->table_row + number * children_.outcome_count);
    children_.unit_row.push_back(unit.at->unit_row + number);
    const std::size_t width = is_deterministic(link_) ? 1 : index(encoding.width);
    units_.push_back({unit.at->feature_row + number * width, &encoding});
    if (link_ == LinkFunction::bernoulli) units_.back().values = BinaryValues<S>(encoding);
    numbers_.push_back(unit.at->first_unit + static_cast<std::uint32_t>(unit.unit));
    for (std::size_t logit = 0; logit < children_.logits; ++logit) {
      logit_rows_.push_back(logit_row(logit));
      biases_.push_back(unit.bias + logit);
      auto next_shared = dense_.begin();
      for (const FeatureRun& run : unit.runs) {
        const std::size_t parameter = run.parameter + logit * run.logit_stride;
        if (next_shared != dense_.end() && next_shared->is(run))
          (next_shared++)->begin.push_back(parameter);
        else
          add_segments(run, parameter);
      }
      segments_begin_.push_back(segments_.size());
    }
  }

  /// Of the last unit: where its logit is put while it waits to become probabilities, or the value.
  std::size_t logit_row(std::size_t logit) const {
    if (is_deterministic(link_)) return units_.back().feature_row;
    // A lone logit is that of outcome 1: its row is the second.
    return children_.table_row.back() + (link_ == LinkFunction::bernoulli ? 1 : logit);
  }

  void add_segments(const FeatureRun& run, std::size_t parameter) {
    std::optional<BinaryValues<S>> binary;
    if (run.encoding && is_binary(*run.encoding)) binary = BinaryValues<S>(*run.encoding);
    // No unit lies before its features: every unit has at least one.
    const std::size_t first_row = binary ? run.unit_row : run.feature_row,
                      offset = run.feature_row - first_row;
    for (std::size_t j = 0; j < run.features; ++j, parameter += run.step) {
      const bool continues = segments_.size() > segments_begin_.back() &&
                             segments_.back().parameter + segments_.back().count == parameter &&
                             segments_.back().binary == binary &&
                             segments_.back().wants_slopes == run.wants_slopes &&
                             segments_.back().wants_messages == run.wants_messages &&
                             (!run.wants_slopes || segments_.back().feature_offset == offset);
      if (!continues)
        segments_.push_back(
            {parameter, sparse_rows_.size(), 0, run.wants_slopes, run.wants_messages, binary, offset});
      ++segments_.back().count;
      sparse_rows_.push_back(static_cast<std::uint32_t>(first_row + j));
    }
    reads_bits_ = reads_bits_ || binary.has_value();
  }

  void list_sparse_edges(SparseEdges& sparse) const {
    for (std::size_t unit = 0; unit < units_.size(); ++unit)
      for (const SparseSegment<S>& segment : segments(unit))
        if (segment.wants_messages && segment.binary)
          sparse.add(rows(segment), segment.parameter, children_.table_row[unit], children_.unit_row[unit]);
  }

  template <class Work>
  void for_each_sender(S* tables, const Work& work) const {
    work(dense_messages_, tables);
    work(general_messages_, tables + dense_messages_.table_size());
  }

  void sample(const Frame<S>& frame, const LinearKernels<S>& kernels, std::size_t first,
              std::size_t last) const {
    const std::size_t lanes = index(frame.lanes);
    S* const uniforms = frame.scratch + lane_group;
    const auto is_clamped = [&](std::size_t unit) { return frame.clamped[children_.unit_row[unit]] != 0; };
    bool draws = false;
    for (std::size_t unit = first; unit < last; ++unit) draws = draws || !is_clamped(unit);
    const std::size_t begin =
        draws ? vector_kernels<S>(frame.instructions)
                    .draw_uniforms(frame.seed, frame.position,
                                   std::span(numbers_).subspan(first, last - first), lanes, uniforms)
              : 0;
    for (std::size_t unit = first; unit < last; ++unit) {
      const UnitToSample<S> to_sample{
          .log_probs = {frame.log_prob(children_.table_row[unit]), frame.stride, frame.lanes},
          .outcome_count = children_.outcome_count,
          .uniforms = is_clamped(unit)
                          ? nullptr
                          : uniforms + begin + (unit - first) * uniforms_per_unit(frame.position, lanes),
          .sampled = frame.outcome(children_.unit_row[unit]),
          .feature = frame.feature(units_[unit].feature_row),
          .low = units_[unit].values.low,
          .high = units_[unit].values.high};
      if (link_ == LinkFunction::bernoulli) {
        kernels.sample_binary(to_sample);
      } else {
        kernels.sample_softmax(to_sample, frame.scratch);
        write_features(frame, *units_[unit].encoding, to_sample.sampled, to_sample.feature);
      }
    }
  }

  /// The derivatives by the logits of some units, row after row, at the beginning of the scratch.
  SampleRows<const S> make_deltas(const Frame<S>& frame, std::size_t first, std::size_t last) const {
    const auto& kernels = linear_kernels<S>(frame.instructions);
    const std::size_t lanes = index(frame.lanes);
    for (std::size_t unit = first; unit < last; ++unit) {
      S* const deltas = frame.scratch + (unit - first) * children_.logits * lanes;
      if (is_deterministic(link_)) {
        const std::size_t row = units_[unit].feature_row;
        kernels.function_deltas(link_, frame.feature(row), frame.slope(row), frame.lanes, frame.samples,
                                deltas);
        continue;
      }
      const SampleRows<const S> log_probs{frame.log_prob(children_.table_row[unit]), frame.stride,
                                          frame.lanes};
      const S* const credit = frame.credit(children_.table_row[unit]);
      if (link_ == LinkFunction::bernoulli)
        kernels.binary_deltas(log_probs, credit, frame.samples, deltas);
      else
        kernels.softmax_deltas(log_probs, credit, children_.outcome_count, frame.samples, deltas);
    }
    return {frame.scratch, lanes, frame.lanes};
  }

  void backpropagate_units(const Frame<S>& frame, std::size_t first, std::size_t last) const {
    const auto& kernels = linear_kernels<S>(frame.instructions);
    const std::size_t first_row = first * children_.logits, last_row = last * children_.logits;
    const SampleRows<const S> deltas = make_deltas(frame, first, last);
    for (const DenseRun& run : dense_)
      if (run.wants_slopes)
        kernels.backpropagate_dense(run.weights(frame.parameters, first_row, last_row), deltas,
                                    {frame.slope(run.feature_row), frame.stride, frame.lanes});
    for (std::size_t row = first_row; row < last_row; ++row)
      for (const SparseSegment<S>& segment : segments(row))
        if (segment.wants_slopes)
          kernels.backpropagate_sparse(frame.parameters + segment.parameter, rows(segment),
                                       deltas.row(row - first_row),
                                       {frame.slope(segment.feature_offset), frame.stride, frame.lanes});
  }

  void accumulate_units(const Frame<S>& frame, std::size_t first, std::size_t last) const {
    const auto& kernels = linear_kernels<S>(frame.instructions);
    const std::size_t first_row = first * children_.logits, last_row = last * children_.logits;
    const SampleRows<const S> deltas = make_deltas(frame, first, last);
    const SampleRows<const S> features = all_features(frame);
    S* const scratch = frame.scratch + (last_row - first_row) * deltas.stride;
    for (const DenseRun& run : dense_)
      kernels.accumulate_dense(run.weights(frame.gradient, first_row, last_row), deltas,
                               run.features_of(features), frame.starts_sum, scratch);
    for (std::size_t row = first_row; row < last_row; ++row) {
      const S* const delta = deltas.row(row - first_row);
      const S bias = kernels.sum(delta, frame.lanes);
      frame.gradient[biases_[row]] = frame.starts_sum ? bias : frame.gradient[biases_[row]] + bias;
      if (reads_bits_) kernels.sum_subsets(delta, frame.lanes, scratch);
      for (const SparseSegment<S>& segment : segments(row))
        if (S* const gradient = frame.gradient + segment.parameter; segment.binary)
          kernels.accumulate_bits(gradient, binary_units(frame, segment), scratch, bias, frame.lanes,
                                  frame.starts_sum);
        else
          kernels.accumulate_sparse(gradient, rows(segment), features, delta, frame.starts_sum);
    }
  }

  LinkFunction link_;
  int level_;
  ChildRows children_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> numbers_;  ///< of the units in the graph; select their random numbers
  std::vector<std::size_t> logit_rows_,
      biases_;  ///< per logit: its row among the log-probabilities, its bias
  std::vector<DenseRun> dense_;
  std::vector<SparseSegment<S>> segments_;
  std::vector<std::size_t> segments_begin_{0};
  std::vector<std::uint32_t> sparse_rows_;  ///< of features, or of binary units
  bool reads_bits_ = false, wants_slopes_ = false;
  DenseMessages<S> dense_messages_;
  GeneralMessages<S> general_messages_;
};

}  // namespace

template <class S>
Blocks<S> lower_linear(std::span<const Placement* const> group, LinkFunction link) {
  std::map<std::pair<int, int>, std::vector<const Placement*>> worked_together;
  for (const Placement* at : group) worked_together[{at->level, at->shape.outcome_count()}].push_back(at);
  Blocks<S> blocks;
  SparseEdges sparse;
  for (const auto& [level_and_outcomes, members] : worked_together)
    for (const FusedUnits& fused : fuse(members))
      blocks.push_back(std::make_unique<LinearBlock<S>>(fused, link, sparse));
  if (!sparse.runs.empty()) blocks.push_back(std::make_unique<SparseMessageBlock<S>>(std::move(sparse)));
  return blocks;
}

template Blocks<float> lower_linear<float>(std::span<const Placement* const>, LinkFunction);
template Blocks<double> lower_linear<double>(std::span<const Placement* const>, LinkFunction);

}  // namespace hindsight::internal
