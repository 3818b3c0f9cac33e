#include "lab/training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace hindsight::lab {
namespace {

constexpr int test_batch = 256;
/// Of the random numbers; training draws from stream 0.
constexpr std::uint32_t test_stream = 1;

std::variant<Sgd, Adam> make_optimizer(const TrainingOptions& options) {
  if (!std::isfinite(options.rate) || options.rate <= 0)
    refuse({.code = "option",
            .message = fmt::format("a learning rate of {} does not learn", options.rate),
            .help = {"--lr 0.0625"}});
  if (options.optimizer == "sgd") return Sgd{{.rate = options.rate}};
  if (options.optimizer == "adam") return Adam{{.rate = options.rate}};
  refuse({.code = "option",
          .message = fmt::format("there is no optimizer '{}'", options.optimizer),
          .help = {"--optimizer one of: sgd, adam"}});
}

}  // namespace

bool is_divergence(const Error& problem) {
  constexpr std::array<std::string_view, 4> codes{"parameter-not-finite", "log-probs-not-finite",
                                                  "weights-not-finite", "value-not-a-number"};
  const auto& said = problem.report().diagnostics;
  return !said.empty() && std::find(codes.begin(), codes.end(), said.front().code) != codes.end();
}

void reward_right_classes(MatrixView<const Outcome> chosen, std::span<const int> labels,
                          std::vector<float>& rewards) {
  rewards.resize(static_cast<std::size_t>(chosen.rows()));
  const std::size_t samples_of_image = rewards.size() / labels.size();
  for (std::size_t i = 0; i < rewards.size(); ++i)
    rewards[i] = chosen(static_cast<std::ptrdiff_t>(i)) == labels[i / samples_of_image] ? 1.0F : 0.0F;
}

Training::Training(const Network& network, const Dataset& data, const TrainingOptions& options)
    : network_(network),
      data_(data),
      test_passes_(options.test_passes),
      model_(compile(network.graph, {.seed = options.seed, .instructions = options.instructions})),
      run_(model_.workspace(options.batch * model_.plan().replicas, {.threads = options.threads})),
      test_run_(model_.workspace(test_batch * model_.plan().replicas, {.threads = options.threads})),
      optimizer_(make_optimizer(options)),
      batches_(data.train, options.batch, options.seed),
      rewards_(static_cast<std::size_t>(run_.capacity())),
      test_pixels_(static_cast<std::size_t>(test_batch) * static_cast<std::size_t>(data.test.features())) {}

void Training::step() {
  batches_.next();
  model_.forward(run_, {{network_.input, batches_.pixels()}});
  reward_right_classes(run_.outcomes(network_.output), batches_.labels(), rewards_);
  for (const float reward : rewards_) reward_sum_ += static_cast<double>(reward);
  model_.backward(run_, {{network_.reward, rewards_}});
  std::visit([&](auto& optimizer) { optimizer.step(model_.parameters(), run_.gradient()); }, optimizer_);
}

std::uint64_t Training::samples_of_epoch() const {
  const std::uint64_t all = static_cast<std::uint64_t>(batches_.position().batch) *
                            static_cast<std::uint64_t>(run_.capacity() / model_.plan().replicas);
  return std::min(all, static_cast<std::uint64_t>(data_.train.count()));
}

double Training::mean_reward() const {
  return reward_sum_ / model_.plan().replicas /
         static_cast<double>(std::max<std::uint64_t>(samples_of_epoch(), 1));
}

void Training::finish_epoch(double samples_per_s) {
  const TestAccuracy accuracy = test(test_passes_);
  metrics_.push_back({.train_reward = mean_reward(),
                      .test_accuracy_sampled = accuracy.sampled,
                      .test_accuracy_mean = accuracy.mean,
                      .samples_per_s = samples_per_s});
  batches_.seek({batches_.position().epoch + 1, 0});
  reward_sum_ = 0;
}

TestAccuracy Training::test(int passes) {
  const LabelledImages& images = data_.test;
  const std::ptrdiff_t classes = images.classes;
  int right_drawn = 0, right_on_average = 0;
  // Every epoch draws anew, and so does every batch of test images.
  test_run_.seek({.stream = test_stream, .step = static_cast<std::uint32_t>(metrics_.size()) << 16U});
  for (int first = 0; first < images.count(); first += test_batch) {
    const int count = std::min(test_batch, images.count() - first);
    for (int i = 0; i < count; ++i)
      copy_pixels(images.image(first + i),
                  test_pixels_.data() + static_cast<std::ptrdiff_t>(i) * images.features());
    std::vector<double> probabilities(static_cast<std::size_t>(count * classes), 0.0);
    for (int pass = 0; pass < passes; ++pass) {
      model_.forward(test_run_, {{network_.input, {test_pixels_.data(), count, images.features()}}});
      const auto chosen = test_run_.outcomes(network_.output);
      const auto log_probs = test_run_.log_probs(network_.output);
      for (int i = 0; i < count; ++i) {
        const std::ptrdiff_t sample = i * model_.plan().replicas;  // one of each image is enough here
        right_drawn += chosen(sample) == images.labels[static_cast<std::size_t>(first + i)] ? 1 : 0;
        for (std::ptrdiff_t k = 0; k < classes; ++k)
          probabilities[static_cast<std::size_t>(i * classes + k)] +=
              std::exp(static_cast<double>(log_probs(sample, k)));
      }
    }
    for (int i = 0; i < count; ++i) {
      const auto row = probabilities.begin() + i * classes;
      const auto likeliest = std::max_element(row, row + classes) - row;
      right_on_average += likeliest == images.labels[static_cast<std::size_t>(first + i)] ? 1 : 0;
    }
  }
  return {.sampled = static_cast<double>(right_drawn) / images.count() / passes,
          .mean = static_cast<double>(right_on_average) / images.count()};
}

TrainingState Training::state() const {
  TrainingState state{.parameters = {model_.parameters().begin(), model_.parameters().end()},
                      .baselines = {run_.baselines().begin(), run_.baselines().end()},
                      .adam = {},
                      .stream = run_.position(),
                      .data = batches_.position(),
                      .reward_sum = reward_sum_,
                      .metrics = metrics_};
  if (const Adam* adam = std::get_if<Adam>(&optimizer_)) state.adam = adam->state();
  return state;
}

void Training::restore(TrainingState state) {
  if (state.parameters.size() != model_.parameters().size())
    refuse({.code = "checkpoint-mismatch",
            .message = fmt::format("the checkpoint holds {} parameters; this network has {}",
                                   state.parameters.size(), model_.parameters().size()),
            .help = {"resume with the options of the run that wrote it"}});
  if (state.baselines.size() != run_.baselines().size())
    refuse(
        {.code = "checkpoint-mismatch",
         .message = fmt::format("the checkpoint holds {} numbers for baselines; this network's remember {}",
                                state.baselines.size(), run_.baselines().size()),
         .help = {"resume with the options of the run that wrote it"}});
  std::copy(state.parameters.begin(), state.parameters.end(), model_.parameters().begin());
  std::copy(state.baselines.begin(), state.baselines.end(), run_.baselines().begin());
  if (Adam* adam = std::get_if<Adam>(&optimizer_)) adam->restore(std::move(state.adam));
  run_.seek(state.stream);
  batches_.seek(state.data);
  reward_sum_ = state.reward_sum;
  metrics_ = std::move(state.metrics);
}

}  // namespace hindsight::lab
