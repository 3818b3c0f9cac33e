#include "lab/checkpoint.hpp"

#include <zlib.h>

#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lab/atomic_file.hpp"
#include "lab/tensor_file.hpp"

namespace hindsight::lab {
namespace {

using nlohmann::json;

constexpr const char* format_name = "hindsight-checkpoint";
constexpr const char* format_version = "1";
const std::string parameter_prefix = "parameters/";
constexpr const char* baseline_tensor = "baselines";

/// Per epoch, as they are called in the file.
constexpr std::array<std::pair<const char*, double EpochMetrics::*>, 4> metric_tensors{
    {{"metrics/train_reward", &EpochMetrics::train_reward},
     {"metrics/test_accuracy_sampled", &EpochMetrics::test_accuracy_sampled},
     {"metrics/test_accuracy_mean", &EpochMetrics::test_accuracy_mean},
     {"metrics/samples_per_s", &EpochMetrics::samples_per_s}}};

json describe(const RunDescription& run, InstructionSet instructions) {
  return {{"data", run.data},
          {"data_checksum", run.data_checksum},
          {"hidden", run.network.hidden},
          {"graph", run.network.graph},
          {"topology", run.network.topology},
          {"method", run.network.method},
          {"values", run.network.values},
          {"estimators", run.network.estimators},
          {"baseline", run.network.baseline},
          {"rate", run.training.rate},
          {"optimizer", run.training.optimizer},
          {"batch", run.training.batch},
          {"seed", run.training.seed},
          {"test_passes", run.training.test_passes},
          {"epochs", run.epochs},
          {"instructions", name(instructions)}};
}

[[noreturn]] void refuse_checkpoint(const std::string& name, const std::string& problem) {
  refuse({.code = "checkpoint",
          .message = fmt::format("{}: {}", name, problem),
          .help = {"start a new run in another folder: --out other"}});
}

RunDescription parse_description(const std::string& text, const std::string& name) {
  try {
    const json described = json::parse(text);
    RunDescription run;
    described.at("data").get_to(run.data);
    described.at("data_checksum").get_to(run.data_checksum);
    described.at("hidden").get_to(run.network.hidden);
    run.network.graph = described.value("graph", "");  // runs from before there were graph files have none
    run.network.topology = described.value("topology", "");
    described.at("method").get_to(run.network.method);
    described.at("values").get_to(run.network.values);
    described.at("estimators").get_to(run.network.estimators);
    run.network.baseline = described.value("baseline", "");
    described.at("rate").get_to(run.training.rate);
    described.at("optimizer").get_to(run.training.optimizer);
    described.at("batch").get_to(run.training.batch);
    described.at("seed").get_to(run.training.seed);
    described.at("test_passes").get_to(run.training.test_passes);
    described.at("epochs").get_to(run.epochs);
    const auto instructions = described.at("instructions").get<std::string>();
    for (const InstructionSet set : available_instruction_sets())
      if (hindsight::name(set) == instructions) run.training.instructions = set;
    if (!run.training.instructions)
      refuse_checkpoint(
          name, fmt::format("the run used {} instructions, which this machine lacks; it could not go on "
                            "bit by bit",
                            instructions));
    return run;
  } catch (const json::exception& problem) {
    refuse_checkpoint(name, fmt::format("its description of the run cannot be read: {}", problem.what()));
  }
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
  tensors.metadata = {{"format", format_name},
                      {"version", format_version},
                      {"run", describe(run, model.plan().instructions).dump()}};
  for (const std::string& path : model.parameter_names()) {
    const ParameterRange range = model.range(path);
    const MatrixView<const float> shown = model.parameters(path);
    tensors.add(parameter_prefix + path,
                {static_cast<std::size_t>(shown.rows()), static_cast<std::size_t>(shown.cols())},
                std::span(state.parameters).subspan(range.first, range.count));
  }
  tensors.add(baseline_tensor, {state.baselines.size()}, std::span<const double>(state.baselines));
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
                                         text("version"), format_version));
  run_ = parse_description(text("run"), name_);
  for (const std::string& name : tensors.names()) {
    if (name == baseline_tensor) state_.baselines = tensors.doubles(name);  // older files have none
    if (!name.starts_with(parameter_prefix)) continue;
    const std::vector<float> values = tensors.floats(name);
    state_.parameters.insert(state_.parameters.end(), values.begin(), values.end());
    parameter_names_.push_back(name.substr(parameter_prefix.size()));
  }
  const auto sized = [&](auto values, std::size_t size, const char* name) {
    if (values.size() != size)
      refuse_checkpoint(name_,
                        fmt::format("tensor '{}' holds {} numbers, not {}", name, values.size(), size));
    return values;
  };
  state_.adam.steps = sized(tensors.uint64s("adam/steps"), 1, "adam/steps")[0];
  state_.adam.first_moment = tensors.floats("adam/first_moment");
  state_.adam.second_moment =
      sized(tensors.floats("adam/second_moment"), state_.adam.first_moment.size(), "adam/second_moment");
  const auto stream = sized(tensors.uint32s("position/stream"), 3, "position/stream");
  state_.stream = {.stream = stream[0], .step = stream[1], .first_sample = stream[2]};
  const auto data = sized(tensors.uint32s("position/data"), 2, "position/data");
  state_.data = {.epoch = data[0], .batch = data[1]};
  state_.reward_sum = sized(tensors.doubles("position/reward_sum"), 1, "position/reward_sum")[0];
  for (const auto& [name, member] : metric_tensors) {
    const std::vector<double> values = sized(tensors.doubles(name), state_.data.epoch, name);
    state_.metrics.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) state_.metrics[i].*member = values[i];
  }
}

void Checkpoint::restore(Training& training) const {
  if (parameter_names_ != training.model().parameter_names())
    refuse_checkpoint(name_, "its parameters are not those of this network");
  if (state_.data.batch > training.batches_per_epoch())
    refuse_checkpoint(name_, fmt::format("it stopped at batch {} of an epoch; this data has {}",
                                         state_.data.batch, training.batches_per_epoch()));
  training.restore(state_);
}

}  // namespace hindsight::lab
