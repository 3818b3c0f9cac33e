// hindsight: validates, draws and trains from the command line. Exit codes: 0 done, 1 learning has diverged
// or a graph does not hold what it should, 2 bad input or results that could not be written, 130 interrupted.
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <hindsight/hindsight.hpp>

#include "command_line.hpp"
#include "tool/console.hpp"
#include "tool/demo.hpp"
#include "tool/figures.hpp"
#include "tool/file_names.hpp"
#include "tool/graph_commands.hpp"
#include "tool/interrupt.hpp"
#include "tool/memory.hpp"
#include "tool/methods.hpp"
#include "tool/microscope.hpp"
#include "tool/plain_text.hpp"
#include "tool/plan_file.hpp"
#include "tool/statistics.hpp"
#include "tool/sweep.hpp"
#include "tool/train.hpp"

namespace hindsight::tool {
namespace {

constexpr int diverged = 1, bad_input = 2, interrupted = 130;

std::vector<std::string> topology_names() {
  std::vector<std::string> names;
  for (const TopologyDescription& topology : topology_list()) names.push_back(topology.name);
  return names;
}

/// What a subcommand does once the command line is understood.
using Command = std::function<int()>;

constexpr auto units_of_topology = "--topology small-world:units=200   # a topology has options of its own";
constexpr auto units_of_graph = "a [kind=bernoulli units=64];   // the file says how many units there are";
constexpr auto values_of_graph = "a [kind=bernoulli values=\"-1,1\"];   // the file says what children see";

Command add_train(CLI::App& app) {
  auto given = std::make_shared<TrainCommand>();
  RunDescription& run = given->run;
  CLI::App* command =
      app.add_subcommand("train", "one run: a network learns to classify images from rewards alone");
  std::vector<CLI::Option*> fixed;  // by the checkpoint of a run that goes on
  const auto describes = [&fixed](CLI::Option* option) {
    fixed.push_back(option->capture_default_str()->group("Run"));
    return option;
  };
  describes(command->add_option(
                "--data", run.data,
                "sample (5,000 digits, in the program), mnist (after `make data`), fashion (Debian's "
                "dataset-fashion-mnist), or a folder of IDX files"))
      ->check(name_of_file());
  CLI::Option* const hidden = describes(
      command->add_option("--hidden", run.network.hidden, "units of the hidden layers, e.g. 64,64"));
  hidden->delimiter(',')->check(in(1, most_hidden_units));
  CLI::Option* const graph = describes(
      command->add_option("--graph", given->graph,
                          "a graph from a file instead: one input for the pixels, and one reward that reads "
                          "the node that names the class"));
  graph->check(name_of_file());
  CLI::Option* const topology =
      describes(command->add_option("--topology", run.network.topology,
                                    fmt::format("a topology instead, e.g. small-world:units=200; one of {}",
                                                fmt::join(topology_names(), ", "))));
  CLI::Option* const method = describes(command->add_option(
      "--method", run.network.method,
      fmt::format("one of {}, or any estimator, each perhaps with a baseline: \"reinforce + running-mean\"",
                  fmt::join(method_names(), ", "))));
  describes(
      command->add_option("--estimator", run.network.estimators,
                          "another estimator for one node, e.g. h1=reinforce; may be given several times"))
      ->take_all();
  describes(command->add_option(
      "--baseline", run.network.baseline,
      fmt::format("what the reward is compared with, e.g. running-mean(decay=0.9); one of {}, none",
                  fmt::join(standard_catalogue().baseline_names(), ", "))));
  CLI::Option* const values = describes(command->add_option(
      "--values", run.network.values, "what children see of a hidden unit's outcomes, e.g. -1,1 or 0,1"));
  describes(
      command->add_option("--lr", run.training.rate, "learning rate, times the batch mean of the gradient"));
  describes(command->add_option("--optimizer", run.training.optimizer, "sgd, momentum or adam"));
  describes(command->add_option(
      "--momentum", run.training.momentum,
      fmt::format("how much of its velocity --optimizer momentum keeps, {} unless given", usual_momentum)));
  describes(command->add_option("--batch", run.training.batch, "samples per step"))->check(in(1, most_batch));
  describes(command->add_option("--seed", run.training.seed,
                                "of initial weights, sampling and order of the images"))
      ->check(whole());
  describes(command->add_option("--test-passes", run.training.test_passes,
                                "times that each test image is classified after an epoch"))
      ->check(in(1, most_test_passes));
  CLI::Option* const epochs =
      command
          ->add_option("--epochs", run.epochs,
                       "times through the training images; a run that goes on has its own")
          ->check(in(1, most_epochs))
          ->capture_default_str();
  command
      ->add_option("--threads", given->run.training.threads,
                   "that share one step; they change nothing but the time")
      ->capture_default_str();
  command
      ->add_option("--out", given->out,
                   "folder for metrics.jsonl, checkpoint.safetensors and the learning curve")
      ->check(name_of_file())
      ->capture_default_str();
  command->add_option("--checkpoint-seconds", given->checkpoint_seconds, "from one checkpoint to the next")
      ->check(up_to(1e9))
      ->capture_default_str();
  command->add_flag("--resume", given->resume,
                    "go on with the run in the folder, bit by bit as if it had never stopped");
  return [given, fixed, epochs, method, hidden, graph, topology, values] {
    if (given->resume && epochs->count() > 0) given->more_epochs = given->run.epochs;
    if (given->resume)
      for (const CLI::Option* option : fixed)
        if (option->count() > 0)
          refuse({.code = "option",
                  .message = fmt::format("{} cannot change when a run goes on", option->get_name()),
                  .help = {fmt::format("hindsight train --resume --out {}", given->out.string())}});
    refuse_beside(graph, hidden, units_of_graph);
    refuse_beside(graph, values, values_of_graph);
    refuse_beside(topology, hidden, units_of_topology);
    if (!given->graph.empty() && method->count() == 0) given->run.network.method = own_method;
    remember_interrupts();
    switch (train(*given)) {
      case TrainEnd::finished:
        return 0;
      case TrainEnd::diverged:
        return diverged;
      default:
        return interrupted;
    }
  };
}

void add_source(CLI::App& command, GraphSource& source) {
  CLI::Option* const file = command.add_option("file", source.file, "DOT, edge list or GraphML");
  file->check(name_of_file());
  command
      .add_option("--topology", source.topology,
                  "a topology by name instead, e.g. small-world:units=200,repair")
      ->excludes(file);
}

void require_source(const GraphSource& source, const char* command) {
  if (source.file.empty() && source.topology.empty())
    refuse({.code = "option",
            .message = "no graph is given",
            .help = {fmt::format("hindsight {} net.dot", command),
                     fmt::format("hindsight {} --topology small-world", command)}});
}

Command add_validate(CLI::App& app) {
  auto given = std::make_shared<ValidateCommand>();
  CLI::App* command = app.add_subcommand(
      "validate",
      "where Assumption 1 and the estimators' own conditions hold, with witnesses; exit code 1 where not");
  command->add_option("files", given->files, "DOT, edge lists or GraphML")->check(name_of_file());
  command->add_option("--topology", given->topology, "a topology by name, e.g. small-world:units=200");
  command->add_option("--estimator", given->estimator,
                      "what if every node used it; " +
                          fmt::format("one of {}", fmt::join(standard_catalogue().estimator_names(), ", ")));
  command->add_flag("--strict", given->strict, "check inputs too");
  command->add_flag("--json", given->json, "for programs: one object per file and line");
  command->add_flag("--all", given->all, "every (node, child, coparent), not just one per node");
  return [given] { return static_cast<int>(validate_graphs(*given)); };
}

Command add_reduce(CLI::App& app) {
  auto given = std::make_shared<ReduceCommand>();
  CLI::App* command = app.add_subcommand("reduce", "the graph without the edges that violate Assumption 1");
  add_source(*command, given->source);
  command->add_option("-o,--out", given->out, "DOT file; standard output by default")->check(name_of_file());
  command->add_flag("--strict", given->strict, "reduce what inputs violate too");
  return [given] {
    require_source(given->source, "reduce");
    return static_cast<int>(reduce_graph(*given));
  };
}

Command add_draw(CLI::App& app) {
  auto given = std::make_shared<DrawCommand>();
  CLI::App* command =
      app.add_subcommand("draw", "a picture of a graph, its levels, estimators and violations");
  add_source(*command, given->source);
  command->add_option("-o,--out", given->out, "the picture: .svg, .png, .pdf, or .dot for Graphviz")
      ->check(name_of_file());
  command->add_option("--html", given->page, "a page to explore it in: one file, no network")
      ->check(name_of_file());
  command->add_flag("--strict", given->strict, "check inputs too");
  return [given] {
    require_source(given->source, "draw");
    return static_cast<int>(draw_graph(*given));
  };
}

Command add_microscope(CLI::App& app) {
  auto given = std::make_shared<MicroscopeCommand>();
  given->training.seed = 1;
  CLI::App* command = app.add_subcommand(
      "microscope", "which estimator is biased, by how much, and which scatters least, node by node");
  add_source(*command, given->source);
  CLI::Option* const run = command->add_option(
      "--run", given->run, "folder of a run of train instead: its network and its parameters");
  run->check(name_of_file());
  command
      ->add_option("--estimators", given->methods,
                   "to compare, e.g. \"reinforce; hnca; hnca(steps=2) + running-mean\"")
      ->delimiter(';');
  CLI::Option* const data = command->add_option(
      "--data", given->data,
      "as for train, or bandit: rewards drawn for any graph; by default, images where the graph "
      "can classify them");
  data->check(name_of_file());
  CLI::Option* const rows = command->add_option("--rows", given->rows, "of the inputs of a bandit");
  rows->check(in(1, 1000000))->capture_default_str();
  CLI::Option* const epochs =
      command->add_option("--epochs", given->epochs, "of learning by HNCA before parameters are frozen");
  epochs->check(in(0, most_epochs))->capture_default_str();
  command->add_option("--lr", given->training.rate, "learning rate of that")->capture_default_str();
  command
      ->add_option("--gradients", given->gradients, "to take by each estimator, if --most-operations allows")
      ->check(in(4, 100000000))
      ->capture_default_str();
  command->add_option("--batch", given->batch, "rows per gradient")
      ->check(in(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--most-states", given->most_states, "up to which expectations are exact")
      ->check(whole())
      ->capture_default_str();
  command
      ->add_option(
          "--most-operations", given->most_operations,
          "of about a nanosecond that all may take: fewer gradients are taken, dear estimators left out")
      ->check(up_to(1e18))
      ->capture_default_str();
  command->add_option("--seed", given->training.seed, "of everything")->check(whole())->capture_default_str();
  command->add_flag("--blocks", given->blocks, "a table of variances edge by edge too");
  command->add_flag("--json", given->json, "for programs: one object with all of it");
  command->add_option("--figure", given->figure, "variance by level, as SVG and PNG; without its ending")
      ->check(name_of_file());
  command
      ->add_option("--advise", given->advice,
                   "write the graph with the estimator of least variance × time at every node")
      ->check(name_of_file());
  for (CLI::Option* option :
       {command->get_option("file"), command->get_option("--topology"), data, rows, epochs})
    run->excludes(option);
  return [given] {
    if (given->run.empty()) require_source(given->source, "microscope");
    look_closely(*given);
    return 0;
  };
}

/// What is read for a folder of results, or for a file with all of them.
std::vector<std::filesystem::path> files_of_results(const std::filesystem::path& results) {
  std::vector<std::filesystem::path> files{results};
  std::error_code unreadable;  // is told when they are read
  for (const auto& entry : std::filesystem::directory_iterator(results, unreadable))
    files.push_back(entry.path());
  return files;
}

Command add_plot(CLI::App& app) {
  struct Given {
    std::filesystem::path results, out = "figure";
    bool table = false, by_network = false;
  };
  auto given = std::make_shared<Given>();
  CLI::App* command =
      app.add_subcommand("plot", "the paper's figure from the results of a sweep, as SVG and PNG");
  command->add_option("results", given->results, "folder of a sweep, or its results as .jsonl or .jsonl.gz")
      ->required()
      ->check(name_of_file());
  command->add_option("--out", given->out, "the figure, without its ending")
      ->check(name_of_file())
      ->capture_default_str();
  command->add_flag("--table", given->table, "print the table of results in Markdown instead");
  command->add_flag(
      "--by-network", given->by_network,
      "print the rewards in training instead, a row for each network, a column for each method");
  return [given] {
    const bool draws = !given->table && !given->by_network;
    if (draws) keep_files_apart(files_of_results(given->results), figure_files(given->out));
    const std::vector<RunResult> results = read_results(given->results);
    if (given->table) write_result(printable_lines(results_table(results)));
    if (given->by_network) write_result(printable_lines(rewards_table(results)));
    if (!draws) return 0;
    draw_paper_figure(results, given->out);
    print_result("{0}.svg and {0}.png\n", printable(given->out.string()));
    return 0;
  };
}

Command add_demo(CLI::App& app) {
  auto given = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand(
      "demo", "a non-layered graph and its layered twin, HNCA and REINFORCE, side by side");
  command->add_option("--seeds", given->seeds, "runs of each")->check(in(1, 1000))->capture_default_str();
  command->add_option("--epochs", given->epochs, "times through the images")
      ->check(in(1, 100000))
      ->capture_default_str();
  command->add_option("--out", given->out, "the figure, without its ending")
      ->check(name_of_file())
      ->capture_default_str();
  return [given] {
    remember_interrupts();
    return run_demo(*given) ? 0 : interrupted;
  };
}

Command add_sweep(CLI::App& app) {
  struct Given {
    std::string plan;
    SweepOptions options;
  };
  auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand(
      "sweep", "run methods × depths × learning rates × seeds, and go on where it stopped");
  command
      ->add_option("plan", given->plan,
                   "file that says what to run, e.g. examples/tool/experiments/sweeps/paper.toml")
      ->required()
      ->check(name_of_file());
  command->add_option("--out", given->options.results, "folder for the results, one file per run")
      ->required()
      ->check(name_of_file());
  command
      ->add_option("--known", given->options.known,
                   "results that need not be run again: a folder, .jsonl or .jsonl.gz")
      ->check(name_of_file());
  command->add_option("--workers", given->options.workers, "runs at a time; 0: as many as there are cores")
      ->check(in(0, 1024))
      ->capture_default_str();
  return [given] {
    remember_interrupts();
    if (run_sweep(read_plan(given->plan), given->options)) return 0;
    print_remark("\ninterrupted; finished runs are kept in {}: the same command goes on\n",
                 printable(given->options.results.string()));
    return interrupted;
  };
}

int run(int argc, char** argv) {
  CLI::App app{"Stochastic compute graphs and Hindsight Network Credit Assignment", "hindsight"};
  app.set_version_flag("--version", "hindsight " HINDSIGHT_VERSION);
  app.require_subcommand(1);
  const std::vector<std::pair<std::string, Command>> commands{
      {"train", add_train(app)}, {"sweep", add_sweep(app)},          {"plot", add_plot(app)},
      {"demo", add_demo(app)},   {"validate", add_validate(app)},    {"reduce", add_reduce(app)},
      {"draw", add_draw(app)},   {"microscope", add_microscope(app)}};
  if (const std::optional<int> code = understand(app, argc, argv)) return *code;
  for (const auto& [name, command] : commands)
    if (app.got_subcommand(name)) return command();
  return bad_input;
}

/// What the action returns, or, if it throws, what is wrong to standard error and `bad_input`.
template <class Action>
int attempt(const Action& action) {
  try {
    return within_memory(action);
  } catch (const std::exception& problem) {
    print_remark("{}\n", printable_lines(problem.what()));
    return bad_input;
  }
}

}  // namespace
}  // namespace hindsight::tool

int main(int argc, char** argv) {
  using namespace hindsight::tool;
  prepare_console();
  const int code = attempt([&] { return run(argc, argv); });
  const int written = attempt([] {
    finish_results();
    return 0;
  });
  return written == 0 ? code : written;
}
