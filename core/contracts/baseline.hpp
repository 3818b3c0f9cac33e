#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace hindsight {

/// What a baseline sees of one batch. A row is `stride` numbers long, one per sample; the samples that count
/// are the first `samples`.
template <class S>
struct BaselineView {
  int samples = 0;
  std::size_t stride = 0;
  std::size_t features = 0;    ///< of all inputs together
  const S* inputs = nullptr;   ///< row: feature
  const S* rewards = nullptr;  ///< one per sample
};

/// The most samples of one input that a baseline may want.
inline constexpr int most_replicas = 1024;

/// What a reward is compared with before it becomes a signal. It may depend on the inputs, on past batches
/// and on the rewards of other samples, but never on the reward of the sample itself (docs/theory.md).
///   predict(view, state, out)   what to expect, one number per sample
///   learn(view, state)          from the batch, after predict was used
///   state_size(features)        numbers that it remembers from batch to batch; all 0 at first
///   replicas()                  samples of one input that must lie side by side; 1: it does not care
///   name()                      as people write it
template <class B>
concept Baseline = requires(const B baseline, const BaselineView<float>& view,
                            const BaselineView<double>& view_in_double, std::span<double> state,
                            std::span<const double> known, std::span<float> out,
                            std::span<double> out_in_double) {
  { baseline.name() } -> std::convertible_to<std::string>;
  { baseline.replicas() } -> std::same_as<int>;
  { baseline.state_size(std::size_t{}) } -> std::same_as<std::size_t>;
  baseline.predict(view, known, out);
  baseline.predict(view_in_double, known, out_in_double);
  baseline.learn(view, state);
  baseline.learn(view_in_double, state);
}
&&std::copy_constructible<B>&& std::equality_comparable<B>;

/// Any baseline, as a value.
class AnyBaseline {
 public:
  template <class B>
  requires(!std::same_as<B, AnyBaseline> && Baseline<B>) AnyBaseline(B baseline)
      : self_(std::make_shared<const Held<B>>(std::move(baseline))) {}

  const std::string& name() const { return self_->name; }
  int replicas() const { return self_->replicas; }
  std::size_t state_size(std::size_t features) const { return self_->state_size(features); }
  void predict(const BaselineView<float>& view, std::span<const double> state, std::span<float> out) const {
    self_->predict(view, state, out);
  }
  void predict(const BaselineView<double>& view, std::span<const double> state, std::span<double> out) const {
    self_->predict(view, state, out);
  }
  void learn(const BaselineView<float>& view, std::span<double> state) const { self_->learn(view, state); }
  void learn(const BaselineView<double>& view, std::span<double> state) const { self_->learn(view, state); }
  bool operator==(const AnyBaseline& other) const {
    return self_ == other.self_ || self_->equals(*other.self_);
  }

 private:
  struct Interface {
    Interface(std::string its_name, int its_replicas) : name(std::move(its_name)), replicas(its_replicas) {}
    virtual ~Interface() = default;
    virtual std::size_t state_size(std::size_t) const = 0;
    virtual void predict(const BaselineView<float>&, std::span<const double>, std::span<float>) const = 0;
    virtual void predict(const BaselineView<double>&, std::span<const double>, std::span<double>) const = 0;
    virtual void learn(const BaselineView<float>&, std::span<double>) const = 0;
    virtual void learn(const BaselineView<double>&, std::span<double>) const = 0;
    virtual bool equals(const Interface&) const = 0;

    const std::string name;
    const int replicas;
  };

  template <class B>
  struct Held final : Interface {
    explicit Held(B held) : Interface(std::string(held.name()), held.replicas()), baseline(std::move(held)) {}
    std::size_t state_size(std::size_t features) const override { return baseline.state_size(features); }
    void predict(const BaselineView<float>& view, std::span<const double> state,
                 std::span<float> out) const override {
      baseline.predict(view, state, out);
    }
    void predict(const BaselineView<double>& view, std::span<const double> state,
                 std::span<double> out) const override {
      baseline.predict(view, state, out);
    }
    void learn(const BaselineView<float>& view, std::span<double> state) const override {
      baseline.learn(view, state);
    }
    void learn(const BaselineView<double>& view, std::span<double> state) const override {
      baseline.learn(view, state);
    }
    bool equals(const Interface& other) const override {
      const auto* same = dynamic_cast<const Held*>(&other);
      return same && same->baseline == baseline;
    }
    B baseline;
  };

  std::shared_ptr<const Interface> self_;
};

/// Rewards are taken as they are.
struct NoBaseline {};

/// What a user asks for: a baseline, or none.
class BaselineChoice {
 public:
  BaselineChoice() = default;
  BaselineChoice(NoBaseline) {}
  template <class B>
  requires(std::same_as<B, AnyBaseline> || Baseline<B>) BaselineChoice(B baseline)
      : chosen_(std::move(baseline)) {}
  /// Anything else ends in a sentence.
  template <class B>
  requires(!std::same_as<B, BaselineChoice> && !std::same_as<B, AnyBaseline> && !Baseline<B>)
      BaselineChoice(const B&) {
    static_assert(
        Baseline<B>,
        "hindsight: this is no baseline; give a NoBaseline, a RunningMean, a LeaveOneOut, a "
        "LinearCritic, or a type of your own that has predict, learn, state_size, replicas and name");
  }

  const std::optional<AnyBaseline>& chosen() const { return chosen_; }

 private:
  std::optional<AnyBaseline> chosen_;
};

}  // namespace hindsight
