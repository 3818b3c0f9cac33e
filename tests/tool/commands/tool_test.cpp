// The program as a person runs it: exit codes, messages, files, signals.
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/scratch_folder.hpp"
#include "support/tool_process.hpp"
#include "tool/atomic_file.hpp"
#include "tool/tensor_file.hpp"

using namespace hindsight::tool;
using namespace hindsight::testing;

namespace {

/// Everything of a checkpoint but how fast the run was.
std::string numbers(const std::string& file) {
  const TensorFile tensors = TensorFile::from_bytes(read_file(file), file);
  std::string all = tensors.metadata.at("run");
  for (const std::string& name : tensors.names()) {
    if (name == "metrics/samples_per_s") continue;
    all += name;
    const auto add = [&](const auto& values) {
      all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
    };
    if (name.starts_with("parameters/") || name.ends_with("_moment"))
      add(tensors.floats(name));
    else if (name.starts_with("metrics/") || name == "position/reward_sum" || name == "baselines")
      add(tensors.doubles(name));
    else if (name == "adam/steps")
      add(tensors.uint64s(name));
    else
      add(tensors.uint32s(name));
  }
  return all;
}

std::vector<std::string> small_run(const std::string& out, const std::string& epochs = "3") {
  return {"train",      "--hidden",     "6",     "--epochs", epochs, "--optimizer", "adam", "--lr", "0.01",
          "--baseline", "running-mean", "--out", out};
}

}  // namespace

TEST_CASE("a run leaves metrics, a checkpoint and a picture") {
  const ScratchFolder folder;
  const Ended ended = run(folder, small_run(folder / "run"));
  CAPTURE(ended.said);
  REQUIRE(ended.code == 0);
  CHECK(ended.said.find("epoch 3") != std::string::npos);
  CHECK(ended.said.find("samples/s") != std::string::npos);
  CHECK(ended.said.find(" left") != std::string::npos);
  CHECK(ended.said.find("of the likeliest class") != std::string::npos);
  CHECK(ended.said.find('\r') == std::string::npos);  // plain lines: this is no terminal
  std::istringstream metrics(content(folder / "run/metrics.jsonl"));
  int epoch = 0;
  for (std::string line; std::getline(metrics, line);) {
    CHECK(line.find("{\"epoch\":" + std::to_string(++epoch) + ",\"train_reward\":0.") == 0);
    for (const char* key : {"\"test_accuracy_sampled\":", "\"test_accuracy_mean\":", "\"samples_per_s\":"})
      CHECK(line.find(key) != std::string::npos);
  }
  CHECK(epoch == 3);
  CHECK(content(folder / "run/learning_curve.svg").find("<svg") != std::string::npos);
  CHECK(content(folder / "run/learning_curve.png").starts_with("\x89PNG"));
  CHECK(TensorFile::from_bytes(read_file(folder / "run/checkpoint.safetensors"), "it")
            .shape("parameters/h1/weights/x") == TensorFile::Shape{6, 784});
}

TEST_CASE("a run that is there already is neither overwritten nor changed by new options") {
  const ScratchFolder folder;
  REQUIRE(run(folder, small_run(folder / "run", "1")).code == 0);
  const std::string before = content(folder / "run/checkpoint.safetensors");
  Ended ended = run(folder, small_run(folder / "run"));
  CHECK(ended.code == 2);
  CHECK(ended.said.find("error[run-exists]") == 0);
  ended = run(folder, {"train", "--resume", "--out", folder / "run", "--lr", "0.5"});
  CHECK(ended.code == 2);
  CHECK(ended.said.find("error[option]: --lr cannot change when a run goes on") == 0);
  CHECK(content(folder / "run/checkpoint.safetensors") == before);
  ended = run(folder, {"train", "--resume", "--out", folder / "nothing"});
  CHECK(ended.code == 2);
  CHECK(ended.said.find("error[file-not-read]") == 0);
}

/// Waits until the file is there; false if the process should have made it long ago.
bool appears(const std::string& file) {
  for (int i = 0; i < 3000 && !std::filesystem::exists(file); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return std::filesystem::exists(file);
}

std::string metrics_without_speed(const std::string& file) {
  std::string all;
  std::istringstream text(content(file));
  for (std::string line; std::getline(text, line);) all += line.substr(0, line.find("\"samples_per_s\""));
  return all;
}

// The process is killed at random moments after its first checkpoint, most of them in the middle of a step or
// of writing; seed 5. Each try gets a little longer than the one before, so that slow machines come through
// as well.
TEST_CASE("a run that is killed twenty times ends with the bits of one that was not") {
  const ScratchFolder folder;
  REQUIRE(run(folder, small_run(folder / "whole", "8")).code == 0);
  const std::string expected = numbers(folder / "whole/checkpoint.safetensors");
  std::mt19937 rng(5);
  int kills = 0;
  for (int attempt = 0; kills < 20; ++attempt) {
    REQUIRE(attempt < 20);
    const std::string out = folder / ("run" + std::to_string(attempt)),
                      checkpoint = out + "/checkpoint.safetensors";
    int longest = 60;
    for (bool begun = false, finished = false; !finished; begun = true, longest += 10) {
      std::vector<std::string> arguments = small_run(out, "8");
      if (begun) arguments = {"train", "--resume", "--out", out};
      arguments.insert(arguments.end(), {"--checkpoint-seconds", "0.01"});
      const Process process(arguments, folder / "log");
      REQUIRE(appears(checkpoint));
      std::this_thread::sleep_for(std::chrono::milliseconds(rng() % static_cast<unsigned>(longest)));
      process.send(SIGKILL);
      const Ended ended = process.wait();
      CAPTURE(ended.said);
      CHECK((ended.code == 0 || ended.code == -SIGKILL));
      finished = ended.code == 0;
      kills += finished ? 0 : 1;
    }
    CHECK(numbers(checkpoint) == expected);
    CHECK(metrics_without_speed(out + "/metrics.jsonl") ==
          metrics_without_speed(folder / "whole/metrics.jsonl"));
    for (const auto& entry : std::filesystem::directory_iterator(out))
      CHECK_MESSAGE(entry.path().extension() != ".tmp", entry.path().string(), " was left behind");
  }
}

TEST_CASE("Ctrl-C finishes the step, keeps everything and says how to go on") {
  const ScratchFolder folder;
  const Process process(small_run(folder / "run", "5000"), folder / "log");
  REQUIRE(appears(folder / "run/checkpoint.safetensors"));
  process.send(SIGINT);
  Ended ended = process.wait();
  CAPTURE(ended.said);
  REQUIRE(ended.code == 130);
  CHECK(ended.said.find("hindsight train --resume --out " + folder / "run") != std::string::npos);
  const TensorFile stopped =
      TensorFile::from_bytes(read_file(folder / "run/checkpoint.safetensors"), "the checkpoint");
  const std::string epochs = std::to_string(stopped.uint32s("position/data")[0] + 2);
  ended = run(folder, {"train", "--resume", "--out", folder / "run", "--epochs", epochs});
  CAPTURE(ended.said);
  REQUIRE(ended.code == 0);
  REQUIRE(run(folder, small_run(folder / "whole", epochs)).code == 0);
  CHECK(metrics_without_speed(folder / "run/metrics.jsonl") ==
        metrics_without_speed(folder / "whole/metrics.jsonl"));
}

TEST_CASE("a run that goes on has the goal it was given first") {
  const ScratchFolder folder;
  const Process process(small_run(folder / "run", "30"), folder / "log");
  REQUIRE(appears(folder / "run/checkpoint.safetensors"));
  process.send(SIGINT);
  process.wait();
  REQUIRE(run(folder, {"train", "--resume", "--out", folder / "run"}).code == 0);
  CHECK(content(folder / "run/metrics.jsonl").find("{\"epoch\":30,") != std::string::npos);
  CHECK(content(folder / "run/metrics.jsonl").find("{\"epoch\":31,") == std::string::npos);
}

TEST_CASE("learning that diverges has exit code 1 and keeps the metrics") {
  const ScratchFolder folder;
  const Ended ended = run(folder, {"train", "--method", "backprop-relu", "--lr", "1e30", "--hidden", "8,8",
                                   "--epochs", "3", "--out", folder / "run"});
  CAPTURE(ended.said);
  CHECK(ended.code == 1);
  CHECK(ended.said.find("error[") != std::string::npos);
  CHECK(std::filesystem::exists(folder / "run/metrics.jsonl"));
}

TEST_CASE("a damaged or foreign checkpoint is refused and stays as it is") {
  const ScratchFolder folder;
  REQUIRE(run(folder, small_run(folder / "run", "1")).code == 0);
  const std::string file = folder / "run/checkpoint.safetensors", good = content(file);
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  TensorFile other;
  other.metadata = {{"format", "something else"}};
  const std::vector<std::string> damaged{good.substr(0, good.size() - 7), flipped, "",
                                         "not a checkpoint at all", other.to_bytes()};
  for (const std::string& bytes : damaged) {
    std::ofstream(file, std::ios::binary) << bytes;
    const Ended ended = run(folder, {"train", "--resume", "--out", folder / "run", "--epochs", "2"});
    CAPTURE(ended.said);
    CHECK(ended.code == 2);
    CHECK(ended.said.find("error[") == 0);
    CHECK(ended.said.find("checkpoint.safetensors") != std::string::npos);
    CHECK(content(file) == bytes);
  }
  std::ofstream(file, std::ios::binary) << good;
  CHECK(run(folder, {"train", "--resume", "--out", folder / "run", "--epochs", "2"}).code == 0);
}

TEST_CASE("a disk that fills up ends the run with a message and leaves the last good checkpoint") {
  const ScratchFolder folder;
  REQUIRE(run(folder, small_run(folder / "run", "1")).code == 0);
  const std::string before = content(folder / "run/checkpoint.safetensors");
  // Larger files than this cannot be written; the checkpoint is larger.
  const Ended ended = Process({"train", "--resume", "--out", folder / "run", "--epochs", "2"}, folder / "log",
                              before.size() / 2)
                          .wait();
  CAPTURE(ended.said);
  CHECK(ended.code == 2);
  CHECK(ended.said.find("error[file-not-written]") != std::string::npos);
  CHECK(content(folder / "run/checkpoint.safetensors") == before);
}

TEST_CASE("bad input has exit code 2 and a message that names it") {
  const ScratchFolder folder;
  const auto fails = [&](const std::vector<std::string>& arguments, const std::string& text) {
    const Ended ended = run(folder, arguments);
    CAPTURE(ended.said);
    CHECK(ended.code == 2);
    CHECK(ended.said.find(text) != std::string::npos);
  };
  fails({}, "subcommand is required");
  fails({"trane"}, "there is no command 'trane'\n  help: hindsight one of: train, sweep, plot, demo");
  fails({"train", "--hiden", "3"}, "--hiden");
  fails({"train", "--epochs", "0"}, "--epochs");
  fails({"train", "--epochs", "many"}, "many");
  fails({"train", "--data", folder / "nowhere", "--out", folder / "run"}, "error[data-missing]");
  fails({"train", "--method", "magic", "--out", folder / "run"}, "there is no method 'magic'");
  fails({"train", "--threads", "0", "--out", folder / "run"}, "error[thread-count]");
  fails({"train", "--out", "/proc/nothing"}, "error[file-not-written]");
  fails({"sweep", folder / "nothing.toml", "--out", folder / "results"}, "nothing.toml");
  std::ofstream(folder / "bad.toml") << "seeds = 2\nratse = [1]\n";
  fails({"sweep", folder / "bad.toml", "--out", folder / "results"}, "ratse");
  for (const char* other : {"depths = [2]", "units = 8"}) {
    std::ofstream(folder / "both.toml") << "topologies = [\"skip\"]\n" << other << "\n";
    fails({"sweep", folder / "both.toml", "--out", folder / "results"},
          "means nothing beside topologies\n  help: topologies = [\"layered:units=64,depth=3\"]");
  }
  fails({"plot", folder / "nothing"}, "error[results-missing]");
  CHECK(run(folder, {"--help"}).code == 0);
  CHECK(run(folder, {"train", "--help"}).said.find("--checkpoint-seconds") != std::string::npos);
}

TEST_CASE("options that would be passed over are refused") {
  const ScratchFolder folder;
  std::ofstream(folder / "net.dot") << "digraph { x [kind=input units=784]; y [kind=categorical classes=10]; "
                                       "r [kind=reward]; x -> y -> r; }\n";
  const auto fails = [&](std::vector<std::string> arguments, const std::string& text) {
    if (arguments.front() == "train") arguments.insert(arguments.end(), {"--out", folder / "run"});
    const Ended ended = run(folder, arguments);
    CHECK(ended.code == 2);
    CHECK(ended.said == text);
    CHECK_FALSE(std::filesystem::exists(folder / "run"));
  };
  fails({"train", "--topology", "skip", "--hidden", "64"},
        "error[option]: --hidden means nothing beside --topology\n"
        "  help: --topology small-world:units=200   # a topology has options of its own\n");
  fails({"train", "--hidden", "64,64", "--graph", folder / "net.dot"},
        "error[option]: --hidden means nothing beside --graph\n"
        "  help: a [kind=bernoulli units=64];   // the file says how many units there are\n");
  fails({"train", "--graph", folder / "net.dot", "--values", "0,1"},
        "error[option]: --values means nothing beside --graph\n"
        "  help: a [kind=bernoulli values=\"-1,1\"];   // the file says what children see\n");
}

TEST_CASE("a sweep that is killed goes on, and its results can be drawn and tabulated") {
  const ScratchFolder folder;
  std::ofstream(folder / "plan.toml")
      << "units = 4\nbatch = 100\nmethods = [\"hnca\", \"reinforce\"]\ndepths = [1]\n"
         "rates = [-3, -2]\nseeds = 3\nepochs = 6\n";
  const std::vector<std::string> sweep{"sweep", folder / "plan.toml", "--out", folder / "results"};
  const Process killed(sweep, folder / "log");
  const std::string first = folder / "results/sample-hnca--1,1-sgd-d1-u4-b100-lr-3-s0-e6.json";
  REQUIRE(appears(first));
  killed.send(SIGKILL);
  killed.wait();
  const auto time = std::filesystem::last_write_time(first);
  const Ended ended = run(folder, sweep);
  CHECK(std::filesystem::last_write_time(first) == time);
  CAPTURE(ended.said);
  REQUIRE(ended.code == 0);
  REQUIRE(run(folder, {"plot", folder / "results", "--out", folder / "figure"}).code == 0);
  CHECK(content(folder / "figure.svg").find("HNCA") != std::string::npos);
  CHECK(content(folder / "figure.png").starts_with("\x89PNG"));
  const Ended table = run(folder, {"plot", folder / "results", "--table"});
  CHECK(table.code == 0);
  CHECK(table.said.find("REINFORCE") != std::string::npos);
}

TEST_CASE("a sweep over estimators leaves out what networks do not admit, and its rewards are tabulated") {
  const ScratchFolder folder;
  std::ofstream(folder / "plan.toml")
      << "batch = 500\nmethods = [\"hnca(steps=2, assumption=relaxed)\", \"reinforce + running-mean\"]\n"
         "topologies = [\"layered:units=40\", \"layered:units=40,density=0.05\"]\n"
         "rates = [-3]\nseeds = 2\nepochs = 1\n";
  const Ended ended = run(folder, {"sweep", folder / "plan.toml", "--out", folder / "results"});
  CAPTURE(ended.said);
  REQUIRE(ended.code == 0);
  CHECK(ended.said.find("left out on layered:units=40: method 'hnca(steps=2,assumption=relaxed)' comes to "
                        "nothing on this network: node 'h1': summing out 40 units") != std::string::npos);
  const Ended table = run(folder, {"plot", folder / "results", "--by-network"});
  CAPTURE(table.said);
  CHECK(table.code == 0);
  CHECK(table.said.find("| reward (%) | hnca(steps=2,assumption=relaxed) | reinforce + running-mean |\n"
                        "|:---|---:|---:|\n"
                        "| layered:units=40 | – | ") == 0);
  CHECK(table.said.find("density=0.05 | –") == std::string::npos);
}

TEST_CASE("a run by an estimator with options is trained, kept and resumed") {
  const ScratchFolder folder;
  const std::vector<std::string> train{"train",
                                       "--topology",
                                       "layered:units=12,density=0.2",
                                       "--method",
                                       "hnca(steps=2) + running-mean",
                                       "--out",
                                       folder / "run",
                                       "--epochs",
                                       "1"};
  REQUIRE(run(folder, train).code == 0);
  CHECK(run(folder, {"train", "--resume", "--out", folder / "run", "--epochs", "2"}).code == 0);
  const Ended refused = run(folder, {"train", "--method", "hindsight-credit", "--out", folder / "other"});
  CHECK(refused.code == 2);
  CHECK(refused.said.find("error[method-inadmissible]: method 'hindsight-credit' comes to nothing") == 0);
}

TEST_CASE("the demonstration ends with a table and a figure") {
  const ScratchFolder folder;
  const Ended ended = run(folder, {"demo", "--seeds", "2", "--epochs", "2", "--out", folder / "demo"});
  CAPTURE(ended.said);
  REQUIRE(ended.code == 0);
  for (const char* text : {"non-layered  HNCA", "layered      REINFORCE", "Assumption 1 holds everywhere"})
    CHECK(ended.said.find(text) != std::string::npos);
  CHECK(content(folder / "demo.svg").find("non-layered, HNCA") != std::string::npos);
}
