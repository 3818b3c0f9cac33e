// Rewards that the library works out itself, and what becomes of rewards: signals, by way of baselines.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/graph/executor.hpp>
#include <hindsight/graph/parallel.hpp>

namespace hindsight {
namespace {

/// One sample of a frame, as the function of a known reward may read it: the nodes that the reward lists.
template <class S>
class FrameSource final : public JointOutcome::Source {
 public:
  FrameSource(const Plan<S>& plan, int reward, const Frame<S>& frame, int sample)
      : plan_(plan), reward_(static_cast<std::size_t>(reward)), frame_(frame), sample_(sample) {}

  Outcome outcome(NodeId node, int unit) const override {
    const Placement& at = listed(node, unit);
    if (!plan_.is_stochastic(static_cast<std::size_t>(node.index)))
      throw std::out_of_range(fmt::format("'{}' has values, not outcomes; ask for value(…)", at.name));
    return frame_.outcome(at.unit_row + static_cast<std::size_t>(unit))[sample_];
  }
  double value(NodeId node, int unit) const override {
    const Placement& at = listed(node, unit);
    if (plan_.is_stochastic(static_cast<std::size_t>(node.index)))
      throw std::out_of_range(fmt::format("'{}' has outcomes, not values", at.name));
    return static_cast<double>(frame_.feature(at.feature_row + static_cast<std::size_t>(unit))[sample_]);
  }

 private:
  const Placement& listed(NodeId node, int unit) const {
    const Placement& at = plan_.placement(node);
    const std::vector<NodeId>& reads = plan_.reward_plans[reward_].reads;
    if (!std::binary_search(reads.begin(), reads.end(), node))
      refuse({.code = "reward-reads-unlisted",
              .node = at.name,
              .message = fmt::format("the function of reward '{}' reads it, but the reward does not list it: "
                                     "it would be credited wrongly",
                                     plan_.rewards[reward_]),
              .help = {fmt::format("graph.reward(\"{}\", {{…, {}}}, …)", plan_.rewards[reward_], at.name)}});
    if (unit < 0 || unit >= at.shape.units)
      throw std::out_of_range(fmt::format("'{}' has no unit {}; it has {}", at.name, unit, at.shape.units));
    return at;
  }

  const Plan<S>& plan_;
  const std::size_t reward_;
  const Frame<S>& frame_;
  const int sample_;
};

}  // namespace

template <class S>
template <class Describe>
double Executor<S>::ask(int reward, const Frame<S>& frame, int lane, int sample, const std::string* node,
                        const Describe& describe) const {
  const FrameSource<S> source(plan_, reward, frame, lane);
  const int given = sample / plan_.replicas;
  const int row = rows_.empty() ? given : rows_[static_cast<std::size_t>(given)];
  const std::string& name = plan_.rewards[static_cast<std::size_t>(reward)];
  const double value = guarded_call(
      "reward-threw", node,
      [&] { return fmt::format("the function of reward '{}' in sample {}{}", name, sample, describe()); },
      [&] { return plan_.reward_plans[static_cast<std::size_t>(reward)].value(JointOutcome(source, row)); });
  if (!std::isfinite(static_cast<S>(value)))
    refuse({.code = "reward-not-finite",
            .node = node ? *node : std::string(),
            .message = fmt::format("reward '{}' is {} in sample {}{}", name, value, sample, describe()),
            .help = {"give finite rewards; use 0 where there is none"}});
  return value;
}

template <class S>
void Executor<S>::ask_known_rewards() {
  const auto is_known = [](const RewardPlan& reward) { return static_cast<bool>(reward.value); };
  if (std::none_of(plan_.reward_plans.begin(), plan_.reward_plans.end(), is_known)) return;
  for_each_item(chunks(), run_.threads_, [&](int chunk, int worker) {
    const Frame<S> at = frame(chunk, worker);
    for (std::size_t r = 0; r < plan_.rewards.size(); ++r) {
      if (!is_known(plan_.reward_plans[r])) continue;
      for (int i = 0; i < at.samples; ++i) {
        const int sample = chunk * chunk_samples + i;
        run_.rewards_[r * run_.stride_ + static_cast<std::size_t>(sample)] =
            static_cast<S>(ask(static_cast<int>(r), at, i, sample, nullptr, [] { return std::string(); }));
      }
    }
  });
}

template <class S>
void Executor<S>::ask_candidates(const CreditRun& credit, const Frame<S>& at, const Frame<S>& trial,
                                 int chunk, S* signals) const {
  const auto first = static_cast<std::size_t>(chunk) * chunk_samples;
  const S* const rewards =
      run_.rewards_.data() + static_cast<std::size_t>(credit.reward) * run_.stride_ + first;
  const S* const sampled = run_.signals_.data() + credit.signal * run_.stride_ + first;
  const auto outcomes = static_cast<std::size_t>(credit.outcomes);
  const auto row = [&](std::size_t unit, Outcome outcome) {
    return signals + (unit * outcomes + static_cast<std::size_t>(outcome)) * chunk_samples;
  };
  for (std::size_t unit = 0; unit < static_cast<std::size_t>(credit.units); ++unit)
    for (int i = 0; i < at.samples; ++i) row(unit, at.outcome(credit.unit_row + unit)[i])[i] = sampled[i];
  plan_.candidates[*credit.candidates].for_each_candidate(
      at, trial, [&](std::size_t unit, const Outcome* tried) {
        for (int i = 0; i < at.samples; ++i) {
          const int sample = static_cast<int>(first) + i;
          const double value = ask(credit.reward, trial, i, sample, &credit.node, [&, outcome = tried[i]] {
            return fmt::format(", had unit {} of '{}' had outcome {}", unit, credit.node, outcome);
          });
          // The baseline and the sample's share are in the signal already.
          row(unit, tried[i])[i] = sampled[i] + static_cast<S>(value - static_cast<double>(rewards[i])) *
                                                    run_.shares_[static_cast<std::size_t>(sample)];
        }
      });
}

template <class S>
BaselineView<S> Executor<S>::baseline_view(int reward) const {
  return {.samples = run_.samples_,
          .stride = run_.stride_,
          .features = plan_.input_rows,
          .inputs = run_.features_.data(),
          .rewards = run_.rewards_.data() + static_cast<std::size_t>(reward) * run_.stride_};
}

template <class S>
std::string Executor<S>::baseline_subject(const SignalPlan& signal) const {
  return fmt::format("the baseline {} of reward '{}'", signal.baseline->name(),
                     plan_.rewards[static_cast<std::size_t>(signal.reward)]);
}

template <class S>
void Executor<S>::make_signals() {
  const auto samples = static_cast<std::size_t>(run_.samples_);
  for (std::size_t s = 0; s < plan_.signals.size(); ++s) {
    const SignalPlan& plan = plan_.signals[s];
    const BaselineView<S> view = baseline_view(plan.reward);
    const std::span<S> signal(run_.signals_.data() + s * run_.stride_, samples);
    std::fill_n(signal.data(), run_.stride_, S(0));
    if (plan.baseline) {
      const auto state = std::span<const double>(run_.baselines_).subspan(plan.first_state, plan.state_size);
      guarded_call(
          "baseline-threw", nullptr, [&] { return baseline_subject(plan); },
          [&] { plan.baseline->predict(view, state, signal); });
      for (std::size_t i = 0; i < samples; ++i)
        if (!std::isfinite(signal[i]))
          refuse({.code = "baseline-not-finite",
                  .message = fmt::format("{} is {} in sample {}", baseline_subject(plan), signal[i], i),
                  .help = {"lower its rate, or scale the inputs: it has diverged"}});
    }
    for (std::size_t i = 0; i < samples; ++i) signal[i] = (view.rewards[i] - signal[i]) * run_.shares_[i];
  }
}

template <class S>
void Executor<S>::learn_baselines() {
  if (run_.baselines_.empty()) return;
  run_.learned_ = run_.baselines_;  // of the same size: nothing is allocated
  for (const SignalPlan& plan : plan_.signals) {
    if (!plan.baseline) continue;
    guarded_call(
        "baseline-threw", nullptr, [&] { return baseline_subject(plan); },
        [&] {
          plan.baseline->learn(baseline_view(plan.reward),
                               std::span(run_.learned_).subspan(plan.first_state, plan.state_size));
        });
  }
}

template void Executor<float>::ask_known_rewards();
template void Executor<float>::ask_candidates(const CreditRun&, const Frame<float>&, const Frame<float>&, int,
                                              float*) const;
template BaselineView<float> Executor<float>::baseline_view(int) const;
template std::string Executor<float>::baseline_subject(const SignalPlan&) const;
template void Executor<float>::make_signals();
template void Executor<float>::learn_baselines();
template void Executor<double>::ask_known_rewards();
template void Executor<double>::ask_candidates(const CreditRun&, const Frame<double>&, const Frame<double>&,
                                               int, double*) const;
template BaselineView<double> Executor<double>::baseline_view(int) const;
template std::string Executor<double>::baseline_subject(const SignalPlan&) const;
template void Executor<double>::make_signals();
template void Executor<double>::learn_baselines();

}  // namespace hindsight
