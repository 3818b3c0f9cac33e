// hindsight: trains, sweeps and draws from the command line. Exit codes: 0 done, 1 learning has diverged, 2
// bad input, 130 interrupted.
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <hindsight/hindsight.hpp>

#include "lab/figures.hpp"
#include "lab/interrupt.hpp"
#include "lab/statistics.hpp"
#include "lab/sweep.hpp"

namespace hindsight::lab {
namespace {

constexpr int bad_input = 2, interrupted = 130;

/// What a subcommand does once the command line is understood.
using Command = std::function<int()>;

SweepPlan read_plan(const std::string& file) {
  SweepPlan plan;
  CLI::App app;
  app.set_config("--plan", "", "", true);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.add_option("--data", plan.data);
  app.add_option("--values", plan.values);
  app.add_option("--optimizer", plan.optimizer);
  app.add_option("--units", plan.units)->check(CLI::Range(1, 100000));
  app.add_option("--batch", plan.batch)->check(CLI::Range(1, 1 << 20));
  app.add_option("--methods", plan.methods);
  app.add_option("--depths", plan.depths)->check(CLI::Range(1, 100));
  app.add_option("--rates", plan.rates)->check(CLI::Range(-60, 20));
  app.add_option("--seeds", plan.seeds)->check(CLI::Range(1, 10000));
  app.add_option("--epochs", plan.epochs)->check(CLI::Range(1, 1000000));
  app.add_option("--best-seeds", plan.best_seeds)->check(CLI::Range(0, 10000));
  app.add_option("--best-epochs", plan.best_epochs)->check(CLI::Range(1, 1000000));
  app.add_option("--neighbour-seeds", plan.neighbour_seeds)->check(CLI::Range(0, 10000));
  app.add_option("--neighbour-epochs", plan.neighbour_epochs)->check(CLI::Range(1, 1000000));
  try {
    app.parse(std::vector<std::string>{file, "--plan"});  // CLI11 takes the last first
  } catch (const CLI::ParseError& problem) {
    refuse({.code = "sweep-plan",
            .message = fmt::format("{}: {}", file, problem.what()),
            .help = {"see examples/lab/sweeps/paper.toml"}});
  }
  return plan;
}

Command add_sweep(CLI::App& app) {
  struct Given {
    std::string plan;
    SweepOptions options;
  };
  auto given = std::make_shared<Given>();
  CLI::App* command = app.add_subcommand(
      "sweep", "run methods × depths × learning rates × seeds, and go on where it stopped");
  command->add_option("plan", given->plan, "file that says what to run, e.g. examples/lab/sweeps/paper.toml")
      ->required();
  command->add_option("--out", given->options.results, "folder for the results, one file per run")
      ->required();
  command->add_option("--workers", given->options.workers, "runs at a time; 0: as many as there are cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  return [given] {
    remember_interrupts();
    if (run_sweep(read_plan(given->plan), given->options)) return 0;
    fmt::print("\ninterrupted; finished runs are kept in {}: the same command goes on\n",
               given->options.results.string());
    return interrupted;
  };
}

int run(int argc, char** argv) {
  CLI::App app{"Stochastic compute graphs and Hindsight Network Credit Assignment"};
  app.require_subcommand(1);
  const std::vector<std::pair<std::string, Command>> commands{{"sweep", add_sweep(app)}};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : bad_input;
  }
  for (const auto& [name, command] : commands)
    if (app.got_subcommand(name)) return command();
  return bad_input;
}

}  // namespace
}  // namespace hindsight::lab

int main(int argc, char** argv) {
  try {
    return hindsight::lab::run(argc, argv);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "{}\n", problem.what());
    return hindsight::lab::bad_input;
  }
}
