#include <hindsight/nodes/linear.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include <Eigen/Core>

#include <hindsight/core/numerics.hpp>

namespace hindsight {
namespace {

template <class S>
using Lanes = Eigen::Map<Eigen::Array<S, Eigen::Dynamic, 1>>;
template <class S>
using ConstLanes = Eigen::Map<const Eigen::Array<S, Eigen::Dynamic, 1>>;

template <class S>
using Sixteen = Eigen::Array<S, 16, 1>;

/// Sums over the lanes are sixteen partial sums, whatever the number of lanes: padding with zeros changes no
/// bit.
template <class S>
S sum(const S* values, int lanes) {
  Sixteen<S> partial = Sixteen<S>::Zero();
  for (int i = 0; i < lanes; i += 16) partial += Eigen::Map<const Sixteen<S>>(values + i);
  return partial.sum();
}

template <class S>
S dot(const S* a, const S* b, int lanes) {
  Sixteen<S> partial = Sixteen<S>::Zero();
  for (int i = 0; i < lanes; i += 16)
    partial += Eigen::Map<const Sixteen<S>>(a + i) * Eigen::Map<const Sixteen<S>>(b + i);
  return partial.sum();
}

/// A run of weights with its parent's place at hand, and the first parameter counted from the model's first.
struct PlacedRun {
  const ParentPlace* parent;
  int first_unit;
  int units;
  std::size_t parameter;
  std::size_t logit_stride;
};

struct PlacedUnit {
  const Placement* at;
  int unit;
  std::size_t bias;
  std::size_t first_run, last_run;
  std::size_t table_row;
};

/// Units with linear logits and one number of outcomes, whichever nodes they belong to.
template <class S>
class LinearBlock final : public Block<S> {
 public:
  LinearBlock(std::span<const Placement* const> group, Link link) : link_(link) {
    outcomes_ = static_cast<std::size_t>(group.front()->shape.outcomes());
    logits_ = static_cast<std::size_t>(group.front()->shape.logits);
    for (const Placement* at : group) {
      const LinearLayout layout(at->parent_shapes, at->shape.units, at->shape.logits);
      for (int unit = 0; unit < at->shape.units; ++unit) {
        const std::size_t first_run = runs_.size();
        for (const WeightRun& run : layout.runs(unit)) {
          const ParentPlace& parent = at->parents[run.parent];
          runs_.push_back(
              {&parent, run.first_unit, run.units, at->first_parameter + run.parameter, run.logit_stride});
          if (parent.wants_messages)
            most_candidates_ =
                std::max(most_candidates_, static_cast<std::size_t>(parent.shape.encoding->outcomes));
        }
        units_.push_back({at, unit, at->first_parameter + layout.bias(unit), first_run, runs_.size(),
                          at->table_row + static_cast<std::size_t>(unit) * outcomes_});
      }
    }
  }

  void forward(const Frame<S>& frame) const override {
    for (const PlacedUnit& unit : units_) {
      for (std::size_t logit = 0; logit < logits_; ++logit) {
        // A lone logit is that of outcome 1: its row is the second.
        Lanes<S> sum(frame.log_prob(unit.table_row + (link_ == Link::bernoulli ? 1 : logit)), frame.lanes);
        sum.setConstant(frame.parameters[unit.bias + logit]);
        for_each_run(unit, [&](const PlacedRun& run, std::size_t feature_row, std::size_t features) {
          const S* const weight = frame.parameters + run.parameter + logit * run.logit_stride;
          for (std::size_t j = 0; j < features; ++j)
            sum += weight[j] * ConstLanes<S>(frame.feature(feature_row + j), frame.lanes);
        });
      }
      normalise(frame, unit);
      settle_unit(frame, *unit.at, unit.unit);
    }
  }

  void send_messages(const Frame<S>& frame) const override {
    if (most_candidates_ == 0) return;
    for (const PlacedUnit& unit : units_)
      for (std::size_t r = unit.first_run; r < unit.last_run; ++r) {
        const PlacedRun& run = runs_[r];
        if (!run.parent->wants_messages) continue;
        for (int j = 0; j < run.units; ++j) send_to(frame, unit, run, j);
      }
  }

  int rows() const override { return static_cast<int>(units_.size()); }

  void accumulate(const Frame<S>& frame, int first, int last) const override {
    for (int row = first; row < last; ++row) {
      const PlacedUnit& unit = units_[static_cast<std::size_t>(row)];
      make_deltas(frame, unit);
      for (std::size_t logit = 0; logit < logits_; ++logit) {
        const S* const delta = frame.scratch + logit * static_cast<std::size_t>(frame.lanes);
        frame.gradient[unit.bias + logit] += sum(delta, frame.lanes);
        for_each_run(unit, [&](const PlacedRun& run, std::size_t feature_row, std::size_t features) {
          S* const gradient = frame.gradient + run.parameter + logit * run.logit_stride;
          for (std::size_t j = 0; j < features; ++j)
            gradient[j] += dot(delta, frame.feature(feature_row + j), frame.lanes);
        });
      }
    }
  }

  ScratchSize scratch(int lanes) const override {
    return {std::max(logits_ * static_cast<std::size_t>(lanes), logits_ * most_candidates_), 0};
  }

 private:
  template <class Visit>
  void for_each_run(const PlacedUnit& unit, const Visit& visit) const {
    for (std::size_t r = unit.first_run; r < unit.last_run; ++r) {
      const PlacedRun& run = runs_[r];
      const auto width = static_cast<std::size_t>(run.parent->shape.width());
      visit(run, run.parent->feature_row + static_cast<std::size_t>(run.first_unit) * width,
            static_cast<std::size_t>(run.units) * width);
    }
  }

  /// Logits become log-probabilities; a logit that is not finite makes them NaN.
  void normalise(const Frame<S>& frame, const PlacedUnit& unit) const {
    S* const first = frame.log_prob(unit.table_row);
    for (int i = 0; i < frame.lanes; ++i) {
      if (link_ == Link::softmax) {
        S check = 0;
        for (std::size_t k = 0; k < outcomes_; ++k)
          check += first[k * frame.stride + static_cast<std::size_t>(i)] * 0;
        log_softmax(first + i, outcomes_, frame.stride);
        first[i] += check;
      } else {
        const S logit = first[frame.stride + static_cast<std::size_t>(i)];
        const S check = logit * 0;
        first[i] = check - softplus(logit);
        first[frame.stride + static_cast<std::size_t>(i)] = check - softplus(-logit);
      }
    }
  }

  /// delta, one row per logit: the derivative of Σ w·log π.
  void make_deltas(const Frame<S>& frame, const PlacedUnit& unit) const {
    const S* const weight = frame.weight(unit.table_row);
    const S* const log_prob = frame.log_prob(unit.table_row);
    const auto lanes = static_cast<std::size_t>(frame.lanes);
    std::fill(frame.scratch, frame.scratch + logits_ * lanes,
              S(0));  // whatever the padding drew counts for nothing
    for (std::size_t i = 0; i < static_cast<std::size_t>(frame.samples); ++i) {
      if (link_ == Link::bernoulli) {
        frame.scratch[i] = weight[frame.stride + i] * std::exp(log_prob[i]) -
                           weight[i] * std::exp(log_prob[frame.stride + i]);
        continue;
      }
      S total = 0;
      for (std::size_t k = 0; k < outcomes_; ++k) total += weight[k * frame.stride + i];
      for (std::size_t k = 0; k < outcomes_; ++k)
        frame.scratch[k * lanes + i] =
            softmax_gradient(weight[k * frame.stride + i], log_prob[k * frame.stride + i], total);
    }
  }

  /// Tells the run's j-th unit how likely this unit's outcome is under each of its candidates
  /// (docs/theory.md, messages).
  void send_to(const Frame<S>& frame, const PlacedUnit& unit, const PlacedRun& run, int j) const {
    const ParentPlace& parent = *run.parent;
    const Encoding& encoding = *parent.shape.encoding;
    const auto candidates = static_cast<std::size_t>(encoding.outcomes),
               width = static_cast<std::size_t>(encoding.width);
    const auto parent_unit = static_cast<std::size_t>(run.first_unit + j);
    // share[logit·candidates + k]: what the parent's unit adds to the logit when its outcome is k.
    S* const share = frame.scratch;
    for (std::size_t logit = 0; logit < logits_; ++logit) {
      const S* const weight =
          frame.parameters + run.parameter + logit * run.logit_stride + static_cast<std::size_t>(j) * width;
      for (std::size_t k = 0; k < candidates; ++k) {
        S& value = share[logit * candidates + k];
        value = encoding.is_one_hot() ? weight[k] : S(0);
        if (encoding.is_one_hot()) continue;
        for (std::size_t f = 0; f < width; ++f)
          value += weight[f] * static_cast<S>(encoding.values[k * width + f]);
      }
    }
    const Outcome* const actual = frame.outcome(parent.unit_row + parent_unit);
    const Outcome* const own = frame.outcome(unit.at->unit_row + static_cast<std::size_t>(unit.unit));
    for (std::size_t k = 0; k < candidates; ++k) {
      S* const evidence = frame.evidence_of(parent.table_row + parent_unit * candidates + k);
      for (int i = 0; i < frame.samples; ++i)
        if (const auto was = static_cast<std::size_t>(actual[i]); was != k)
          evidence[i] += message(frame, unit, static_cast<std::size_t>(i), static_cast<std::size_t>(own[i]),
                                 [&](std::size_t logit) {
                                   return share[logit * candidates + k] - share[logit * candidates + was];
                                 });
    }
  }

  /// log π(own | logits + change) - log π(own | logits) = -log Σ_k π(k)·e^{z_k} with z_k = change_k -
  /// change_own. Near 0 the sum is taken as 1 + Σ π·(e^z - 1), so that small messages keep their precision;
  /// elsewhere in log space.
  template <class Change>
  S message(const Frame<S>& frame, const PlacedUnit& unit, std::size_t sample, std::size_t own,
            const Change& change) const {
    const S* const log_prob = frame.log_prob(unit.table_row) + sample;
    const auto at_outcome = [&](std::size_t k) -> S {
      return link_ == Link::softmax ? change(k) : k == 0 ? S(0) : change(0);
    };
    const S base = at_outcome(own);
    S small = 0, log_sum = log_prob[own * frame.stride];
    bool near = true;
    for (std::size_t k = 0; k < outcomes_; ++k) {
      if (k == own) continue;
      const S z = at_outcome(k) - base, log_pi = log_prob[k * frame.stride];
      near = near && std::abs(z) < 1;
      if (near) small += std::exp(log_pi) * std::expm1(z);
      log_sum = log_add(log_sum, log_pi + z);
    }
    return near ? -std::log1p(small) : -log_sum;
  }

  Link link_;
  std::size_t outcomes_ = 0, logits_ = 0, most_candidates_ = 0;
  std::vector<PlacedUnit> units_;
  std::vector<PlacedRun> runs_;
};

}  // namespace

template <class S>
Blocks<S> lower_linear(std::span<const Placement* const> group, Link link) {
  std::map<int, std::vector<const Placement*>> by_outcomes;
  for (const Placement* at : group) by_outcomes[at->shape.outcomes()].push_back(at);
  Blocks<S> blocks;
  for (const auto& [outcomes, members] : by_outcomes)
    blocks.push_back(std::make_unique<LinearBlock<S>>(members, link));
  return blocks;
}

template Blocks<float> lower_linear<float>(std::span<const Placement* const>, Link);
template Blocks<double> lower_linear<double>(std::span<const Placement* const>, Link);

}  // namespace hindsight
