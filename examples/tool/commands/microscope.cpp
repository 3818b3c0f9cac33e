#include "tool/microscope.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "progress_bar.hpp"
#include "tool/atomic_file.hpp"
#include "tool/bandit.hpp"
#include "tool/checkpoint.hpp"
#include "tool/console.hpp"
#include "tool/figures.hpp"
#include "tool/file_names.hpp"
#include "tool/methods.hpp"
#include "tool/microscope_report.hpp"
#include "tool/plain_text.hpp"

namespace hindsight::tool {
namespace {

constexpr auto bandit_data = "bandit", default_data = "sample";

/// Images with their classes as rows of an input.
class ImageTask {
 public:
  ImageTask(const Network& network, const LabelledImages& images)
      : pixels_(images.count(), images.features()) {
    for (int i = 0; i < images.count(); ++i) copy_pixels(images.image(i), pixels_.row(i).data());
    inputs_.push_back({network.input, pixels_});
    rewards_.push_back(
        {network.reward, [output = network.output, labels = labels_of(images)](const JointOutcome& outcome) {
           return outcome(output) == labels(outcome.input_row()) ? 1.0 : 0.0;
         }});
  }
  ImageTask(const ImageTask&) = delete;  // it holds views of itself
  ImageTask& operator=(const ImageTask&) = delete;
  Task task() const { return {inputs_, rewards_}; }

 private:
  Pixels pixels_;
  std::vector<InputValues<float>> inputs_;
  std::vector<RewardFunction> rewards_;
};

/// A graph, what it is to do, and where its parameters stand.
struct Scene {
  Graph graph;
  std::vector<float> parameters = {};  ///< empty: where learning starts
  std::string description = {};
  std::shared_ptr<const Bandit> bandit = {};
  std::shared_ptr<const ImageTask> images = {};

  Task task() const { return bandit ? Task{bandit->inputs(), bandit->rewards()} : images->task(); }
};

std::string after_epochs(int epochs) {
  return fmt::format("after {} epoch{}", epochs, epochs == 1 ? "" : "s");
}

/// As the graph says, or as the topology does.
Network plain_network(const GraphSource& source, const Dataset& data) {
  const int features = data.train.features(), classes = data.train.classes;
  if (!source.file.empty()) return as_classifier(load_graph(source), features, classes);
  Topology topology = make_topology(source.topology, image_parts({}, features, classes));
  return {std::move(topology.graph), topology.input, topology.output, topology.reward};
}

Scene image_scene(const MicroscopeCommand& command, const Dataset& data) {
  const Network network = plain_network(command.source, data);
  Scene scene{
      .graph = network.graph,
      .description = fmt::format("{} images of {}, initial parameters", data.train.count(), data.name),
      .images = std::make_shared<ImageTask>(network, data.train)};
  if (command.epochs == 0) return scene;
  Network learner = network;
  estimate_with_first(learner.graph, stand_ins());
  Training training(learner, data, command.training);
  ProgressBar bar("learning", static_cast<std::int64_t>(command.epochs) * training.batches_per_epoch());
  const auto advance = [&](double reward) {
    if (!command.json) bar.advance([reward] { return fmt::format("reward {:.3f}", reward); });
  };
  while (training.completed_epochs() < command.epochs) {
    while (!training.epoch_is_complete()) {
      training.step();
      if (!training.epoch_is_complete()) advance(training.mean_reward());
    }
    training.finish_epoch(0);
    advance(training.metrics().back().train_reward);
  }
  const auto parameters = training.model().parameters();
  scene.parameters.assign(parameters.begin(), parameters.end());
  scene.description =
      fmt::format("{} images of {}, {} of HNCA", data.train.count(), data.name, after_epochs(command.epochs));
  return scene;
}

/// Empty if no run is looked at.
std::filesystem::path checkpoint_of(const MicroscopeCommand& command) {
  return command.run.empty() ? command.run : command.run / "checkpoint.safetensors";
}

std::vector<std::filesystem::path> files_read(const MicroscopeCommand& command) {
  const std::string data = command.run.empty() ? command.data : Checkpoint(checkpoint_of(command)).run().data;
  std::vector<std::filesystem::path> files;
  if (!data.empty() && data != bandit_data) files = files_of_dataset(data);
  files.insert(files.end(), {command.source.file, checkpoint_of(command)});
  return files;
}

Scene scene_of_run(const MicroscopeCommand& command) {
  const Checkpoint checkpoint(checkpoint_of(command));
  const RunDescription& run = checkpoint.run();
  const Dataset data = load_dataset(run.data);
  const Network network = make_network(run.network, data.train.features(), data.train.classes);
  Training training(network, data, run.training);
  checkpoint.restore(training);
  const auto parameters = training.model().parameters();
  return {.graph = network.graph,
          .parameters = {parameters.begin(), parameters.end()},
          .description = fmt::format("{} images of {}, parameters of {} {}", data.train.count(), data.name,
                                     command.run.string(), after_epochs(training.completed_epochs())),
          .images = std::make_shared<ImageTask>(network, data.train)};
}

Scene bandit_scene(const MicroscopeCommand& command) {
  if (command.epochs > 0)
    refuse({.code = "option",
            .message = "--epochs means nothing beside a bandit: only images are learned beforehand",
            .help = {"--data sample   # the graph must be able to classify images"}});
  Scene scene{.graph = load_graph(command.source)};
  scene.bandit = std::make_shared<Bandit>(scene.graph, command.rows, command.training.seed);
  scene.description = fmt::format("a bandit with {} rows of inputs, initial parameters", command.rows);
  return scene;
}

bool classifies_images(const Graph& graph) {
  try {
    as_classifier(graph, mnist_features, mnist_classes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

Scene make_scene(const MicroscopeCommand& command) {
  if (!command.run.empty()) return scene_of_run(command);
  if (command.data == bandit_data) return bandit_scene(command);
  if (command.data.empty() && !command.source.file.empty() && !classifies_images(load_graph(command.source)))
    return bandit_scene(command);
  return image_scene(command, load_dataset(command.data.empty() ? default_data : command.data));
}

std::vector<CreditMethod> contending(const MicroscopeCommand& command) {
  std::vector<std::string> names = command.methods;
  if (names.empty())
    names = {"reinforce",        "reinforce + running-mean", "hnca", "hnca(steps=2, assumption=relaxed)",
             "hindsight-credit", "straight-through"};
  std::vector<CreditMethod> methods;
  for (const std::string& name : names) methods.push_back(parse_credit_method(name));
  return methods;
}

Comparison compare(const Scene& scene, MicroscopeOptions options, const MicroscopeCommand& command,
                   const char* label) {
  options.stand_ins.assign(stand_ins().begin(), stand_ins().end());
  options.gradients = command.gradients;
  options.reference_gradients = 4 * command.gradients;
  options.batch = command.batch;
  options.most_states = command.most_states;
  options.most_operations = command.most_operations;
  options.seed = command.training.seed;
  std::optional<ProgressBar> bar;
  if (!command.json)
    options.progress = [&](std::size_t, std::size_t all) {
      if (!bar) bar.emplace(label, static_cast<std::int64_t>(all));
      bar->advance("");
    };
  Comparison comparison = compare_estimators(scene.graph, scene.parameters, scene.task(), options);
  if (comparison.gradients < command.gradients)
    print_remark("{} gradients of each estimator: more would take more than --most-operations\n",
                 comparison.gradients);
  return comparison;
}

/// The only result of a program that reads JSON is the JSON.
void print_beside(const MicroscopeCommand& command, const std::string& text) {
  if (command.json)
    write_remark(text);
  else
    write_result(text);
}

/// Of what the advised mix, and the best that one estimator can do everywhere, the better.
void write_advice(const Scene& scene, const Comparison& comparison, std::span<const std::string> names,
                  const MicroscopeCommand& command) {
  MicroscopeOptions options{.graphs = {advise(scene.graph, comparison)}};
  const std::optional<std::size_t> single = best_single(comparison);
  if (single) options.graphs.push_back(comparison.rows[*single].graph);
  const Comparison check = compare(scene, std::move(options), command, "advice");
  if (!check.rows[0].refusal.empty())
    refuse({.code = "no-advice",
            .message = fmt::format(
                "no estimator was seen to be unbiased everywhere, and the graph's own choices are "
                "refused: {}",
                check.rows[0].refusal),
            .help = {"--estimators \"reinforce; hnca\""}});
  const auto cost = [&](std::size_t r) {
    return check.rows[r].variance() * check.rows[r].seconds_per_sample;
  };
  std::string verdict = "advice";
  std::size_t best = 0;
  if (single) {
    verdict += fmt::format(": variance × time is {:.2f} of that of {} at every node", cost(0) / cost(1),
                           names[*single]);
    if (cost(1) < cost(0)) {
      best = 1;
      verdict += ", which is therefore written instead";
    }
  }
  const Graph& advised = check.rows[best].graph;
  write_atomically(command.advice, to_dot(advised));
  print_beside(command, fmt::format("\n{}\n{}{}\n", verdict, printable_lines(credits_by_estimator(advised)),
                                    printable(command.advice.string())));
}

}  // namespace

void look_closely(const MicroscopeCommand& command) {
  if (!command.figure.empty() && command.methods.size() > most_curves)
    refuse({.code = "option",
            .message =
                fmt::format("a figure has up to {} estimators, not {}", most_curves, command.methods.size()),
            .help = {"fewer of them, or no --figure"}});
  std::vector<std::filesystem::path> written = figure_files(command.figure);
  written.push_back(command.advice);
  keep_files_apart(files_read(command), written);
  const Scene scene = make_scene(command);
  MicroscopeOptions options{.contenders = contending(command)};
  std::vector<std::string> names;
  for (const CreditMethod& method : options.contenders) names.push_back(method_name(method));
  const Comparison comparison = compare(scene, std::move(options), command, "measuring");
  if (command.json)
    print_result("{}\n", printable_json(to_json(comparison, names, scene.description)));
  else
    print_result("\n{}", printable_lines(to_tables(comparison, names, scene.description, command.blocks)));
  if (!command.advice.empty()) write_advice(scene, comparison, names, command);
  if (!command.figure.empty()) {
    draw_variances(comparison, names, command.figure);
    print_beside(command, fmt::format("\n{0}.svg and {0}.png\n", printable(command.figure.string())));
  }
}

}  // namespace hindsight::tool
