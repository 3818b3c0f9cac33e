#include "tool/sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"
#include "tool/atomic_file.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using hindsight::testing::refusal;
using hindsight::testing::ScratchFolder;

namespace {

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

const SweepPlan tiny{.units = 4,
                     .batch = 500,
                     .methods = {"hnca", "backprop-relu"},
                     .depths = {1, 2},
                     .rates = {-4, -3},
                     .seeds = 2,
                     .epochs = 1,
                     .best_seeds = 3,
                     .best_epochs = 2,
                     .neighbour_seeds = 1,
                     .neighbour_epochs = 2};

}  // namespace

TEST_CASE("a sweep runs every combination, then the best rates and their neighbours longer") {
  const ScratchFolder folder;
  REQUIRE(run_sweep(tiny, {.results = folder.path()}));
  const std::vector<RunResult> results = read_results(folder.path());
  // 2 methods × 2 depths × (2 rates × 2 seeds, then 3 seeds of the best and 1 of each of 2 neighbours)
  CHECK(results.size() == 4 * (4 + 3 + 2));
  CHECK(exploration(tiny, combinations(tiny)).size() == 16);
  int longer = 0;
  for (const RunResult& result : results) {
    CHECK_FALSE(result.diverged);
    CHECK(result.train_reward.size() == static_cast<std::size_t>(result.settings.epochs));
    longer += result.settings.epochs == 2 ? 1 : 0;
  }
  CHECK(longer == 4 * 5);
}

TEST_CASE("finished runs are not repeated, and missing ones are made again with the same numbers") {
  const ScratchFolder folder;
  SweepPlan plan = tiny;
  plan.methods = {"hnca"};
  plan.depths = {1};
  REQUIRE(run_sweep(plan, {.results = folder.path()}));
  const std::size_t files = files_in(folder.path());
  const auto gone = folder.path() / file_name(exploration(plan, combinations(plan))[1]),
             kept = folder.path() / file_name(exploration(plan, combinations(plan))[0]);
  const RunResult before = parse_result(read_file(gone), "before");
  std::filesystem::remove(gone);
  const auto time = std::filesystem::last_write_time(kept);
  REQUIRE(run_sweep(plan, {.results = folder.path(), .workers = 1}));
  CHECK(files_in(folder.path()) == files);
  CHECK(std::filesystem::last_write_time(kept) == time);
  RunResult after = parse_result(read_file(gone), "after");
  after.seconds = before.seconds;
  CHECK(after == before);
}

TEST_CASE("results that are known already are taken over instead of run") {
  const ScratchFolder folder;
  SweepPlan plan = tiny;
  plan.methods = {"hnca"};
  plan.depths = {1};
  plan.best_seeds = plan.neighbour_seeds = 0;
  REQUIRE(run_sweep(plan, {.results = folder.path() / "first"}));
  std::ofstream known(folder.path() / "known.jsonl");
  for (RunResult& result : read_results(folder.path() / "first")) {
    result.seconds = 12345;
    known << to_json_line(result) << "\n";
  }
  known.close();
  REQUIRE(run_sweep(plan, {.results = folder.path() / "second", .known = folder.path() / "known.jsonl"}));
  const std::vector<RunResult> taken = read_results(folder.path() / "second");
  CHECK(taken.size() == 4);
  for (const RunResult& result : taken) CHECK(result.seconds == 12345);
}

TEST_CASE("a run that diverges is recorded and the sweep goes on") {
  const ScratchFolder folder;
  SweepPlan plan = tiny;
  plan.methods = {"backprop-relu"};
  plan.depths = {2};
  plan.rates = {-4, 60};
  plan.epochs = 2;
  plan.best_seeds = plan.neighbour_seeds = 0;
  REQUIRE(run_sweep(plan, {.results = folder.path()}));
  int diverged = 0, finished = 0;
  for (const RunResult& result : read_results(folder.path())) {
    CHECK(result.diverged == (result.settings.rate_exponent == 60));
    CHECK(result.train_reward.size() == (result.diverged ? 0 : 2));
    ++(result.diverged ? diverged : finished);
  }
  CHECK(diverged == 2);
  CHECK(finished == 2);
}

TEST_CASE("a sweep refuses what it could not write down before it runs anything") {
  const ScratchFolder folder;
  SweepPlan plan = tiny;
  plan.values = "-2,2";
  CHECK(refusal([&] {
          run_sweep(plan, {.results = folder.path()});
        }).find("the sweep: error[sweep-plan]: 'values' must be") == 0);
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("a file that holds another run is not taken for this one") {
  const ScratchFolder folder;
  SweepPlan plan = tiny;
  plan.methods = {"hnca"};
  plan.depths = {1};
  plan.best_seeds = plan.neighbour_seeds = 0;
  REQUIRE(run_sweep(plan, {.results = folder.path()}));
  const std::vector<RunSettings> runs = exploration(plan, combinations(plan));
  std::filesystem::copy_file(folder.path() / file_name(runs[0]), folder.path() / file_name(runs[1]),
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(refusal([&] {
          run_sweep(plan, {.results = folder.path()});
        }).find("holds the result of another run") != std::string::npos);
  RunSettings here = runs[0], there = runs[0];
  here.data = "a/idx";
  there.data = "b/idx";
  CHECK(file_name(here) != file_name(there));
}

// A link to nothing can be neither read nor written. The others of the plan come before and after that run.
TEST_CASE("a result that cannot be written is not lost, nor are those of other runs") {
  const ScratchFolder folder;
  SweepPlan plan = tiny;
  plan.methods = {"hnca"};
  plan.depths = {1};
  plan.best_seeds = plan.neighbour_seeds = 0;
  const std::vector<RunSettings> runs = exploration(plan, combinations(plan));
  REQUIRE(runs.size() == 4);
  const auto bad = folder.path() / file_name(runs[1]);
  std::filesystem::create_symlink("nowhere", bad);
  CHECK(refusal([&] {
          run_sweep(plan, {.results = folder.path(), .workers = 1});
        }).find("error[file-not-written]: '" + bad.string() + "' was not written") == 0);
  CHECK(files_in(folder.path()) == 2);  // the first run, and the link
  const auto time = std::filesystem::last_write_time(folder.path() / file_name(runs[0]));
  std::filesystem::remove(bad);
  REQUIRE(run_sweep(plan, {.results = folder.path(), .workers = 1}));
  CHECK(std::filesystem::last_write_time(folder.path() / file_name(runs[0])) == time);
  CHECK(read_results(folder.path()).size() == 4);
}

TEST_CASE("a damaged result stops a sweep before it runs anything, with the file's name") {
  const ScratchFolder folder;
  SweepPlan plan = tiny;
  plan.methods = {"hnca"};
  plan.depths = {1};
  plan.best_seeds = plan.neighbour_seeds = 0;
  REQUIRE(run_sweep(plan, {.results = folder.path()}));
  const std::vector<RunSettings> runs = exploration(plan, combinations(plan));
  const auto damaged = folder.path() / file_name(runs[3]), gone = folder.path() / file_name(runs[0]);
  std::string line = read_file(damaged);
  const std::size_t digit = line.find("\"train_reward\":[0.") + 18;
  line[digit] = line[digit] == '1' ? '2' : '1';
  std::ofstream(damaged) << line;
  std::filesystem::remove(gone);
  CHECK(refusal([&] {
          run_sweep(plan, {.results = folder.path()});
        }).find("error[result-format]: " + damaged.string() + ": the line is damaged") == 0);
  CHECK_FALSE(std::filesystem::exists(gone));
}

TEST_CASE("a sweep of which no network admits any method is refused") {
  const ScratchFolder folder;
  SweepPlan plan = tiny;
  plan.methods = {"hnca(steps=2)"};
  plan.topologies = {"layered:units=40"};
  CHECK(refusal([&] { run_sweep(plan, {.results = folder.path()}); }) ==
        "the sweep: error[sweep-plan]: 'methods': nothing is left to run, for no network admits one of them\n"
        "  help: methods = [\"hnca\", \"reinforce\"]   # on any network with hidden units");
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("a network that cannot be made is refused before any other runs, with its place in the plan") {
  const ScratchFolder folder;
  SweepPlan plan = tiny;
  plan.topologies = {"skip:units=4", "skip:units=x"};
  plan.source = {.file = "my.toml", .lines = {{"topologies", 4}}};
  CHECK(refusal([&] {
          run_sweep(plan, {.results = folder.path()});
        }).find("my.toml:4: error[topology-value]: 'topologies': hnca on skip:units=x: option 'units' of") ==
        0);
  plan.topologies = {};
  plan.units = 1'000'000;
  plan.depths = {1000};
  plan.source.lines = {{"depths", 2}};
  CHECK(refusal([&] {
          run_sweep(plan, {.results = folder.path()});
        }).find("my.toml:2: error[too-large]: 'depths': hnca on 1000 hidden layers: ") == 0);
  plan.data = folder.path() / "nothing";
  plan.source.lines = {{"data", 1}};
  CHECK(refusal([&] {
          run_sweep(plan, {.results = folder.path()});
        }).find("my.toml:1: error[data-missing]: 'data': the folder") == 0);
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("refining needs what exploring found") {
  CHECK(refusal([] { refinement(tiny, combinations(tiny), {}); }) ==
        "error[sweep-incomplete]: hnca with 1 hidden layer has not been explored\n"
        "  help: run the sweep again: finished runs are not repeated");
}

TEST_CASE("a method is run once, by whatever names the plan has for it") {
  SweepPlan plan = tiny;
  plan.methods = {"hnca", "hnca(assumption=relaxed)", "reinforce+running-mean", "reinforce + running-mean"};
  plan.depths = {1};
  const std::vector<RunSettings> runs = combinations(plan);
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].method == "hnca");
  CHECK(runs[1].method == "reinforce + running-mean");
  plan.methods = {"hnca", "reinforse"};
  CHECK(refusal([&] { combinations(plan); }).find("did you mean 'reinforce'?") != std::string::npos);
}

TEST_CASE("files of results have names that shells leave alone, another for each run") {
  const std::string harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,=";
  std::set<std::string> names;
  RunSettings settings{.data = "sample", .values = "-1,1", .optimizer = "sgd"};
  std::size_t runs = 0;
  for (const char* method :
       {"hnca", "hnca(steps=2)", "hnca(steps=2,assumption=relaxed)", "hnca + none", "hnca +none",
        "hnca_+_none", "hnca___none", "reinforce + leave-one-out", "reinforce + leave-one-out(samples=8)"})
    for (const std::string& topology :
         {std::string(), std::string("skip:units=4"), std::string(200, 'a'), std::string(199, 'a') + "b"}) {
      settings.method = method;
      settings.topology = topology;
      const std::string name = file_name(settings);
      CAPTURE(name);
      CHECK(name.find_first_not_of(harmless) == std::string::npos);
      CHECK(name.size() < 250);
      names.insert(name);
      ++runs;
    }
  CHECK(names.size() == runs);
  settings.method = "hnca";
  settings.topology = "";
  CHECK(file_name(settings) == "sample-hnca--1,1-sgd-d1-u64-b16-lr0-s0-e1.json");
}

// Two steps at units of the first layer join all of the second, if it is dense: 2^40 states. Of the sparse
// one they join a few.
TEST_CASE("a method that comes to nothing on a network is left out there and nowhere else") {
  const ScratchFolder folder;
  SweepPlan plan = tiny;
  plan.methods = {"reinforce", "hnca(steps=2)"};
  plan.topologies = {"layered:units=40", "layered:units=40,density=0.05"};
  plan.rates = {-3};
  plan.seeds = 1;
  REQUIRE(run_sweep(plan, {.results = folder.path()}));
  std::map<std::string, std::set<std::string>> methods;
  for (const RunResult& result : read_results(folder.path()))
    methods[result.settings.topology].insert(result.settings.method);
  CHECK(methods["layered:units=40"] == std::set<std::string>{"reinforce"});
  CHECK(methods["layered:units=40,density=0.05"] == std::set<std::string>{"hnca(steps=2)", "reinforce"});
}
