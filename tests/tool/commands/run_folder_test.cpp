// Two processes that want one folder.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/scratch_folder.hpp"
#include "support/tool_process.hpp"

using namespace hindsight::testing;

namespace {

std::vector<std::string> training(const std::string& out, const std::string& epochs) {
  return {"train", "--hidden", "4", "--batch", "500", "--epochs", epochs, "--out", out};
}

bool comes_to_be(const std::string& file) {
  for (int i = 0; i < 3000 && !std::filesystem::exists(file); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return std::filesystem::exists(file);
}

std::string in_use(const std::string& folder, pid_t process) {
  const std::string number = std::to_string(process);
  return "error[folder-in-use]: another run writes to '" + folder + "': process " + number +
         "\n  help: kill " + number +
         "   # ends it and keeps what it has done\n"
         "  help: --out other   # a folder of its own for each run\n";
}

/// Of a process that has the folder: a second one has a log of its own.
Ended second(const ScratchFolder& folder, const std::vector<std::string>& arguments) {
  return Process(arguments, folder / "second").wait();
}

}  // namespace

TEST_CASE("a run keeps others out of its folder, whether they begin or go on, and not after it was killed") {
  const ScratchFolder folder;
  const std::string out = folder / "run";
  const Process holder(training(out, "60000"), folder / "log");
  REQUIRE(comes_to_be(out + "/checkpoint.safetensors"));
  for (const auto& arguments :
       {training(out, "1"), std::vector<std::string>{"train", "--resume", "--out", out}}) {
    const Ended ended = second(folder, arguments);
    CHECK(ended.code == 2);
    CHECK(ended.said == in_use(out, holder.process()));
  }
  // Whoever only reads is not kept out.
  CHECK(second(folder, {"microscope", "--run", out, "--gradients", "4", "--json"}).code == 0);
  holder.send(SIGKILL);
  CHECK(holder.wait().code == -SIGKILL);
  const Ended after = second(folder, {"train", "--resume", "--out", out, "--epochs", "1"});
  CAPTURE(after.said);
  CHECK(after.code == 0);
  CHECK_FALSE(std::filesystem::exists(out + "/.hindsight.lock"));
}

// Both may find an empty folder; whoever locks it second finds it locked, or the other's checkpoint.
TEST_CASE("of runs that begin in one folder at once, one comes through") {
  const ScratchFolder folder;
  const std::string out = folder / "run";
  std::vector<Process> runs;
  for (int i = 0; i < 4; ++i) runs.emplace_back(training(out, "2"), folder / ("log" + std::to_string(i)));
  int finished = 0;
  for (const Process& run : runs) {
    const Ended ended = run.wait();
    CAPTURE(ended.said);
    CHECK((ended.code == 0 || ended.code == 2));
    if (ended.code == 0)
      ++finished;
    else
      CHECK((ended.said.starts_with("error[folder-in-use]") || ended.said.starts_with("error[run-exists]")));
  }
  CHECK(finished == 1);
}

TEST_CASE("a sweep keeps others out of its folder, and not after it was killed") {
  const ScratchFolder folder;
  std::ofstream(folder / "plan.toml") << "units = 4\nbatch = 500\nmethods = [\"hnca\"]\ndepths = [1]\n"
                                         "rates = [-3]\nseeds = 12\nepochs = 5\n";
  const std::vector<std::string> sweep{
      "sweep", folder / "plan.toml", "--out", folder / "results", "--workers", "1"};
  const std::string first = folder / "results/sample-hnca--1,1-sgd-d1-u4-b500-lr-3-s0-e5.json";
  const Process holder(sweep, folder / "log");
  REQUIRE(comes_to_be(first));
  holder.send(SIGSTOP);  // it could come to its end meanwhile
  const auto time = std::filesystem::last_write_time(first);
  const Ended refused = second(folder, sweep);
  CHECK(refused.code == 2);
  CHECK(refused.said == in_use(folder / "results", holder.process()));
  CHECK(second(folder, {"plot", folder / "results", "--table"}).code == 0);
  holder.send(SIGKILL);
  CHECK(holder.wait().code == -SIGKILL);
  CHECK(run(folder, sweep).code == 0);
  CHECK(std::filesystem::exists(folder / "results/sample-hnca--1,1-sgd-d1-u4-b500-lr-3-s11-e5.json"));
  CHECK(std::filesystem::last_write_time(first) == time);
}

// A link to nothing can be neither read nor written.
TEST_CASE("a result for which there is no room is said, and taken from there when the sweep goes on") {
  const ScratchFolder folder;
  std::ofstream(folder / "plan.toml") << "units = 4\nbatch = 500\nmethods = [\"hnca\"]\ndepths = [1]\n"
                                         "rates = [-3]\nseeds = 2\nepochs = 1\n";
  std::filesystem::create_directory(folder / "results");
  const std::string bad = folder / "results/sample-hnca--1,1-sgd-d1-u4-b500-lr-3-s0-e1.json";
  std::filesystem::create_symlink("nowhere", bad);
  std::vector<std::string> sweep{"sweep", folder / "plan.toml", "--out", folder / "results", "--workers",
                                 "1"};
  const Ended failed = second(folder, sweep);
  CAPTURE(failed.said);
  CHECK(failed.code == 2);
  CHECK(failed.said.find("error[file-not-written]: '" + bad + "' was not written") != std::string::npos);
  const std::string told = "go on with --known kept.jsonl:\n";
  REQUIRE(failed.said.find(told) != std::string::npos);
  std::string line = failed.said.substr(failed.said.find(told) + told.size());
  line.resize(line.find('\n') + 1);
  std::ofstream(folder / "kept.jsonl") << line;
  std::filesystem::remove(bad);
  sweep.insert(sweep.end(), {"--known", folder / "kept.jsonl"});
  const Ended ended = second(folder, sweep);
  CAPTURE(ended.said);
  CHECK(ended.code == 0);
  CHECK(ended.said.find("1 of 2 runs are there already") != std::string::npos);
  CHECK(content(bad) == line);
}

TEST_CASE("a plan that is wrong ends the program with exit code 2, file, line and key, and makes nothing") {
  const ScratchFolder folder;
  const auto fails = [&](const std::string& plan, const std::string& said) {
    std::ofstream(folder / "plan.toml") << plan;
    const Ended ended = second(folder, {"sweep", folder / "plan.toml", "--out", folder / "results"});
    CAPTURE(ended.said);
    CHECK(ended.code == 2);
    CHECK(ended.said.find(folder / "plan.toml" + said) == 0);
    CHECK_FALSE(std::filesystem::exists(folder / "results"));
  };
  fails("epochs = 1\nseeds = 1000000000\n",
        ":2: error[sweep-plan]: 'seeds' must be a whole number from 1 to 10000, found 1000000000\n");
  fails("", ": error[sweep-plan]: the plan is empty\n");
  fails("epochs = 1\ntopologies = ['skip', 'skipp']\n",
        ":2: error[topology-name]: 'topologies': hnca on skipp: there is no topology 'skipp'\n");
  fails("epochs = 1\n\nmethods = ['hnka']\n", ":3: error[option]: 'methods': there is no method 'hnka'");
  fails("units = 1000000\ndepths = [1000]\n", ":2: error[too-large]: 'depths': hnca on 1000 hidden layers: ");
  fails("rates = [99, 100]\nneighbour-seeds = 1\n", ":1: error[sweep-plan]: 'rates' must be from -99 to 99");
  const Ended endless = second(folder, {"sweep", "/dev/zero", "--out", folder / "results"});
  CHECK(endless.code == 2);
  CHECK(endless.said.find("error[file-not-read]: '/dev/zero' was not read") == 0);
}
