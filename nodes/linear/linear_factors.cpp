#include <hindsight/nodes/linear_factors.hpp>

#include <algorithm>
#include <vector>

#include <hindsight/core/index.hpp>
#include <hindsight/core/outcome_counter.hpp>
#include <hindsight/core/vector_kernels.hpp>
#include <hindsight/nodes/linear.hpp>
#include <hindsight/nodes/linear_factor_kernels.hpp>

namespace hindsight::internal {
namespace {

/// A logit at other outcomes of the open units is the sampled logit, less what those units contribute as
/// sampled, plus what they would contribute: a number per joint outcome, the same for all samples.
template <class S>
class LinearFactors final : public FactorTables<S> {
 public:
  explicit LinearFactors(std::span<const FactorGroup> groups) {
    for (const FactorGroup& group : groups) add(group);
  }

  void fill(const Frame<S>& frame, std::size_t number, S* table, S* scratch) const override {
    const Group& group = groups_[number];
    Scratch at(scratch, group, index(frame.lanes));
    for (std::size_t f = 0; f < group.factors; ++f) describe(frame, group, f, at);
    const std::span<const int> outcome_counts =
        std::span(open_outcome_counts_).subspan(group.first_open, group.open);
    OutcomeCounter counter(outcome_counts);
    const std::span<const std::size_t> strides = std::span(strides_).subspan(group.first_open, group.open);
    do {
      choose_contributions(group, counter, at);
      write(frame, group, at, table + counter.row(strides) * index(frame.lanes));
    } while (counter.advance());
  }

  std::size_t scratch(int lanes) const override {
    std::size_t most = 0;
    for (const Group& group : groups_) most = std::max(most, Scratch::size(group, index(lanes)));
    return most;
  }

 private:
  struct Weight {
    std::size_t parameter = 0, logit_stride = 0, feature_row = 0;
    const Encoding* encoding = nullptr;
  };
  struct Known {
    std::size_t table_row = 0, unit_row = 0;
  };
  struct Group {
    std::size_t first_factor = 0, factors = 0, first_weight = 0;
    std::size_t first_open = 0, open = 0;
    std::size_t logits = 1;
    std::size_t outcome_count = 0;  ///< of all open units together
    std::size_t own_stride = 0;

    std::size_t rows() const { return factors * logits; }
  };

  /// Logits without the open units, the signs of known outcomes, what each outcome of an open unit
  /// contributes, and what the present ones do.
  struct Scratch {
    Scratch(S* scratch, const Group& group, std::size_t row)
        : lanes(row),
          logits(scratch),
          signs(logits + group.rows() * row),
          outcome_contributions(signs + group.factors * row),
          contributions(outcome_contributions + padded(group.rows() * group.outcome_count)) {}
    static std::size_t size(const Group& group, std::size_t row) {
      return (group.rows() + group.factors) * row + padded(group.rows() * group.outcome_count) +
             padded(group.rows());
    }
    std::size_t lanes;
    S *logits, *signs, *outcome_contributions, *contributions;
  };

  void add(const FactorGroup& given) {
    const Factor& first = given.factors.front();
    Group group{.first_factor = known_.size(),
                .factors = given.factors.size(),
                .first_weight = weights_.size(),
                .first_open = strides_.size(),
                .open = first.open.size(),
                .logits = index(first.at->shape.logits),
                .own_stride = given.own_stride};
    strides_.insert(strides_.end(), given.strides.begin(), given.strides.end());
    for (const OpenParent& open : first.open) {
      open_outcome_counts_.push_back(first.at->parents[open.edge].from->shape.outcome_count());
      group.outcome_count += index(open_outcome_counts_.back());
    }
    for (const Factor& factor : given.factors) {
      const std::size_t unit = index(factor.unit);
      known_.push_back({factor.at->table_row + unit * index(factor.at->shape.outcome_count()),
                        factor.at->unit_row + unit});
      const LinearLayout layout(*factor.at);
      const std::vector<WeightRun> runs = layout.runs(factor.unit);
      for (const OpenParent& open : factor.open) weights_.push_back(weight(*factor.at, runs, open));
    }
    groups_.push_back(group);
  }

  static Weight weight(const Placement& at, std::span<const WeightRun> runs, const OpenParent& open) {
    const WeightRun& run = *std::find_if(runs.begin(), runs.end(), [&](const WeightRun& one) {
      return one.parent == open.edge && one.first_unit <= open.unit && open.unit < one.first_unit + one.units;
    });
    const Placement& parent = *at.parents[open.edge].from;
    const std::size_t width = index(parent.width());
    return {at.first_parameter + run.parameter + index(open.unit - run.first_unit) * width, run.logit_stride,
            parent.feature_row + index(open.unit) * width, parent.encoding()};
  }

  std::span<const Weight> weights(const Group& group, std::size_t factor) const {
    return std::span(weights_).subspan(group.first_weight + factor * group.open, group.open);
  }

  void describe(const Frame<S>& frame, const Group& group, std::size_t factor, const Scratch& at) const {
    const Known& known = known_[group.first_factor + factor];
    const auto& kernels = linear_factor_kernels<S>(frame.instructions);
    const auto& vectors = vector_kernels<S>(frame.instructions);
    S* const logits = at.logits + factor * group.logits * at.lanes;
    if (group.logits == 1)
      kernels.binary_logit(frame.log_prob(known.table_row), frame.stride, frame.lanes, logits);
    else
      for (std::size_t l = 0; l < group.logits; ++l)
        std::copy_n(frame.log_prob(known.table_row + l), at.lanes, logits + l * at.lanes);
    S* contribution = at.outcome_contributions + factor * group.logits * group.outcome_count;
    for (std::size_t l = 0; l < group.logits; ++l)
      for (const Weight& weight : weights(group, factor)) {
        const S* const parameters = frame.parameters + weight.parameter + l * weight.logit_stride;
        for (int j = 0; j < weight.encoding->width; ++j)
          vectors.add_scaled(std::span(logits + l * at.lanes, at.lanes),
                             frame.feature(weight.feature_row + index(j)), -parameters[j]);
        for (Outcome k = 0; k < weight.encoding->outcome_count; ++k, ++contribution) {
          *contribution = 0;
          for (int j = 0; j < weight.encoding->width; ++j)
            *contribution += parameters[j] * static_cast<S>(weight.encoding->value(k, j));
        }
      }
    if (group.logits == 1 && group.own_stride == 0)
      kernels.turn_to_outcome(frame.outcome(known.unit_row), frame.lanes, logits,
                              at.signs + factor * at.lanes);
  }

  void choose_contributions(const Group& group, const OutcomeCounter& counter, const Scratch& at) const {
    const S* contribution = at.outcome_contributions;
    for (std::size_t row = 0; row < group.rows(); ++row) {
      at.contributions[row] = 0;
      for (std::size_t p = 0; p < group.open; ++p) {
        at.contributions[row] += contribution[counter[p]];
        contribution += open_outcome_counts_[group.first_open + p];
      }
    }
  }

  /// The rows of the present joint outcome.
  void write(const Frame<S>& frame, const Group& group, const Scratch& at, S* out) const {
    const auto& kernels = linear_factor_kernels<S>(frame.instructions);
    if (group.own_stride > 0) {
      const std::size_t stride = group.own_stride * at.lanes;
      if (group.logits == 1)
        kernels.open_binary(at.logits, at.contributions[0], frame.lanes, out, out + stride);
      else
        kernels.open_softmax(at.logits, std::span(at.contributions, group.logits), frame.lanes, stride, out);
      return;
    }
    if (group.logits == 1) {
      KnownBinary<S> units[most_known_units];
      for (std::size_t first = 0; first < group.factors; first += most_known_units) {
        const std::size_t count = std::min(most_known_units, group.factors - first);
        for (std::size_t f = 0; f < count; ++f)
          units[f] = {at.logits + (first + f) * at.lanes, at.signs + (first + f) * at.lanes};
        kernels.known_binary(std::span(units, count), at.contributions + first, frame.lanes, first == 0, out);
      }
      return;
    }
    for (std::size_t f = 0; f < group.factors; ++f)
      kernels.known_softmax(at.logits + f * group.logits * at.lanes,
                            std::span(at.contributions + f * group.logits, group.logits),
                            frame.outcome(known_[group.first_factor + f].unit_row), frame.lanes, f == 0, out);
  }

  std::vector<Group> groups_;
  std::vector<Known> known_;              ///< per factor
  std::vector<Weight> weights_;           ///< per factor and open unit
  std::vector<int> open_outcome_counts_;  ///< per group and open unit
  std::vector<std::size_t> strides_;      ///< the same
};

}  // namespace

template <class S>
std::unique_ptr<FactorTables<S>> linear_factors(std::span<const FactorGroup> groups) {
  return std::make_unique<LinearFactors<S>>(groups);
}

template std::unique_ptr<FactorTables<float>> linear_factors(std::span<const FactorGroup>);
template std::unique_ptr<FactorTables<double>> linear_factors(std::span<const FactorGroup>);

}  // namespace hindsight::internal
