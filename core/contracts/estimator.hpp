#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hindsight/core/ids.hpp>
#include <hindsight/core/instruction_set.hpp>
#include <hindsight/core/matrix_view.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/core/shape.hpp>

namespace hindsight {

/// As many steps of hindsight as there are.
inline constexpr int every_step = std::numeric_limits<int>::max();

/// What an estimator asks the backward pass to bring.
struct Needs {
  /// 1: evidence of the node's children. k > 1: evidence after summing out descendants nearer than k edges
  /// that the reward does not read.
  int hindsight_steps = 0;
  bool candidate_rewards = false;  ///< what a known reward would be at the node's other outcomes
  bool pathwise = false;           ///< the slopes of the node's features, of all its rewards at once
};

/// What is true of one node and one reward, all that a verdict may depend on.
struct Facts {
  bool assumption_1 = true;      ///< parents of the node's children are not its descendants
  bool reads_directly = false;   ///< the reward is a function of the node's own outcome
  bool reward_is_known = false;  ///< the reward can be asked what it would be at other outcomes
  bool has_children = false;
  int outcome_count = 2;
  bool children_have_slopes = true;  ///< every child can backpropagate
  auto operator<=>(const Facts&) const = default;
};

/// One reward's view of some units with the same number of outcomes, over one chunk of samples. A row is
/// `stride` numbers long, one per sample; the samples that count are the first `samples`.
template <class S>
struct LocalView {
  int units = 0;
  int outcome_count = 0;
  int samples = 0;
  std::size_t stride = 0;
  const S* log_probs = nullptr;      ///< row unit·outcome_count + k: log π(k | parents)
  const Outcome* sampled = nullptr;  ///< row unit
  const S* evidence = nullptr;  ///< row unit·outcome_count + k: log P(what is known | k) - the same | sampled
  const S* signal = nullptr;    ///< one per sample: reward minus baseline, times the sample's share
  /// Where the reward is known, reads these units and was asked for: row unit·outcome_count + k, each of
  /// candidate_stride numbers, the signal if the unit's outcome were k. None: it is the signal for all k.
  const S* candidate_signals = nullptr;
  std::size_t candidate_stride = 0;
  InstructionSet instructions = InstructionSet::baseline;  ///< that the plan was compiled for
  /// Of a pathwise estimator only, which is asked once for all rewards and so has no signal.
  const S* slopes = nullptr;  ///< row unit·width + j: the derivative of Σ credit·log π(children) by feature j
  const Encoding* encoding = nullptr;  ///< of all the units

  std::size_t row(int unit, int outcome) const { return entry(unit, outcome) * stride; }
  S log_prob(int unit, int outcome, int sample) const {
    return log_probs[row(unit, outcome) + index(sample)];
  }
  S evidence_of(int unit, int outcome, int sample) const {
    return evidence[row(unit, outcome) + index(sample)];
  }
  constexpr S signal_of(int unit, int outcome, int sample) const {
    return candidate_signals ? candidate_signals[entry(unit, outcome) * candidate_stride + index(sample)]
                             : signal[index(sample)];
  }
  Outcome outcome(int unit, int sample) const { return sampled[index(unit) * stride + index(sample)]; }
  S slope(int unit, int feature, int sample) const {
    return slopes[(index(unit) * index(encoding->width) + index(feature)) * stride + index(sample)];
  }

  // The same, all samples of one unit at a time: as_eigen makes matrices and columns of them.

  /// Outcomes × samples.
  MatrixView<const S> log_probs_of(int unit) const { return rows_of(log_probs, unit, outcome_count, stride); }
  /// Outcomes × samples.
  MatrixView<const S> evidence_of(int unit) const { return rows_of(evidence, unit, outcome_count, stride); }
  /// Outcomes × samples: without candidates the same signal in every row.
  MatrixView<const S> signals_of(int unit) const {
    return candidate_signals ? rows_of(candidate_signals, unit, outcome_count, candidate_stride)
                             : MatrixView<const S>(signal, outcome_count, samples, 0, 1);
  }
  /// Features × samples.
  MatrixView<const S> slopes_of(int unit) const { return rows_of(slopes, unit, encoding->width, stride); }
  /// One per sample.
  std::span<const Outcome> outcomes_of(int unit) const {
    return {sampled + index(unit) * stride, index(samples)};
  }
  /// One per sample.
  std::span<const S> signals() const { return {signal, index(samples)}; }

 private:
  /// Number of the row of a table with a row per unit and outcome.
  constexpr std::size_t entry(int unit, int outcome) const {
    return index(unit) * index(outcome_count) + index(outcome);
  }
  MatrixView<const S> rows_of(const S* table, int unit, int rows, std::size_t row_stride) const {
    return {table + index(unit) * index(rows) * row_stride, rows, samples,
            static_cast<std::ptrdiff_t>(row_stride), 1};
  }
  static constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }
};

/// Where an estimator adds w(outcome) per unit and sample; laid out like the view's log_probs. The node's
/// gradient is Σ w·∇log π, so w is known up to a multiple of π (docs/theory.md).
template <class S>
struct CreditTable {
  const LocalView<S>* view = nullptr;
  S* rows = nullptr;

  S& operator()(int unit, int outcome, int sample) const {
    return rows[view->row(unit, outcome) + static_cast<std::size_t>(sample)];
  }
  /// Outcomes × samples.
  MatrixView<S> of(int unit) const {
    return {rows + view->row(unit, 0), view->outcome_count, view->samples,
            static_cast<std::ptrdiff_t>(view->stride), 1};
  }
};

/// How units are credited. It sees some units with their evidence, one reward and one chunk of samples, never
/// the graph.
///   needs()             what the backward pass must bring
///   admissible(facts)   may it be used here, and is it unbiased?
///   add_credit(view, credit)   adds, so that several rewards sum; must be linear in the signal, or in the
///                                slopes if it is pathwise
///   name()              as people write it
template <class E>
concept Estimator = requires(const E estimator, const Facts& facts, const LocalView<float>& view,
                             const CreditTable<float>& credit, const LocalView<double>& view_in_double,
                             const CreditTable<double>& credit_in_double) {
  { estimator.needs() } -> std::same_as<Needs>;
  { estimator.admissible(facts) } -> std::same_as<Verdict>;
  { estimator.name() } -> std::convertible_to<std::string>;
  estimator.add_credit(view, credit);
  estimator.add_credit(view_in_double, credit_in_double);
}
&&std::copy_constructible<E>;

/// Any estimator, as a value.
class AnyEstimator {
 public:
  template <class E>
  requires(!std::same_as<E, AnyEstimator> && Estimator<E>) AnyEstimator(E estimator)
      : self_(std::make_shared<const Held<E>>(std::move(estimator))) {}

  Needs needs() const { return self_->needs; }
  Verdict admissible(const Facts& facts) const { return self_->admissible(facts); }
  const std::string& name() const { return self_->name; }
  void add_credit(const LocalView<float>& view, const CreditTable<float>& credit) const {
    self_->add_credit(view, credit);
  }
  void add_credit(const LocalView<double>& view, const CreditTable<double>& credit) const {
    self_->add_credit(view, credit);
  }
  /// Interchangeable: copies of one estimator, or equal values of one type that can be compared.
  bool operator==(const AnyEstimator& other) const {
    return self_ == other.self_ || self_->equals(*other.self_);
  }

 private:
  struct Interface {
    Interface(Needs its_needs, std::string its_name) : needs(its_needs), name(std::move(its_name)) {}
    virtual ~Interface() = default;
    virtual Verdict admissible(const Facts&) const = 0;
    virtual bool equals(const Interface&) const = 0;
    virtual void add_credit(const LocalView<float>&, const CreditTable<float>&) const = 0;
    virtual void add_credit(const LocalView<double>&, const CreditTable<double>&) const = 0;

    const Needs needs;  // asked once: what runs must not change its mind, and asking cannot fail later
    const std::string name;
  };

  template <class E>
  struct Held final : Interface {
    explicit Held(E held) : Interface(held.needs(), std::string(held.name())), estimator(std::move(held)) {}
    Verdict admissible(const Facts& facts) const override { return estimator.admissible(facts); }
    bool equals(const Interface& other) const override {
      // An operator inherited from a base would ignore what E adds to it.
      if constexpr (requires { static_cast<bool (E::*)(const E&) const>(&E::operator==); }) {
        const auto* same = dynamic_cast<const Held*>(&other);
        return same && same->estimator == estimator;
      } else {
        return false;
      }
    }
    void add_credit(const LocalView<float>& view, const CreditTable<float>& credit) const override {
      estimator.add_credit(view, credit);
    }
    void add_credit(const LocalView<double>& view, const CreditTable<double>& credit) const override {
      estimator.add_credit(view, credit);
    }
    E estimator;
  };

  std::shared_ptr<const Interface> self_;
};

/// Leaves the choice to the catalogue: the first preferred estimator that is admissible and unbiased.
struct Auto {};

/// What a user asks for: an estimator, or Auto.
class EstimatorChoice {
 public:
  EstimatorChoice() = default;
  EstimatorChoice(Auto) {}
  template <class E>
  requires Estimator<E> EstimatorChoice(E estimator) : chosen_(std::move(estimator)) {}
  /// Anything else ends in a sentence.
  template <class E>
  requires(!std::same_as<E, EstimatorChoice> && !Estimator<E>) EstimatorChoice(const E&) {
    static_assert(Estimator<E>,
                  "hindsight: this is no estimator; give Auto, a Reinforce, an Hnca, a HindsightCredit, a "
                  "StraightThrough, or a type of your own that has needs, admissible, name and add_credit");
  }

  /// None: Auto.
  const std::optional<AnyEstimator>& chosen() const { return chosen_; }

 private:
  std::optional<AnyEstimator> chosen_;
};

}  // namespace hindsight
