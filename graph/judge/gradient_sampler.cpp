#include <hindsight/graph/gradient_sampler.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/memory.hpp>
#include <hindsight/core/random.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/access.hpp>
#include <hindsight/graph/backward_pass.hpp>
#include <hindsight/graph/forward_pass.hpp>

namespace hindsight::internal {
namespace {

/// One sample of a run.
class RunSource final : public JointOutcome::Source {
 public:
  RunSource(const Workspace& run, int sample) : run_(run), sample_(sample) {}
  Outcome outcome(NodeId node, int unit) const override {
    return within(run_.outcomes(node), node, unit)(sample_, unit);
  }
  double value(NodeId node, int unit) const override {
    return static_cast<double>(within(run_.values(node), node, unit)(sample_, unit));
  }

 private:
  template <class T>
  static MatrixView<const T> within(MatrixView<const T> values, NodeId node, int unit) {
    if (unit < 0 || unit >= values.cols())
      throw std::out_of_range(fmt::format("node number {} has no unit {}", node.index, unit));
    return values;
  }

  const Workspace& run_;
  int sample_;
};

/// Of a batch. What a workspace counts, it counts in int.
int sample_count(const Model& model, int batch) {
  constexpr int most = std::numeric_limits<int>::max();
  const int replicas = model.replicas();
  if (batch > most / replicas)
    refuse({.code = "microscope-options",
            .message = fmt::format("batch is {}; with {} samples of each row there may be at most {}", batch,
                                   replicas, most / replicas),
            .help = {"{.batch = 64}"}});
  return batch * replicas;
}

class Seconds {
 public:
  double since() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

DrawnRows::DrawnRows(std::span<const InputValues<float>> inputs, int batch, std::uint64_t seed)
    : all_(inputs), seed_(seed), values_(inputs.size()) {
  require_memory(bytes(inputs, batch), fmt::format("{} rows of the inputs", batch), "make .batch smaller");
  rows_.resize(static_cast<std::size_t>(batch));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto units = inputs[i].values.cols();
    values_[i].resize(rows_.size() * static_cast<std::size_t>(units));
    drawn_.push_back({inputs[i].node, MatrixView<const float>(values_[i].data(), batch, units)});
  }
}

double DrawnRows::bytes(std::span<const InputValues<float>> inputs, int batch) {
  double bytes = sizeof(int) * static_cast<double>(batch);
  for (const InputValues<float>& input : inputs)
    bytes += sizeof(float) * static_cast<double>(batch) * static_cast<double>(input.values.cols());
  return bytes;
}

void DrawnRows::draw(Stream stream, std::uint32_t number) {
  const auto count = static_cast<std::uint64_t>(all_.empty() ? 1 : all_.front().values.rows());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto words = philox(seed_, {stream_word(Purpose::rows, static_cast<std::uint32_t>(stream)), number,
                                      0, static_cast<std::uint32_t>(i / 4)});
    rows_[i] = static_cast<int>(words[i % 4] * count >> 32);
  }
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const MatrixView<const float>& given = all_[i].values;
    auto to = values_[i].begin();
    for (const int row : rows_)
      for (std::ptrdiff_t unit = 0; unit < given.cols(); ++unit) *to++ = given(row, unit);
  }
}

GradientSampler::GradientSampler(Model model, std::span<const RewardFunction> rewards, int batch)
    : model_(std::move(model)),
      functions_(rewards),
      run_(model_.workspace(sample_count(model_, batch))),
      values_(rewards.size()),
      baselines_(run_.baselines().begin(), run_.baselines().end()) {
  for (const RewardFunction& reward : rewards)
    subjects_.push_back(reward_subject(Access::plan(model_), reward.reward));
}

double GradientSampler::bytes(const Model& model, int batch) {
  return Access::workspace_bytes(model, sample_count(model, batch));
}

void GradientSampler::warm_up(DrawnRows& rows, int batches) {
  if (baselines_.empty()) return;
  for (int i = 0; i < batches; ++i) {
    rows.draw(Stream::warm_up, static_cast<std::uint32_t>(i));
    sample(rows, Stream::warm_up, static_cast<std::uint32_t>(i));
    std::copy(run_.baselines().begin(), run_.baselines().end(), baselines_.begin());
  }
}

std::span<const float> GradientSampler::sample(const DrawnRows& rows, Stream stream, std::uint32_t number) {
  std::copy(baselines_.begin(), baselines_.end(), run_.baselines().begin());
  run_.seek({.stream = static_cast<std::uint32_t>(stream), .step = number});
  const Pass<float> pass{Access::plan(model_), std::as_const(model_).parameters(), Access::state(run_),
                         rows.rows()};
  const Seconds forward_clock;
  forward<float>(pass, rows.inputs(), {.samples = run_.capacity()});
  seconds_ = forward_clock.since();
  ask_rewards(rows.rows());
  std::vector<RewardValues<float>> rewards;
  for (std::size_t r = 0; r < functions_.size(); ++r) rewards.push_back({functions_[r].reward, values_[r]});
  const Seconds backward_clock;
  backward<float>(pass, rewards, {});
  seconds_ += backward_clock.since();
  return run_.gradient();
}

void GradientSampler::ask_rewards(std::span<const int> rows) {
  const int replicas = model_.replicas();
  for (std::size_t r = 0; r < functions_.size(); ++r) {
    values_[r].resize(static_cast<std::size_t>(run_.samples()));
    for (int i = 0; i < run_.samples(); ++i) {
      const RunSource source(run_, i);
      const JointOutcome joint(source, rows[static_cast<std::size_t>(i / replicas)]);
      values_[r][static_cast<std::size_t>(i)] = static_cast<float>(
          guarded_call({"reward-threw", nullptr, subjects_[r]}, [&] { return functions_[r].value(joint); }));
    }
  }
}

Doubt::Doubt(const Model& model) {
  const Plan<float>& plan = Access::plan(model);
  for (const NodeId node : plan.layout.nodes()) {
    if (!plan.layout.is_stochastic(node)) continue;
    const Placement& at = plan.layout.placement(node);
    Entry entry{.node = node, .outcome_count = at.shape.outcome_count(), .rewards = {}};
    for (int r = 0; r < static_cast<int>(plan.rewards.size()); ++r)
      if (const CreditRun* const credit = plan.credit.find(at, {r});
          credit && credit->estimator.needs().hindsight_steps > 0)
        entry.rewards.push_back({r});
    entries_.push_back(std::move(entry));
  }
}

void Doubt::add(const Workspace& run) {
  ++batches_;
  for (Entry& entry : entries_) {
    const auto sampled = run.outcomes(entry.node);
    const auto log_probs = run.log_probs(entry.node);
    const double each = 1.0 / static_cast<double>(sampled.rows() * sampled.cols());
    for (std::ptrdiff_t i = 0; i < sampled.rows(); ++i)
      for (std::ptrdiff_t unit = 0; unit < sampled.cols(); ++unit)
        entry.prior +=
            each *
            (1 - std::exp(static_cast<double>(log_probs(i, unit * entry.outcome_count + sampled(i, unit)))));
    for (const RewardId reward : entry.rewards) {
      const auto evidence = run.evidence(entry.node, reward);
      for (std::ptrdiff_t i = 0; i < sampled.rows(); ++i)
        for (std::ptrdiff_t unit = 0; unit < sampled.cols(); ++unit) {
          // Evidence is 0 at the sampled outcome; what is left out cannot have happened.
          const std::ptrdiff_t first = unit * entry.outcome_count, at = first + sampled(i, unit);
          double others = 0;
          for (std::ptrdiff_t k = first; k < first + entry.outcome_count; ++k)
            if (k != at)
              others += std::exp(static_cast<double>(log_probs(i, k) + evidence(i, k) - log_probs(i, at)));
          entry.posterior += each * (std::isinf(others) ? 1 : others / (1 + others)) /
                             static_cast<double>(entry.rewards.size());
        }
    }
  }
}

const Doubt::Entry* Doubt::find(NodeId node) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), node,
                                   [](const Entry& entry, NodeId sought) { return entry.node < sought; });
  return at != entries_.end() && at->node == node ? &*at : nullptr;
}

double Doubt::prior(NodeId node) const {
  const Entry* const entry = find(node);
  return entry == nullptr ? 0 : entry->prior / std::max(batches_, 1);
}

std::optional<double> Doubt::posterior(NodeId node) const {
  const Entry* const entry = find(node);
  if (entry == nullptr || entry->rewards.empty()) return std::nullopt;
  return entry->posterior / std::max(batches_, 1);
}

}  // namespace hindsight::internal
