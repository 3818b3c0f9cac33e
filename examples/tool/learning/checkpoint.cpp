#include "tool/checkpoint.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tool/atomic_file.hpp"
#include "tool/tensor_file.hpp"

namespace hindsight::tool {
namespace {

constexpr const char* format_name = "hindsight-checkpoint";
constexpr const char* format_version = "1";
const std::string parameter_prefix = "parameters/";
constexpr const char* baseline_tensor = "baselines";
constexpr const char* velocity_tensor = "momentum/velocity";  // of runs with momentum

/// Per epoch, as they are called in the file.
constexpr std::array<std::pair<const char*, double EpochMetrics::*>, 4> metric_tensors{
    {{"metrics/train_reward", &EpochMetrics::train_reward},
     {"metrics/test_accuracy_sampled", &EpochMetrics::test_accuracy_sampled},
     {"metrics/test_accuracy_mean", &EpochMetrics::test_accuracy_mean},
     {"metrics/samples_per_s", &EpochMetrics::samples_per_s}}};

std::string in_file(const std::string& parameter) {
  return parameter.empty() ? "no further one" : fmt::format("'{}{}'", parameter_prefix, shortened(parameter));
}

std::string in_words(const TensorFile::Shape& shape) {
  return shape.empty() ? "a single number" : fmt::format("[{}]", fmt::join(shape, ","));
}

}  // namespace

std::uint32_t checksum(const Dataset& data) {
  uLong sum = crc32_z(0, nullptr, 0);
  for (const LabelledImages* images : {&data.train, &data.test})
    for (const auto* bytes : {&images->pixels, &images->labels})
      sum = crc32_z(sum, bytes->data(), bytes->size());
  return static_cast<std::uint32_t>(sum);
}

void write_checkpoint(const std::filesystem::path& file, const RunDescription& run,
                      const Training& training) {
  const TrainingState state = training.state();
  const Model& model = training.model();
  TensorFile tensors;
  tensors.metadata = {{"format", format_name}, {"version", format_version}, {"run", to_json(run, model)}};
  for (const std::string& path : model.parameter_names()) {
    const ParameterRange range = model.range(path);
    const MatrixView<const float> shown = model.parameters(path);
    tensors.add(parameter_prefix + path,
                {static_cast<std::size_t>(shown.rows()), static_cast<std::size_t>(shown.cols())},
                std::span(state.parameters).subspan(range.first, range.count));
  }
  tensors.add(baseline_tensor, {state.baselines.size()}, std::span<const double>(state.baselines));
  if (run.training.optimizer == "momentum")
    tensors.add(velocity_tensor, {state.momentum.velocity.size()}, std::span(state.momentum.velocity));
  const std::array<std::uint64_t, 1> adam_steps{state.adam.steps};
  tensors.add("adam/steps", {}, std::span(adam_steps));
  tensors.add("adam/first_moment", {state.adam.first_moment.size()}, std::span(state.adam.first_moment));
  tensors.add("adam/second_moment", {state.adam.second_moment.size()}, std::span(state.adam.second_moment));
  const std::array<std::uint32_t, 3> stream{state.stream.stream, state.stream.step,
                                            state.stream.first_sample};
  tensors.add("position/stream", {3}, std::span(stream));
  const std::array<std::uint32_t, 2> data{state.data.epoch, state.data.batch};
  tensors.add("position/data", {2}, std::span(data));
  const std::array<double, 1> reward_sum{state.reward_sum};
  tensors.add("position/reward_sum", {}, std::span(reward_sum));
  for (const auto& [name, member] : metric_tensors) {
    std::vector<double> values;
    for (const EpochMetrics& epoch : state.metrics) values.push_back(epoch.*member);
    tensors.add(name, {values.size()}, std::span<const double>(values));
  }
  write_atomically(file, tensors.to_bytes());
}

Checkpoint::Checkpoint(const std::filesystem::path& file) : name_(file.string()) {
  const TensorFile tensors =
      TensorFile::from_bytes(read_file(file, std::numeric_limits<std::size_t>::max()), name_);
  const auto text = [&](const char* key) {
    const auto found = tensors.metadata.find(key);
    return found == tensors.metadata.end() ? std::string() : found->second;
  };
  if (text("format") != format_name)
    refuse_checkpoint(name_, "it is a tensor file, but not a checkpoint of a run");
  if (text("version") != format_version)
    refuse_checkpoint(name_, fmt::format("its version is '{}'; this program reads version {}",
                                         shortened(text("version")), format_version));
  read_ = parse_description(text("run"), name_);
  read_state(tensors);
  check_optimizer();
  check_metrics();
}

void Checkpoint::refuse_tensor(const std::string& tensor, const std::string& problem) const {
  refuse_checkpoint(name_, fmt::format("tensor '{}' {}", shortened(tensor), problem));
}

void Checkpoint::read_state(const TensorFile& tensors) {
  std::set<std::string> known;
  const auto shaped = [&](const char* name, const TensorFile::Shape& shape) {
    known.insert(name);
    if (tensors.shape(name) != shape)
      refuse_tensor(name,
                    fmt::format("has the shape {}, not {}", in_words(tensors.shape(name)), in_words(shape)));
    return std::string(name);
  };
  const auto listed = [&](const char* name) {
    known.insert(name);
    if (tensors.shape(name).size() != 1)
      refuse_tensor(name, fmt::format("has the shape {}, not that of a list", in_words(tensors.shape(name))));
    return std::string(name);
  };
  for (const std::string& name : tensors.names()) {
    if (!name.starts_with(parameter_prefix)) continue;
    known.insert(name);
    const std::vector<float> values = tensors.floats(name);
    state_.parameters.insert(state_.parameters.end(), values.begin(), values.end());
    parameters_.push_back({name.substr(parameter_prefix.size()), tensors.shape(name)});
  }
  if (tensors.contains(baseline_tensor))  // older files have none
    state_.baselines = tensors.doubles(listed(baseline_tensor));
  if (read_.run.training.optimizer == "momentum")
    state_.momentum.velocity = tensors.floats(listed(velocity_tensor));
  state_.adam.steps = tensors.uint64s(shaped("adam/steps", {}))[0];
  state_.adam.first_moment = tensors.floats(listed("adam/first_moment"));
  state_.adam.second_moment = tensors.floats(listed("adam/second_moment"));
  const auto stream = tensors.uint32s(shaped("position/stream", {3}));
  state_.stream = {.stream = stream[0], .step = stream[1], .first_sample = stream[2]};
  const auto data = tensors.uint32s(shaped("position/data", {2}));
  state_.data = {.epoch = data[0], .batch = data[1]};
  state_.reward_sum = tensors.doubles(shaped("position/reward_sum", {}))[0];
  for (const auto& [name, member] : metric_tensors) {
    const std::vector<double> values = tensors.doubles(shaped(name, {state_.data.epoch}));
    state_.metrics.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) state_.metrics[i].*member = values[i];
  }
  for (const std::string& name : tensors.names())
    if (!known.contains(name)) refuse_tensor(name, "is none that a checkpoint has");
}

void Checkpoint::check_optimizer() const {
  const bool has_moments = read_.run.training.optimizer == "adam" && state_.adam.steps > 0;
  const std::size_t expected = has_moments ? state_.parameters.size() : 0;
  if (read_.run.training.optimizer != "adam" && state_.adam.steps > 0)
    refuse_tensor("adam/steps", fmt::format("is {}, but the run's optimizer is {}", state_.adam.steps,
                                            shortened(read_.run.training.optimizer)));
  for (const auto& [name, moments] : {std::pair("adam/first_moment", &state_.adam.first_moment),
                                      std::pair("adam/second_moment", &state_.adam.second_moment)})
    if (moments->size() != expected)
      refuse_tensor(name, fmt::format("holds {} numbers, not {}", moments->size(), expected));
  const bool has_velocity = read_.run.training.optimizer == "momentum" && state_.stream.step > 0;
  const std::size_t velocities = has_velocity ? state_.parameters.size() : 0;
  if (state_.momentum.velocity.size() != velocities)
    refuse_tensor(velocity_tensor,
                  fmt::format("holds {} numbers, not {}", state_.momentum.velocity.size(), velocities));
}

void Checkpoint::check_metrics() const {
  if (!(state_.reward_sum >= 0 && std::isfinite(state_.reward_sum)))
    refuse_tensor("position/reward_sum", fmt::format("is {}, which no sum of rewards is", state_.reward_sum));
  if (state_.data.epoch > most_epochs)
    refuse_tensor("position/data", fmt::format("says that {} epochs are complete; {} is the most",
                                               state_.data.epoch, most_epochs));
  for (const auto& [name, member] : metric_tensors) {
    const double most = member == &EpochMetrics::samples_per_s ? std::numeric_limits<double>::max() : 1;
    for (const EpochMetrics& epoch : state_.metrics)
      if (!(epoch.*member >= 0 && epoch.*member <= most))
        refuse_tensor(name, fmt::format("holds {}, which it cannot be", epoch.*member));
  }
}

void Checkpoint::check_parameters(const Model& model) const {
  const std::vector<std::string> names = model.parameter_names();
  for (std::size_t i = 0; i < std::max(names.size(), parameters_.size()); ++i) {
    const std::string found = i < parameters_.size() ? parameters_[i].name : "";
    const std::string expected = i < names.size() ? names[i] : "";
    if (found != expected)
      refuse_checkpoint(name_,
                        fmt::format("its parameters are not those of this network: expected {}, found {}",
                                    in_file(expected), in_file(found)));
    const MatrixView<const float> shown = model.parameters(expected);
    const TensorFile::Shape shape{static_cast<std::size_t>(shown.rows()),
                                  static_cast<std::size_t>(shown.cols())};
    if (parameters_[i].shape != shape)
      refuse_tensor(parameter_prefix + found, fmt::format("has the shape {}, not the {} of this network",
                                                          in_words(parameters_[i].shape), in_words(shape)));
  }
}

/// Two tensors say how far the run has come.
void Checkpoint::check_position(const Training& training) const {
  const std::uint32_t batches = training.batches_per_epoch();
  if (state_.data.batch > batches)
    refuse_checkpoint(name_, fmt::format("it stopped at batch {} of an epoch; this data has {}",
                                         state_.data.batch, batches));
  const StreamPosition expected{.step = state_.data.epoch * batches + state_.data.batch};
  if (state_.stream != expected)
    refuse_tensor(
        "position/stream",
        fmt::format("is {}, {}, {}, but after {} epochs and {} batches it is {}, {}, {}",
                    state_.stream.stream, state_.stream.step, state_.stream.first_sample, state_.data.epoch,
                    state_.data.batch, expected.stream, expected.step, expected.first_sample));
}

void Checkpoint::restore(Training& training) const {
  check_parameters(training.model());
  const int replicas = training.model().replicas();
  if (read_.replicas != 0 && read_.replicas != replicas)
    refuse_checkpoint(name_, fmt::format("its run drew each image {} times, this network draws it {} times",
                                         read_.replicas, replicas));
  check_position(training);
  const std::size_t baselines = training.baseline_count();
  if (state_.baselines.size() != baselines)
    refuse_tensor(baseline_tensor, fmt::format("holds {} numbers; the baselines of this network remember {}",
                                               state_.baselines.size(), baselines));
  training.restore(state_);
}

}  // namespace hindsight::tool
