#include <hindsight/graph/oracle.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/index.hpp>
#include <hindsight/graph/access.hpp>
#include <hindsight/graph/backward_pass.hpp>
#include <hindsight/graph/covariance.hpp>
#include <hindsight/graph/forward_pass.hpp>
#include <hindsight/graph/gradient_sum.hpp>
#include <hindsight/graph/joint_states.hpp>
#include <hindsight/graph/load_arguments.hpp>
#include <hindsight/graph/signals.hpp>

namespace hindsight {
namespace {

using internal::CovarianceSum;
using internal::index;
using internal::ListedSource;
using internal::Odometer;
using internal::Pass;
using internal::Plan;

constexpr std::size_t states_per_batch = 256;

/// Some consecutive states as the samples of one clamped batch.
template <class S>
class Batch {
 public:
  Batch(const BasicModel<S>& model, std::span<const InputValues<S>> inputs,
        std::span<const RewardFunction> rewards, std::span<const double> baselines, std::size_t capacity)
      : model_(model),
        given_(inputs),
        functions_(rewards),
        run_(model.workspace(static_cast<int>(capacity) * model.replicas())) {
    if (!baselines.empty()) {
      if (baselines.size() != run_.baselines().size())
        refuse({.code = "baseline-state",
                .message = fmt::format("{} numbers were given for baselines that remember {}",
                                       baselines.size(), run_.baselines().size()),
                .help = {"{.baselines = run.baselines()}   // of a workspace of this model"}});
      std::copy(baselines.begin(), baselines.end(), run_.baselines().begin());
    }
    for (const RewardFunction& reward : rewards)
      subjects_.push_back(internal::reward_subject(internal::Access::plan(model), reward.reward));
  }

  /// Samples the next states, and works out how probable each is.
  void fill(Odometer<S>& odometer, std::size_t states) {
    list(odometer, states);
    sample_clamped(states * replicas());
    probabilities_.clear();
    for (std::size_t state = 0; state < states; ++state)
      probabilities_.push_back(std::exp(log_probability(state)) / odometer.rows());
  }

  /// With every state's share of the gradient.
  void load_rewards(std::span<const double> shares) {
    std::vector<RewardValues<S>> rewards;
    for (std::size_t r = 0; r < functions_.size(); ++r) rewards.push_back({functions_[r].reward, values_[r]});
    const Pass<S> pass = this->pass();
    internal::load_rewards<S>(pass, rewards);
    internal::ask_known_rewards(pass);
    for (std::size_t i = 0; i < shares.size() * replicas(); ++i)
      pass.state.shares[i] = static_cast<S>(shares[i / replicas()] / static_cast<double>(replicas()));
    internal::make_signals(pass);
  }

  /// The gradient that `backward` would give, from messages among states that can occur.
  void estimate() {
    const Pass<S> pass = this->pass();
    internal::send_messages(pass);
    for (std::size_t i = 0; i < probabilities_.size() * replicas(); ++i)
      if (probabilities_[i / replicas()] == 0) internal::zero_evidence(pass, static_cast<int>(i));
    internal::make_credit(pass);
    internal::accumulate(pass, {});
  }

  /// Each state's share of the exact gradient, summed.
  void differentiate() {
    const Pass<S> pass = this->pass();
    internal::make_score_credit(pass);
    internal::accumulate(pass, {});
  }

  const BasicWorkspace<S>& run() const { return run_; }
  std::span<const double> probabilities() const { return probabilities_; }
  /// Of the first sample of a state: the others are as good.
  double value(std::size_t reward, std::size_t state) const {
    return static_cast<double>(run_.rewards({static_cast<int>(reward)})[state * replicas()]);
  }

 private:
  /// What the states are: their inputs, outcomes and rewards.
  void list(Odometer<S>& odometer, std::size_t states) {
    features_.assign(given_.size(), {});
    outcomes_.assign(plan().layout.placements.size(), {});
    values_.assign(functions_.size(), {});
    rows_.clear();
    for (std::size_t i = 0; i < states; ++i, odometer.advance()) {
      rows_.push_back(odometer.row());
      for (std::size_t g = 0; g < given_.size(); ++g)
        for (std::ptrdiff_t unit = 0; unit < given_[g].values.cols(); ++unit)
          features_[g].push_back(given_[g].values(odometer.row(), unit));
      for (const typename Odometer<S>::Outcomes& sample : odometer.outcomes()) {
        for (std::size_t n = 0; n < outcomes_.size(); ++n)
          outcomes_[n].insert(outcomes_[n].end(), sample[n].begin(), sample[n].end());
        ask_rewards(sample, odometer.row());
      }
    }
  }

  void ask_rewards(const typename Odometer<S>::Outcomes& sample, int row) {
    const ListedSource<S> source(sample, given_, row);
    const JointOutcome joint(source, row);
    for (std::size_t r = 0; r < functions_.size(); ++r)
      values_[r].push_back(static_cast<S>(internal::guarded_call(
          {"reward-threw", nullptr, subjects_[r]}, [&] { return functions_[r].value(joint); })));
  }

  /// As the samples of a batch in which everything is clamped.
  void sample_clamped(std::size_t samples) {
    const auto rows = static_cast<std::ptrdiff_t>(rows_.size());
    std::vector<InputValues<S>> inputs;
    for (std::size_t g = 0; g < given_.size(); ++g)
      inputs.push_back(
          {given_[g].node, MatrixView<const S>(features_[g].data(), rows, given_[g].values.cols())});
    const internal::Layout& layout = plan().layout;
    std::vector<ClampedOutcomes> clamps;
    for (const NodeId node : layout.nodes())
      if (layout.is_stochastic(node))
        clamps.push_back({node, MatrixView<const Outcome>(outcomes_[index(node)].data(),
                                                          static_cast<std::ptrdiff_t>(samples),
                                                          layout.placement(node).shape.units)});
    const Pass<S> pass = this->pass();
    internal::load_inputs<S>(pass, inputs, static_cast<int>(samples));
    internal::clamp<S>(pass, clamps);
    internal::sample(pass);
  }

  /// Of all samples of the state.
  double log_probability(std::size_t state) {
    double sum = 0;
    for (std::size_t k = 0; k < replicas(); ++k)
      sum += internal::log_probability(pass(), static_cast<int>(state * replicas() + k));
    return sum;
  }

  std::size_t replicas() const { return index(model_.replicas()); }
  const Plan<S>& plan() const { return internal::Access::plan(model_); }
  Pass<S> pass() { return {plan(), model_.parameters(), internal::Access::state(run_), rows_}; }

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
  BasicWorkspace<S> run = model.workspace(
      static_cast<int>(std::min<std::ptrdiff_t>(rows * model.replicas(), std::numeric_limits<int>::max())));
  internal::load_inputs(
      Pass<S>{internal::Access::plan(model), model.parameters(), internal::Access::state(run)}, inputs);
}

template <class S>
void add(std::vector<double>& sum, std::span<const S> part) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(part[i]);
}

}  // namespace

template <class S>
double count_states(const BasicModel<S>& model, std::ptrdiff_t rows) {
  return internal::count_states(internal::Access::plan(model), rows);
}

template <class S>
void for_each_state(const BasicModel<S>& model, std::type_identity_t<std::span<const InputValues<S>>> inputs,
                    std::span<const RewardFunction> rewards,
                    const std::type_identity_t<std::function<void(const State<S>&)>>& visit,
                    const EnumerateOptions& options) {
  check_inputs<S>(model, inputs);
  Odometer<S> odometer(internal::Access::plan(model), inputs, options.most_states);
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
    batch.estimate();
    visit({batch.probabilities()[0], &joint, &batch.run()});
  }
}

template <class S>
Enumeration enumerate(const BasicModel<S>& model,
                      std::type_identity_t<std::span<const InputValues<S>>> inputs,
                      std::span<const RewardFunction> rewards, const EnumerateOptions& options) {
  check_inputs<S>(model, inputs);
  Odometer<S> odometer(internal::Access::plan(model), inputs, options.most_states);
  const std::size_t parameters = model.parameters().size();
  std::optional<internal::CovarianceSum> covariance;
  if (options.covariance) covariance.emplace(parameters);
  Enumeration result{odometer.states(),
                     std::vector<double>(internal::Access::plan(model).rewards.size(), 0.0),
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
    batch.differentiate();
    add(result.gradient, batch.run().gradient());
    batch.estimate();
    add(result.estimate, batch.run().gradient());
  }
  if (!options.variance && !options.covariance) return result;
  if (options.variance) result.variance.assign(parameters, 0.0);
  for_each_state<S>(
      model, inputs, rewards,
      [&](const State<S>& state) {
        for (std::size_t i = 0; i < result.variance.size(); ++i) {
          const double difference = static_cast<double>(state.run->gradient()[i]) - result.estimate[i];
          result.variance[i] += state.probability * difference * difference;
        }
        if (covariance) covariance->add<S>(state.probability, state.run->gradient(), result.estimate);
      },
      options);
  if (covariance) result.covariance = covariance->take();
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
