#include <hindsight/graph/oracle.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>

namespace hindsight {
namespace {

constexpr std::size_t states_per_batch = 256;

/// Joint outcomes times rows.
template <class S>
double count(const Plan<S>& plan, std::ptrdiff_t rows) {
  double states = 1;
  for (std::size_t n = 0; n < plan.placements.size(); ++n) {
    const Shape& shape = plan.placements[n].shape;
    if (plan.is_stochastic(n)) states *= std::pow(shape.outcomes(), shape.units);
  }
  return std::pow(states, plan.replicas) * static_cast<double>(rows);
}

/// Counts through all joint outcomes and input rows, the last unit of the last node of the last sample
/// fastest.
template <class S>
class Odometer {
 public:
  using Outcomes = std::vector<std::vector<Outcome>>;  ///< per node, per unit

  Odometer(const Plan<S>& plan, std::span<const InputValues<S>> inputs, std::size_t most_states)
      : plan_(plan), rows_(inputs.empty() ? 1 : static_cast<int>(inputs.front().values.rows())) {
    Outcomes outcomes;
    for (std::size_t n = 0; n < plan.placements.size(); ++n) {
      const Shape& shape = plan.placements[n].shape;
      outcomes.emplace_back(plan.is_stochastic(n) ? static_cast<std::size_t>(shape.units) : 0, 0);
    }
    const double states = count(plan, rows_);
    if (states > static_cast<double>(most_states))
      refuse({.code = "too-many-states",
              .message = fmt::format(
                  "exact enumeration would visit {} states (joint outcomes × input rows); the limit is {}",
                  std::isinf(states) ? "more than 1e308" : fmt::format("{:.4g}", states), most_states),
              .help = {"enumerate(model, inputs, rewards, {.most_states = …})   // or a smaller graph"}});
    states_ = static_cast<std::size_t>(states);
    outcomes_.assign(static_cast<std::size_t>(plan.replicas), std::move(outcomes));
  }

  std::size_t states() const { return states_; }
  int rows() const { return rows_; }
  int row() const { return row_; }
  /// Per sample of the state.
  std::span<const Outcomes> outcomes() const { return outcomes_; }

  void advance() {
    for (std::size_t sample = outcomes_.size(); sample-- > 0;)
      for (std::size_t n = outcomes_[sample].size(); n-- > 0;)
        for (std::size_t unit = outcomes_[sample][n].size(); unit-- > 0;) {
          if (++outcomes_[sample][n][unit] < plan_.placements[n].shape.outcomes()) return;
          outcomes_[sample][n][unit] = 0;
        }
    ++row_;
  }

 private:
  const Plan<S>& plan_;
  int rows_, row_ = 0;
  std::size_t states_ = 0;
  std::vector<Outcomes> outcomes_;
};

/// One joint outcome of the odometer.
template <class S>
class ListedSource final : public JointOutcome::Source {
 public:
  ListedSource(std::span<const std::vector<Outcome>> outcomes, std::span<const InputValues<S>> inputs,
               int row)
      : outcomes_(outcomes), inputs_(inputs), row_(row) {}

  Outcome outcome(NodeId node, int unit) const override {
    const auto index = static_cast<std::size_t>(node.index), at = static_cast<std::size_t>(unit);
    if (index >= outcomes_.size() || at >= outcomes_[index].size())
      throw std::out_of_range(fmt::format("node number {} has no unit {} with an outcome", node.index, unit));
    return outcomes_[index][at];
  }
  double value(NodeId node, int unit) const override {
    for (const auto& [input, values] : inputs_)
      if (input == node && unit >= 0 && unit < values.cols()) return static_cast<double>(values(row_, unit));
    throw std::out_of_range(fmt::format("node number {} is no input with a unit {}", node.index, unit));
  }

 private:
  std::span<const std::vector<Outcome>> outcomes_;
  std::span<const InputValues<S>> inputs_;
  int row_;
};

/// Some consecutive states as the samples of one clamped batch.
template <class S>
class Batch {
 public:
  Batch(const BasicModel<S>& model, std::span<const InputValues<S>> inputs,
        std::span<const RewardFunction> rewards, std::span<const double> baselines, std::size_t capacity)
      : model_(model),
        given_(inputs),
        functions_(rewards),
        run_(model.workspace(static_cast<int>(capacity) * model.plan().replicas)) {
    if (!baselines.empty()) {
      if (baselines.size() != run_.baselines().size())
        refuse({.code = "baseline-state",
                .message = fmt::format("{} numbers were given for baselines that remember {}",
                                       baselines.size(), run_.baselines().size()),
                .help = {"{.baselines = run.baselines()}   // of a workspace of this model"}});
      std::copy(baselines.begin(), baselines.end(), run_.baselines().begin());
    }
    const std::vector<std::string>& names = model.plan().rewards;
    for (const RewardFunction& reward : rewards) {
      const auto index = static_cast<std::size_t>(reward.reward.index);
      subjects_.push_back(
          fmt::format("the function of reward '{}'", index < names.size() ? names[index] : "?"));
    }
  }

  void fill(Odometer<S>& odometer, std::size_t states) {
    const Plan<S>& plan = model_.plan();
    features_.assign(given_.size(), {});
    outcomes_.assign(plan.placements.size(), {});
    values_.assign(functions_.size(), {});
    rows_.clear();
    for (std::size_t i = 0; i < states; ++i, odometer.advance()) {
      rows_.push_back(odometer.row());
      for (std::size_t g = 0; g < given_.size(); ++g)
        for (std::ptrdiff_t unit = 0; unit < given_[g].values.cols(); ++unit)
          features_[g].push_back(given_[g].values(odometer.row(), unit));
      for (const typename Odometer<S>::Outcomes& sample : odometer.outcomes()) {
        const ListedSource<S> source(sample, given_, odometer.row());
        const JointOutcome joint(source, odometer.row());
        for (std::size_t n = 0; n < outcomes_.size(); ++n)
          outcomes_[n].insert(outcomes_[n].end(), sample[n].begin(), sample[n].end());
        for (std::size_t r = 0; r < functions_.size(); ++r)
          values_[r].push_back(static_cast<S>(guarded_call({"reward-threw", nullptr, subjects_[r]},
                                                           [&] { return functions_[r].value(joint); })));
      }
    }
    const std::size_t samples = states * odometer.outcomes().size();
    Executor<S> executor = this->executor();
    std::vector<InputValues<S>> inputs;
    for (std::size_t g = 0; g < given_.size(); ++g)
      inputs.push_back(
          {given_[g].node, MatrixView<const S>(features_[g].data(), static_cast<std::ptrdiff_t>(states),
                                               given_[g].values.cols())});
    std::vector<ClampedOutcomes> clamps;
    for (std::size_t n = 0; n < outcomes_.size(); ++n)
      if (plan.is_stochastic(n))
        clamps.push_back({NodeId{static_cast<int>(n)},
                          MatrixView<const Outcome>(outcomes_[n].data(), static_cast<std::ptrdiff_t>(samples),
                                                    plan.placements[n].shape.units)});
    executor.load_inputs(inputs, static_cast<int>(samples));
    executor.clamp(clamps);
    executor.sample();
    probabilities_.clear();
    for (std::size_t i = 0; i < states; ++i) {
      double log_probability = 0;
      for (std::size_t k = 0; k < samples / states; ++k)
        log_probability += executor.log_probability(static_cast<int>(i * (samples / states) + k));
      probabilities_.push_back(std::exp(log_probability) / odometer.rows());
    }
  }

  /// With every state's share of the gradient.
  void load_rewards(std::span<const double> shares) {
    std::vector<RewardValues<S>> rewards;
    for (std::size_t r = 0; r < functions_.size(); ++r) rewards.push_back({functions_[r].reward, values_[r]});
    Executor<S> executor = this->executor();
    executor.load_rewards(rewards);
    std::vector<S> of_samples;
    for (const double share : shares)
      of_samples.insert(of_samples.end(), replicas(),
                        static_cast<S>(share / static_cast<double>(replicas())));
    executor.share(of_samples);
    executor.make_signals();
  }

  /// Messages among states that can occur.
  void send_messages() {
    Executor<S> executor = this->executor();
    executor.send_messages();
    for (std::size_t i = 0; i < probabilities_.size() * replicas(); ++i)
      if (probabilities_[i / replicas()] == 0) executor.forget_evidence(static_cast<int>(i));
  }

  Executor<S> executor() { return {model_.plan(), model_.parameters(), run_, rows_}; }
  const BasicWorkspace<S>& run() const { return run_; }
  std::span<const double> probabilities() const { return probabilities_; }
  /// Of the first sample of a state: the others are as good.
  double value(std::size_t reward, std::size_t state) const {
    return static_cast<double>(run_.rewards({static_cast<int>(reward)})[state * replicas()]);
  }

 private:
  std::size_t replicas() const { return static_cast<std::size_t>(model_.plan().replicas); }

  const BasicModel<S>& model_;
  std::span<const InputValues<S>> given_;
  std::span<const RewardFunction> functions_;
  BasicWorkspace<S> run_;
  std::vector<std::string> subjects_;  ///< how a failing reward function is called
  std::vector<std::vector<S>> features_, values_;
  std::vector<std::vector<Outcome>> outcomes_;
  std::vector<int> rows_;  ///< of the inputs, per state
  std::vector<double> probabilities_;
};

/// Refuses what `forward` would refuse before any row is taken apart.
template <class S>
void check_inputs(const BasicModel<S>& model, std::span<const InputValues<S>> inputs) {
  const std::ptrdiff_t rows = inputs.empty() ? 1 : std::max<std::ptrdiff_t>(inputs.front().values.rows(), 1);
  BasicWorkspace<S> run = model.workspace(static_cast<int>(
      std::min<std::ptrdiff_t>(rows * model.plan().replicas, std::numeric_limits<int>::max())));
  Executor<S>(model.plan(), model.parameters(), run).load_inputs(inputs);
}

template <class S>
void add(std::vector<double>& sum, std::span<const S> part) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(part[i]);
}

}  // namespace

template <class S>
double count_states(const BasicModel<S>& model, std::ptrdiff_t rows) {
  return count(model.plan(), rows);
}

template <class S>
void for_each_state(const BasicModel<S>& model, std::type_identity_t<std::span<const InputValues<S>>> inputs,
                    std::span<const RewardFunction> rewards,
                    const std::type_identity_t<std::function<void(const State<S>&)>>& visit,
                    const EnumerateOptions& options) {
  check_inputs<S>(model, inputs);
  Odometer<S> odometer(model.plan(), inputs, options.most_states);
  Batch<S> batch(model, inputs, rewards, options.baselines, 1);
  for (std::size_t state = 0; state < odometer.states(); ++state) {
    const typename Odometer<S>::Outcomes outcomes = odometer.outcomes().front();
    const int row = odometer.row();
    const ListedSource<S> source(outcomes, inputs, row);
    const JointOutcome joint(source, row);
    batch.fill(odometer, 1);
    if (batch.probabilities()[0] == 0) continue;
    const double whole = 1;
    batch.load_rewards(std::span(&whole, 1));
    Executor<S> executor = batch.executor();
    batch.send_messages();
    executor.make_weights();
    executor.accumulate(false);
    visit({batch.probabilities()[0], &joint, &batch.run()});
  }
}

template <class S>
Enumeration enumerate(const BasicModel<S>& model,
                      std::type_identity_t<std::span<const InputValues<S>>> inputs,
                      std::span<const RewardFunction> rewards, const EnumerateOptions& options) {
  check_inputs<S>(model, inputs);
  Odometer<S> odometer(model.plan(), inputs, options.most_states);
  const std::size_t parameters = model.parameters().size();
  Enumeration result{odometer.states(),
                     std::vector<double>(model.plan().rewards.size(), 0.0),
                     std::vector<double>(parameters, 0.0),
                     std::vector<double>(parameters, 0.0),
                     {}};
  Batch<S> batch(model, inputs, rewards, options.baselines, std::min(states_per_batch, odometer.states()));
  for (std::size_t done = 0; done < odometer.states(); done += states_per_batch) {
    batch.fill(odometer, std::min(states_per_batch, odometer.states() - done));
    batch.load_rewards(batch.probabilities());
    for (std::size_t r = 0; r < result.rewards.size(); ++r)
      for (std::size_t i = 0; i < batch.probabilities().size(); ++i)
        result.rewards[r] += batch.probabilities()[i] * batch.value(r, i);
    Executor<S> executor = batch.executor();
    executor.make_score_weights();
    executor.accumulate(false);
    add(result.gradient, batch.run().gradient());
    batch.send_messages();
    executor.make_weights();
    executor.accumulate(false);
    add(result.estimate, batch.run().gradient());
  }
  if (!options.variance) return result;
  result.variance.assign(parameters, 0.0);
  for_each_state<S>(
      model, inputs, rewards,
      [&](const State<S>& state) {
        for (std::size_t i = 0; i < parameters; ++i) {
          const double difference = static_cast<double>(state.run->gradient()[i]) - result.estimate[i];
          result.variance[i] += state.probability * difference * difference;
        }
      },
      options);
  return result;
}

template double count_states<float>(const BasicModel<float>&, std::ptrdiff_t);
template double count_states<double>(const BasicModel<double>&, std::ptrdiff_t);
template Enumeration enumerate<float>(const BasicModel<float>&, std::span<const InputValues<float>>,
                                      std::span<const RewardFunction>, const EnumerateOptions&);
template Enumeration enumerate<double>(const BasicModel<double>&, std::span<const InputValues<double>>,
                                       std::span<const RewardFunction>, const EnumerateOptions&);
template void for_each_state<float>(const BasicModel<float>&, std::span<const InputValues<float>>,
                                    std::span<const RewardFunction>,
                                    const std::function<void(const State<float>&)>&, const EnumerateOptions&);
template void for_each_state<double>(const BasicModel<double>&, std::span<const InputValues<double>>,
                                     std::span<const RewardFunction>,
                                     const std::function<void(const State<double>&)>&,
                                     const EnumerateOptions&);

}  // namespace hindsight
