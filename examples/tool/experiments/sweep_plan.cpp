#include "tool/sweep_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hindsight/core/report.hpp>

#include "tool/methods.hpp"
#include "tool/plain_text.hpp"
#include "tool/statistics.hpp"

namespace hindsight::tool {
namespace {

/// Some months on a machine of many cores; the list of them takes some ten megabytes.
constexpr std::uint64_t most_runs = 100'000;

/// FNV-1a.
std::uint64_t sum_of(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const char letter : text) sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return sum;
}

void add_seeds(std::vector<RunSettings>& runs, RunSettings run, int rate, int seeds, int epochs) {
  run.rate_exponent = rate;
  run.epochs = epochs;
  for (run.seed = 0; run.seed < seeds; ++run.seed) runs.push_back(run);
}

[[noreturn]] void refuse_plan(const PlanSource& source, std::string_view key, const std::string& what,
                              std::string help = "see examples/tool/experiments/sweeps/paper.toml") {
  refuse({.code = "sweep-plan",
          .message = fmt::format("'{}' {}", key, what),
          .help = {std::move(help)},
          .place = source.place(key)});
}

void check_number(const PlanSource& source, std::string_view key, int number, const Bounds& bounds) {
  if (!bounds.contain(number))
    refuse_plan(source, key,
                fmt::format("must be from {} to {}, found {}", bounds.lowest, bounds.highest, number));
}

template <class T>
void check_list(const PlanSource& source, std::string_view key, const std::vector<T>& list) {
  if (list.empty()) refuse_plan(source, key, "must list something, found nothing");
  std::set<T> seen;
  for (const T& item : list)
    if (!seen.insert(item).second) {
      if constexpr (std::is_same_v<T, int>)
        refuse_plan(source, key, fmt::format("lists {} twice", item));
      else
        refuse_plan(source, key, fmt::format("lists \"{}\" twice", one_line(item)));
    }
}

void check_choice(const SweepPlan& plan, std::string_view key, const std::string& found,
                  std::initializer_list<std::string_view> choices) {
  if (std::find(choices.begin(), choices.end(), found) == choices.end())
    refuse_plan(
        plan.source, key,
        fmt::format("must be one of \"{}\", found \"{}\"", fmt::join(choices, "\", \""), one_line(found)));
}

void check_text(const PlanSource& source, std::string_view key, const std::string& text) {
  if (text.empty() || text.size() > longest_text)
    refuse_plan(source, key, fmt::format("must be 1 to {} bytes long, found {}", longest_text, text.size()));
  if (!is_utf8(text)) refuse_plan(source, key, "must be UTF-8");
}

/// The library's words about a method, with the place and the key.
void check_methods(const SweepPlan& plan) {
  for (const std::string& method : plan.methods) {
    std::string name;
    try {
      name = canonical_method(method);
    } catch (const Error& problem) {
      refuse_again(problem, plan.source, "methods");
    }
    check_text(plan.source, "methods", name);
  }
}

/// Whichever rate is the best one, those beside it must be rates too.
void check_neighbours(const SweepPlan& plan) {
  if (plan.neighbour_seeds == 0) return;
  for (const int rate : plan.rates)
    if (rate == rate_bounds.lowest || rate == rate_bounds.highest)
      refuse_plan(plan.source, "rates",
                  fmt::format("must be from {} to {} where neighbour-seeds is not 0, found {}",
                              rate_bounds.lowest + 1, rate_bounds.highest - 1, rate),
                  "neighbour-seeds = 0   # or without that rate, which has no neighbour on one side");
}

void check_size(const SweepPlan& plan) {
  const auto size = [](const auto& number) { return static_cast<std::uint64_t>(number); };
  const std::uint64_t networks = size(plan.topologies.empty() ? plan.depths.size() : plan.topologies.size());
  const std::uint64_t of_each =
      size(plan.rates.size()) * size(plan.seeds) + size(plan.best_seeds) + 2 * size(plan.neighbour_seeds);
  const std::uint64_t runs = size(plan.methods.size()) * networks * of_each;
  if (runs > most_runs)
    refuse({.code = "sweep-plan",
            .message = fmt::format("the plan comes to {} runs, {} is the most: {} methods × {} networks × "
                                   "({} rates × {} seeds + {} of the best + 2 × {} of its neighbours)",
                                   runs, most_runs, plan.methods.size(), networks, plan.rates.size(),
                                   plan.seeds, plan.best_seeds, plan.neighbour_seeds),
            .help = {"seeds = 2   # or fewer methods, networks or rates"},
            .place = plan.source.place("seeds")});
}

/// Of two runs in one file, the second would take the place of the first.
void check_names(const SweepPlan& plan) {
  std::set<std::string> names;
  for (const RunSettings& settings : combinations(plan))
    if (!names.insert(file_name(settings)).second)
      refuse_plan(
          plan.source, plan.topologies.empty() ? "methods" : "topologies",
          fmt::format("has two networks or methods whose results would be called {}", file_name(settings)),
          "give each a sweep of its own");
}

}  // namespace

std::string PlanSource::place(std::string_view key) const {
  const auto line = lines.find(key);
  return line == lines.end() ? file : fmt::format("{}:{}", file, line->second);
}

void refuse_again(const Error& problem, const PlanSource& source, std::string_view key,
                  const std::string& about) {
  Report report = problem.report();
  if (report.diagnostics.empty()) throw Error(problem);
  Diagnostic& said = report.diagnostics.front();
  said.place = source.place(key);
  said.message = fmt::format("'{}': {}{}", key, about, said.message);
  throw Error(std::move(report));
}

void check(const SweepPlan& plan) {
  for (const auto& [key, member] : plan_texts) check_text(plan.source, key, plan.*member);
  check_choice(plan, "values", plan.values, {"-1,1", "0,1"});
  check_choice(plan, "optimizer", plan.optimizer, {"sgd", "momentum", "adam"});
  for (const auto& [key, member, bounds] : plan_numbers) check_number(plan.source, key, plan.*member, bounds);
  check_list(plan.source, "methods", plan.methods);
  if (!plan.topologies.empty() || plan.source.lines.contains("topologies"))
    check_list(plan.source, "topologies", plan.topologies);
  for (const std::string& topology : plan.topologies) check_text(plan.source, "topologies", topology);
  for (const auto& [key, member, bounds] : plan_number_lists) {
    check_list(plan.source, key, plan.*member);
    for (const int number : plan.*member) check_number(plan.source, key, number, bounds);
  }
  check_neighbours(plan);
  check_size(plan);
  check_methods(plan);
  check_names(plan);
  // What is left is what the lines of results ask for besides.
  for (const RunSettings& settings : combinations(plan)) check(settings, plan.source.file);
}

std::string file_name(const RunSettings& settings) {
  const std::string network =
      settings.topology.empty() ? fmt::format("d{}-u{}", settings.depth, settings.units) : settings.topology;
  std::string name = fmt::format("{}-{}-{}-{}-{}-b{}-lr{}-s{}-e{}", settings.data, settings.method,
                                 settings.values, settings.optimizer, network, settings.batch,
                                 settings.rate_exponent, settings.seed, settings.epochs);
  // Of two names in which letters were replaced or left out, the sums differ.
  constexpr std::size_t longest = 200;
  if (settings.method.find_first_of(" ()+") != std::string::npos || name.size() > longest)
    name = fmt::format("{}-{:016x}", name.substr(0, longest), sum_of(name));
  constexpr std::string_view unsafe = "/: ()+";
  for (char& letter : name)
    if (unsafe.find(letter) != std::string_view::npos) letter = '_';
  return name + ".json";
}

std::vector<RunSettings> combinations(const SweepPlan& plan) {
  std::vector<std::string> methods;
  for (const std::string& method : plan.methods)
    if (std::string name = canonical_method(method);
        std::find(methods.begin(), methods.end(), name) == methods.end())
      methods.push_back(std::move(name));
  std::vector<RunSettings> all;
  const auto add = [&](const std::string& topology, int depth, int units) {
    for (const std::string& method : methods)
      all.push_back({.data = plan.data,
                     .method = method,
                     .values = plan.values,
                     .optimizer = plan.optimizer,
                     .topology = topology,
                     .depth = depth,
                     .units = units,
                     .batch = plan.batch});
  };
  if (plan.topologies.empty())
    for (const int depth : plan.depths) add("", depth, plan.units);
  for (const std::string& topology : plan.topologies) add(topology, 1, 1);
  return all;
}

std::vector<RunSettings> exploration(const SweepPlan& plan, const std::vector<RunSettings>& combinations) {
  std::vector<RunSettings> runs;
  for (const RunSettings& settings : combinations)
    for (const int rate : plan.rates) add_seeds(runs, settings, rate, plan.seeds, plan.epochs);
  return runs;
}

std::int64_t refinement_epochs(const SweepPlan& plan) {
  return std::int64_t{plan.best_seeds} * plan.best_epochs +
         2 * std::int64_t{plan.neighbour_seeds} * plan.neighbour_epochs;
}

std::vector<RunSettings> refinement(const SweepPlan& plan, const std::vector<RunSettings>& combinations,
                                    const std::vector<RunResult>& explored) {
  std::vector<RunSettings> runs;
  for (const RunSettings& settings : combinations) {
    std::vector<RunResult> group;
    for (const RunResult& result : explored)
      if (result.settings.depth == settings.depth && result.settings.topology == settings.topology &&
          result.settings.method == settings.method && result.settings.epochs == plan.epochs &&
          result.settings.seed < plan.seeds)
        group.push_back(result);
    const auto best = best_rate(group, plan.epochs);
    if (!best)
      refuse({.code = "sweep-incomplete",
              .message = fmt::format("{} with {} has not been explored", settings.method,
                                     NetworkKey{settings.depth, settings.topology}.label()),
              .help = {"run the sweep again: finished runs are not repeated"}});
    add_seeds(runs, settings, best->exponent, plan.best_seeds, plan.best_epochs);
    for (const int neighbour : {best->exponent - 1, best->exponent + 1})
      add_seeds(runs, settings, neighbour, plan.neighbour_seeds, plan.neighbour_epochs);
  }
  return runs;
}

}  // namespace hindsight::tool
