#include <hindsight/graph/signals.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>

namespace hindsight::internal {
namespace {

/// One sample of a frame, as the function of a known reward may read it: the nodes that the reward lists.
template <class S>
class FrameSource final : public JointOutcome::Source {
 public:
  FrameSource(const Plan<S>& plan, int reward, const Frame<S>& frame, int sample)
      : layout_(plan.layout), reward_(plan.rewards[index(reward)]), frame_(frame), sample_(sample) {}

  Outcome outcome(NodeId node, int unit) const override {
    const Placement& at = listed(node, unit);
    if (!layout_.is_stochastic(node))
      throw std::out_of_range(fmt::format("'{}' has values, not outcomes; ask for value(…)", at.name));
    return frame_.outcome(at.unit_row + index(unit))[sample_];
  }
  double value(NodeId node, int unit) const override {
    const Placement& at = listed(node, unit);
    if (layout_.is_stochastic(node))
      throw std::out_of_range(fmt::format("'{}' has outcomes, not values", at.name));
    return static_cast<double>(frame_.feature(at.feature_row + index(unit))[sample_]);
  }

 private:
  const Placement& listed(NodeId node, int unit) const {
    const Placement& at = layout_.placement(node);
    if (!std::binary_search(reward_.reads.begin(), reward_.reads.end(), node))
      refuse({.code = "reward-reads-unlisted",
              .node = at.name,
              .message = fmt::format("the function of reward '{}' reads it, but the reward does not list it: "
                                     "it would be credited wrongly",
                                     reward_.name),
              .help = {fmt::format("graph.reward(\"{}\", {{…, {}}}, …)", reward_.name, at.name)}});
    if (unit < 0 || unit >= at.shape.units)
      throw std::out_of_range(fmt::format("'{}' has no unit {}; it has {}", at.name, unit, at.shape.units));
    return at;
  }

  const Layout& layout_;
  const RewardPlan& reward_;
  const Frame<S>& frame_;
  const int sample_;
};

/// A known reward at sample `lane` of the frame, which is `sample` of the batch. `describe` tells what was
/// tried, should it fail.
template <class S, class Describe>
double ask(const Pass<S>& pass, int reward, const Frame<S>& frame, int lane, int sample,
           const std::string* node, const Describe& describe) {
  const FrameSource<S> source(pass.plan, reward, frame, lane);
  const int given = sample / pass.plan.credit.replicas;
  const int row = pass.input_rows.empty() ? given : pass.input_rows[index(given)];
  const RewardPlan& plan = pass.plan.rewards[index(reward)];
  const double value = guarded_call(
      "reward-threw", node,
      [&] {
        return fmt::format("the function of reward '{}' in sample {}{}", plan.name, sample, describe());
      },
      [&] { return plan.value(JointOutcome(source, row)); });
  if (!std::isfinite(static_cast<S>(value)))
    refuse({.code = "reward-not-finite",
            .node = node ? *node : std::string(),
            .message = fmt::format("reward '{}' is {} in sample {}{}", plan.name, value, sample, describe()),
            .help = {"give finite rewards; use 0 where there is none"}});
  return value;
}

template <class S>
BaselineView<S> baseline_view(const Pass<S>& pass, int reward) {
  const RunState<S>& state = pass.state;
  return {.samples = state.samples,
          .stride = state.stride,
          .features = pass.plan.layout.input_rows,
          .inputs = state.features.data(),
          .rewards = state.rewards.data() + index(reward) * state.stride};
}

template <class S>
std::string baseline_subject(const Plan<S>& plan, const SignalPlan& signal) {
  return fmt::format("the baseline {} of reward '{}'", signal.baseline->name(),
                     plan.rewards[index(signal.reward)].name);
}

}  // namespace

template <class S>
void ask_known_rewards(const Pass<S>& pass) {
  const std::vector<RewardPlan>& rewards = pass.plan.rewards;
  if (std::none_of(rewards.begin(), rewards.end(), [](const RewardPlan& plan) { return plan.is_known(); }))
    return;
  pass.for_each_chunk([&](int chunk, int, const Frame<S>& at) {
    for (std::size_t r = 0; r < rewards.size(); ++r) {
      if (!rewards[r].is_known()) continue;
      for (int i = 0; i < at.samples; ++i) {
        const int sample = chunk * chunk_samples + i;
        pass.state.rewards[r * pass.state.stride + index(sample)] = static_cast<S>(
            ask(pass, static_cast<int>(r), at, i, sample, nullptr, [] { return std::string(); }));
      }
    }
  });
}

template <class S>
void ask_candidates(const Pass<S>& pass, const CreditRun& run, const Frame<S>& at, const Frame<S>& trial,
                    int chunk, S* signals) {
  const RunState<S>& state = pass.state;
  const std::size_t first = index(chunk) * chunk_samples;
  const S* const rewards = state.rewards.data() + index(run.reward) * state.stride + first;
  const S* const sampled = state.signals.data() + run.signal * state.stride + first;
  const auto row = [&](std::size_t unit, Outcome outcome) {
    return signals + (unit * index(run.outcome_count) + index(outcome)) * chunk_samples;
  };
  for (std::size_t unit = 0; unit < index(run.units); ++unit)
    for (int i = 0; i < at.samples; ++i) row(unit, at.outcome(run.unit_row + unit)[i])[i] = sampled[i];
  pass.plan.credit.reward_reruns[*run.reward_rerun].for_each_candidate(
      at, trial, [&](std::size_t unit, const Outcome* tried) {
        for (int i = 0; i < at.samples; ++i) {
          const int sample = static_cast<int>(first) + i;
          const double value = ask(pass, run.reward, trial, i, sample, &run.node, [&, outcome = tried[i]] {
            return fmt::format(", had unit {} of '{}' had outcome {}", unit, run.node, outcome);
          });
          // The baseline and the sample's share are in the signal already.
          row(unit, tried[i])[i] = sampled[i] + static_cast<S>(value - static_cast<double>(rewards[i])) *
                                                    state.shares[index(sample)];
        }
      });
}

template <class S>
void make_signals(const Pass<S>& pass) {
  RunState<S>& state = pass.state;
  const std::size_t samples = index(state.samples);
  for (std::size_t s = 0; s < pass.plan.credit.signals.size(); ++s) {
    const SignalPlan& plan = pass.plan.credit.signals[s];
    const BaselineView<S> view = baseline_view(pass, plan.reward);
    const std::span<S> signal(state.signals.data() + s * state.stride, samples);
    std::fill_n(signal.data(), state.stride, S(0));
    if (plan.baseline) {
      const auto remembered =
          std::span<const double>(state.baselines).subspan(plan.first_state, plan.state_size);
      guarded_call(
          "baseline-threw", nullptr, [&] { return baseline_subject(pass.plan, plan); },
          [&] { plan.baseline->predict(view, remembered, signal); });
      for (std::size_t i = 0; i < samples; ++i)
        if (!std::isfinite(signal[i]))
          refuse({.code = "baseline-not-finite",
                  .message =
                      fmt::format("{} is {} in sample {}", baseline_subject(pass.plan, plan), signal[i], i),
                  .help = {"lower its rate, or scale the inputs: it has diverged"}});
    }
    for (std::size_t i = 0; i < samples; ++i) signal[i] = (view.rewards[i] - signal[i]) * state.shares[i];
  }
}

template <class S>
void learn_baselines(const Pass<S>& pass) {
  RunState<S>& state = pass.state;
  if (state.baselines.empty()) return;
  state.learned = state.baselines;  // of the same size: nothing is allocated
  for (const SignalPlan& plan : pass.plan.credit.signals) {
    if (!plan.baseline) continue;
    guarded_call(
        "baseline-threw", nullptr, [&] { return baseline_subject(pass.plan, plan); },
        [&] {
          plan.baseline->learn(baseline_view(pass, plan.reward),
                               std::span(state.learned).subspan(plan.first_state, plan.state_size));
        });
  }
}

template void ask_known_rewards(const Pass<float>&);
template void ask_known_rewards(const Pass<double>&);
template void ask_candidates(const Pass<float>&, const CreditRun&, const Frame<float>&, const Frame<float>&,
                             int, float*);
template void ask_candidates(const Pass<double>&, const CreditRun&, const Frame<double>&,
                             const Frame<double>&, int, double*);
template void make_signals(const Pass<float>&);
template void make_signals(const Pass<double>&);
template void learn_baselines(const Pass<float>&);
template void learn_baselines(const Pass<double>&);

}  // namespace hindsight::internal
