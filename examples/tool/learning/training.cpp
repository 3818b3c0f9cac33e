#include "tool/training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace hindsight::tool {
namespace {

constexpr int test_batch = 256;
/// Of the random numbers; training draws from stream 0.
constexpr std::uint32_t test_stream = 1;

std::variant<Sgd, Momentum, Adam> make_optimizer(const TrainingOptions& options) {
  if (!std::isfinite(options.rate) || options.rate <= 0)
    refuse({.code = "option",
            .message = fmt::format("a learning rate of {} does not learn", options.rate),
            .help = {"--lr 0.0625"}});
  if (options.momentum && options.optimizer != "momentum")
    refuse({.code = "option",
            .message = fmt::format("a momentum of {} is given, but the optimizer is {}", *options.momentum,
                                   options.optimizer),
            .help = {"--optimizer momentum"}});
  const double momentum = options.momentum.value_or(usual_momentum);
  if (!(momentum >= 0 && momentum < 1))
    refuse({.code = "option",
            .message = fmt::format("a momentum of {} does not settle", momentum),
            .help = {"--momentum 0.9   # at least 0, less than 1"}});
  if (options.optimizer == "sgd") return Sgd{{.rate = options.rate}};
  if (options.optimizer == "momentum") return Momentum{{.rate = options.rate, .decay = momentum}};
  if (options.optimizer == "adam") return Adam{{.rate = options.rate}};
  refuse({.code = "option",
          .message = fmt::format("there is no optimizer '{}'", options.optimizer),
          .help = {"--optimizer one of: sgd, momentum, adam"}});
}

}  // namespace

bool is_divergence(const Error& problem) {
  constexpr std::array<std::string_view, 5> codes{"parameter-not-finite", "log-probs-not-finite",
                                                  "credit-not-finite", "value-not-a-number",
                                                  "baseline-not-finite"};
  const auto& said = problem.report().diagnostics;
  return !said.empty() && std::find(codes.begin(), codes.end(), said.front().code) != codes.end();
}

Eigen::VectorXf reward_right_classes(MatrixView<const Outcome> chosen,
                                     const Eigen::Ref<const Eigen::ArrayXi>& labels) {
  const Eigen::Index samples_of_image = chosen.rows() / labels.size();
  const auto right = labels.transpose().replicate(samples_of_image, 1).reshaped();
  return (as_eigen(chosen).array() == right).cast<float>();
}

Training::Training(const Network& network, const Dataset& data, const TrainingOptions& options)
    : network_(network),
      data_(data),
      test_passes_(options.test_passes),
      model_(compile(network.graph, {.seed = options.seed, .instructions = options.instructions})),
      run_(model_.workspace(options.batch * model_.replicas(), {.threads = options.threads})),
      test_run_(model_.workspace(test_batch * model_.replicas(), {.threads = options.threads})),
      optimizer_(make_optimizer(options)),
      batches_(data.train, options.batch, options.seed),
      test_pixels_(test_batch, data.test.features()),
      test_labels_(labels_of(data.test)) {}

void Training::step() {
  batches_.next();
  model_.forward(run_, {{network_.input, batches_.pixels()}});
  const Eigen::VectorXf rewards = reward_right_classes(run_.outcomes(network_.output), batches_.labels());
  reward_sum_ += rewards.cast<double>().sum();
  model_.backward(run_, {{network_.reward, rewards}});
  std::visit([&](auto& optimizer) { optimizer.step(model_.parameters(), run_.gradient()); }, optimizer_);
}

std::uint64_t Training::samples_of_epoch() const {
  const std::uint64_t all = static_cast<std::uint64_t>(batches_.position().batch) *
                            static_cast<std::uint64_t>(run_.capacity() / model_.replicas());
  return std::min(all, static_cast<std::uint64_t>(data_.train.count()));
}

double Training::mean_reward() const {
  return reward_sum_ / model_.replicas() /
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
  Eigen::Index right_drawn = 0, right_on_average = 0;
  // Every epoch draws anew, and so does every batch of test images.
  test_run_.seek({.stream = test_stream, .step = static_cast<std::uint32_t>(metrics_.size()) << 16U});
  for (int first = 0; first < images.count(); first += test_batch) {
    const int count = std::min(test_batch, images.count() - first);
    for (int i = 0; i < count; ++i) copy_pixels(images.image(first + i), test_pixels_.row(i).data());
    const auto labels = test_labels_.segment(first, count);
    const auto one_of_each = Eigen::seqN(0, count, model_.replicas());
    Eigen::MatrixXd probabilities = Eigen::MatrixXd::Zero(count, images.classes);
    for (int pass = 0; pass < passes; ++pass) {
      model_.forward(test_run_, {{network_.input, test_pixels_.topRows(count)}});
      const auto chosen = as_eigen(test_run_.outcomes(network_.output));
      right_drawn += (chosen.col(0)(one_of_each).array() == labels).count();
      const auto log_probs = as_eigen(test_run_.log_probs(network_.output));
      // By the standard library's exp: Eigen's has other last bits.
      probabilities += log_probs(one_of_each, Eigen::all).unaryExpr([](float log_prob) {
        return std::exp(static_cast<double>(log_prob));
      });
    }
    for (int i = 0; i < count; ++i) {
      Eigen::Index likeliest = 0;
      probabilities.row(i).maxCoeff(&likeliest);
      right_on_average += likeliest == labels(i) ? 1 : 0;
    }
  }
  return {.sampled = static_cast<double>(right_drawn) / images.count() / passes,
          .mean = static_cast<double>(right_on_average) / images.count()};
}

TrainingState Training::state() const {
  TrainingState state{.parameters = {model_.parameters().begin(), model_.parameters().end()},
                      .baselines = {run_.baselines().begin(), run_.baselines().end()},
                      .momentum = {},
                      .adam = {},
                      .stream = run_.position(),
                      .data = batches_.position(),
                      .reward_sum = reward_sum_,
                      .metrics = metrics_};
  if (const Momentum* momentum = std::get_if<Momentum>(&optimizer_)) state.momentum = momentum->state();
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
  if (Momentum* momentum = std::get_if<Momentum>(&optimizer_)) momentum->restore(std::move(state.momentum));
  if (Adam* adam = std::get_if<Adam>(&optimizer_)) adam->restore(std::move(state.adam));
  run_.seek(state.stream);
  batches_.seek(state.data);
  reward_sum_ = state.reward_sum;
  metrics_ = std::move(state.metrics);
}

}  // namespace hindsight::tool
