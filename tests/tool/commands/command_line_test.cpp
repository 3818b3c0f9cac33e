// What scripts and terminals rely on: where output goes, exit codes, options, and what names may do.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"
#include "support/tool_process.hpp"
#include "tool/atomic_file.hpp"
#include "tool/tensor_file.hpp"

using namespace hindsight::tool;
using namespace hindsight::testing;
namespace fs = std::filesystem;

namespace {

//  x ─→ a ─→ b ─→ c ─→ r
//       └─────────↗
constexpr const char* net_with_baseline = R"(digraph net {
  x [kind=input units=784];  a [kind=bernoulli units=4];
  b [kind=bernoulli units=3 estimator=hnca baseline="running-mean"];
  c [kind=categorical classes=10];  r [kind=reward];
  x -> a -> b -> c -> r;  a -> c;
}
)";

constexpr const char* not_written = "error[output-not-written]: not all results could be written to standard";

void write_graph(const ScratchFolder& folder) { std::ofstream(folder / "v.dot") << net_with_baseline; }

void write_results(const ScratchFolder& folder) {
  std::ofstream(folder / "results.jsonl")
      << R"({"data":"sample","method":"hnca","values":"-1,1","optimizer":"sgd","depth":1,"units":4,)"
         R"("batch":16,"rate_exponent":-3,"seed":0,"epochs":1,"diverged":false,"seconds":1,)"
         R"("train_reward":[0.5],"test_accuracy_sampled":[0.5],"test_accuracy_mean":[0.5]})"
         "\n";
}

}  // namespace

TEST_CASE("results that a full disk swallows are no success") {
  const ScratchFolder folder;
  write_graph(folder);
  write_results(folder);
  for (const char* command :
       {"reduce v.dot", "validate v.dot", "validate --json v.dot", "validate --all v.dot",
        "plot results.jsonl --table", "plot results.jsonl --by-network", "draw v.dot -o v.svg", "--help",
        "--version", "train --help",
        "microscope v.dot --data bandit --gradients 4 --json --estimators reinforce"}) {
    CAPTURE(command);
    const Ended ended = run_in_shell(folder, fmt::format("$hindsight {} 2>log >/dev/full", command));
    CHECK(ended.code == 2);
    CHECK(says(ended.said, not_written));
    CHECK(says(ended.said, "No space left on device\n  help: "));
  }
  CHECK(fs::exists(folder / "v.svg"));  // what can be kept is kept
}

TEST_CASE("an output that may not grow ends in a message and no signal") {
  const ScratchFolder folder;
  write_graph(folder);
  const Ended ended = run_in_shell(
      folder,
      "ulimit -f 1; $hindsight validate --all --topology random:units=60,seed=1 2>&1 >out | cat >log; "
      "$hindsight validate --all --topology random:units=60,seed=1 >out 2>/dev/null");
  CHECK(ended.code == 2);
  CHECK(says(ended.said, not_written));
  CHECK(says(ended.said, "File too large"));
}

TEST_CASE("nobody has to listen to remarks") {
  const ScratchFolder folder;
  write_graph(folder);
  const Ended heard = run_in_shell(folder, "$hindsight reduce v.dot >out 2>log");
  REQUIRE(heard.code == 0);
  const std::string expected = content(folder / "out");
  REQUIRE(says(expected, "digraph"));
  for (const char* nowhere : {"2>&-", "2>/dev/full"}) {
    CAPTURE(nowhere);
    CHECK(run_in_shell(folder, fmt::format("$hindsight reduce v.dot >out {}", nowhere)).code == 0);
    CHECK(content(folder / "out") == expected);
    CHECK(run_in_shell(folder, fmt::format("$hindsight validate missing.dot {}", nowhere)).code == 2);
    CHECK(run_in_shell(folder, fmt::format("$hindsight reduce v.dot >/dev/full {}", nowhere)).code == 2);
    CHECK(run_in_shell(folder, fmt::format("$hindsight train --hidden 4 --epochs 1 --out 'run {}' >out {}",
                                           nowhere, nowhere))
              .code == 0);
    CHECK(says(content(folder / "out"), "test accuracy"));
  }
}

TEST_CASE("files do not take the places of streams that are closed") {
  const ScratchFolder folder;
  write_graph(folder);
  const Ended ended = run_in_shell(folder, "$hindsight train --hidden 4 --epochs 2 --out run <&- >&- 2>log");
  CHECK(ended.code == 2);
  CHECK(says(ended.said, "output: Bad file descriptor"));
  const std::string file = folder / "run/checkpoint.safetensors";
  CHECK(TensorFile::from_bytes(read_file(file), file).uint32s("position/data")[0] == 2);
  std::istringstream metrics(content(folder / "run/metrics.jsonl"));
  for (std::string line; std::getline(metrics, line);) CHECK(nlohmann::json::parse(line).contains("epoch"));
  // Nothing was to be said there.
  CHECK(run_in_shell(folder, "$hindsight reduce v.dot -o reduced.dot <&- >&- 2>&-").code == 0);
  CHECK(content(folder / "reduced.dot").starts_with("digraph hindsight {\n"));
}

TEST_CASE("a reader that has seen enough ends the program as it ends others") {
  const ScratchFolder folder;
  CHECK(run_in_shell(folder,
                     "{ $hindsight validate --all --topology random:units=600,seed=1 2>log; echo $? >code; } "
                     "| head -c 1 >out")
            .said.empty());
  CHECK(content(folder / "code") == fmt::format("{}\n", 128 + SIGPIPE));
}

TEST_CASE("results are on standard output and progress is on standard error") {
  const ScratchFolder folder;
  write_graph(folder);
  REQUIRE(run_in_shell(folder, "$hindsight train --hidden 4 --epochs 1 --out run >out 2>log").code == 0);
  const std::string out = content(folder / "out"), log = content(folder / "log");
  CHECK(out.starts_with("\n  test accuracy   "));
  CHECK_FALSE(says(out, "samples/s"));
  CHECK_FALSE(says(log, "accuracy"));
  // Said once and last, when the test images of the last epoch have been classified, too.
  CHECK(log.find("100 %  epoch 1  reward ") > log.find(" 90 %  "));
  CHECK(log.find("100 %") == log.rfind("100 %"));
  CHECK(log.find('\n', log.find("100 %")) == log.size() - 1);

  REQUIRE(
      run_in_shell(folder,
                   "$hindsight microscope v.dot --data bandit --gradients 20 --most-states 0 --estimators "
                   "'reinforce; hnca' --advise advised.dot >out 2>log")
          .code == 0);
  CHECK(content(folder / "out").starts_with("\na bandit with 8 rows"));
  CHECK(says(content(folder / "log"), "measuring"));
  REQUIRE(run_in_shell(
              folder,
              "$hindsight microscope v.dot --data bandit --gradients 20 --most-states 0 --json --estimators "
              "reinforce --advise advised.dot >out 2>log")
              .code == 0);
  CHECK(nlohmann::json::parse(content(folder / "out")).contains("contenders"));

  REQUIRE(run_in_shell(folder, "$hindsight reduce v.dot -o reduced.dot >out 2>log").code == 0);
  CHECK(content(folder / "out").empty());
  CHECK(content(folder / "log") == "removed 1 of 4 edges\n  a -> c\n");
  CHECK(run_in_shell(folder, "$hindsight validate v.dot missing.dot >out 2>log").code == 2);
  CHECK(content(folder / "log").find("missing.dot") < 20);
  CHECK(says(content(folder / "out"), "4 nodes"));
}

TEST_CASE("the version is told") {
  const ScratchFolder folder;
  const Ended ended = run(folder, {"--version"});
  CHECK(ended.code == 0);
  CHECK(ended.said == "hindsight " HINDSIGHT_VERSION "\n");
}

TEST_CASE("what a command reads it does not write over, whatever the name") {
  const ScratchFolder folder;
  write_graph(folder);
  for (const char* name : {"v.svg", "v.html", "v.svg.dot", "f.png"})
    std::ofstream(folder / name) << net_with_baseline;
  fs::create_symlink("v.dot", folder / "link.dot");
  fs::create_hard_link(folder / "v.dot", folder / "twin.dot");
  fs::create_directory(folder / "run");
  std::ofstream(folder / "run/metrics.jsonl") << net_with_baseline;
  write_results(folder);
  fs::create_symlink("results.jsonl", folder / "figure.png");
  const auto refused = [&](const std::string& command, const std::string& file, const std::string& source) {
    CAPTURE(command);
    const std::string before = content(folder.path() / file);
    const Ended ended = run_in_shell(folder, fmt::format("$hindsight {} >log 2>&1", command));
    CHECK(ended.code == 2);
    CHECK(ended.said ==
          fmt::format("error[file-is-read]: '{}' would be overwritten: it is '{}', which the command "
                      "reads\n  help: give what is written another name\n",
                      file, source));
    CHECK(content(folder.path() / file) == before);
    CHECK_FALSE(before.empty());
  };
  refused("draw v.dot -o v.dot", "v.dot", "v.dot");
  refused("draw v.dot -o ./v.dot", "./v.dot", "v.dot");
  refused("draw v.dot -o run/../v.dot", "run/../v.dot", "v.dot");
  refused("draw v.dot -o link.dot", "link.dot", "v.dot");
  refused("draw link.dot -o v.dot", "v.dot", "link.dot");
  refused("draw v.dot -o twin.dot", "twin.dot", "v.dot");
  refused("draw v.html --html v.html", "v.html", "v.html");
  refused("draw v.svg -o v.svg", "v.svg", "v.svg");
  refused(fmt::format("reduce v.dot -o {}", folder / "v.dot"), folder / "v.dot", "v.dot");
  refused("reduce v.dot --out link.dot", "link.dot", "v.dot");
  refused("microscope v.dot --data bandit --gradients 4 --advise v.dot", "v.dot", "v.dot");
  refused("microscope f.png --data bandit --gradients 4 --figure f", "f.png", "f.png");
  refused("train --graph run/metrics.jsonl --epochs 1 --out run", "run/metrics.jsonl", "run/metrics.jsonl");
  refused("plot results.jsonl --out figure", "figure.png", "results.jsonl");
  std::ofstream(folder / "run/.hindsight.lock") << net_with_baseline;
  refused("train --graph run/.hindsight.lock --epochs 1 --out run", "run/.hindsight.lock",
          "run/.hindsight.lock");
  fs::create_directory(folder / "data");
  const std::string images = "data/train-images-idx3-ubyte", labels = "data/t10k-labels.idx1-ubyte.gz";
  for (const std::string& file : {images, labels}) std::ofstream(folder / file) << net_with_baseline;
  fs::create_symlink(images, folder / "shot.svg");
  fs::create_hard_link(folder / labels, folder / "run/learning_curve.png");
  refused("microscope v.dot --data data --advise " + images, images, images);
  refused("microscope --topology skip --data data --advise ./" + labels, "./" + labels, labels);
  refused("microscope v.dot --data data --figure shot", "shot.svg", images);
  refused("train --data data --epochs 1 --out run", "run/learning_curve.png", labels);
  // Where Graphviz is missing, its input is written instead.
  CHECK(run_in_shell(folder, "PATH=/nowhere $hindsight draw v.svg.dot -o v.svg >log 2>&1").code == 2);
  CHECK(says(content(folder / "log"), "error[file-is-read]: 'v.svg.dot' would be overwritten"));
  CHECK(content(folder / "v.svg.dot") == net_with_baseline);
}

TEST_CASE("two results do not end up in one file") {
  const ScratchFolder folder;
  write_graph(folder);
  const Ended ended = run_in_shell(folder, "$hindsight draw v.dot -o new.svg --html ./new.svg >log 2>&1");
  CHECK(ended.code == 2);
  CHECK(says(ended.said, "the command writes something else there, too"));
  CHECK_FALSE(fs::exists(folder / "new.svg"));
}

TEST_CASE("options that are numbers or names say what they must be") {
  const ScratchFolder folder;
  write_graph(folder);
  const auto fails = [&](const std::vector<std::string>& arguments, const std::string& text) {
    const Ended ended = run(folder, arguments);
    CAPTURE(ended.said);
    CHECK(ended.code == 2);
    CHECK(ended.said.starts_with("error["));
    CHECK(says(ended.said, text));
    CHECK(ended.said.size() < 1000);
    CHECK_FALSE(fs::exists(folder / "run"));
  };
  const std::string net = folder / "v.dot", out = folder / "run";
  const std::string whole = "expected a whole number from 0 to 18446744073709551615, found ";
  for (const std::string seed : {"-1", "18446744073709551616", "-18446744073709551615"}) {
    fails({"train", "--seed", seed, "--out", out}, "--seed: " + whole + seed);
    fails({"microscope", net, "--seed", seed}, "--seed: " + whole + seed);
    fails({"microscope", net, "--most-states", seed}, "--most-states: " + whole + seed);
  }
  fails({"train", "--seed", "", "--out", out}, "--seed is given, but empty");
  for (const std::string seconds : {"nan", "-nan", "inf", "-1", "1e10"})
    fails({"train", "--checkpoint-seconds", seconds, "--out", out},
          "--checkpoint-seconds: expected a number from 0 to 1e+09, found " + seconds);
  fails({"train", "--graph", "", "--out", out},
        "--graph: expected the name of a file or folder, found nothing");
  fails({"train", "--topology", "", "--out", out}, "--topology is given, but empty");
  fails({"train", "--out", ""}, "--out: expected the name of a file or folder, found nothing");
  fails({"validate", ""}, "expected the name of a file or folder, found nothing");
  fails({"validate", "--topology", ""}, "--topology is given, but empty");
  fails({"validate", "--estimator", "", net}, "--estimator is given, but empty");
  fails({"draw", "", "-o", folder / "v.svg"}, "expected the name of a file or folder, found nothing");
  fails({"microscope", "--topology", ""}, "--topology is given, but empty");
  const std::string name(256, 'n');
  std::string path;
  for (int i = 0; i < 3000; ++i) path += "/n";
  const std::vector<std::vector<std::string>> with_names{{"train", "--hidden", "4", "--epochs", "1", "--out"},
                                                         {"train", "--graph"},
                                                         {"train", "--data"},
                                                         {"validate"},
                                                         {"reduce"},
                                                         {"reduce", net, "-o"},
                                                         {"draw", net, "-o"},
                                                         {"draw", net, "--html"},
                                                         {"plot"},
                                                         {"plot", net, "--out"},
                                                         {"sweep", net, "--out"},
                                                         {"sweep", net, "--out", out, "--known"},
                                                         {"sweep"},
                                                         {"demo", "--out"},
                                                         {"microscope", "--run"},
                                                         {"microscope", net, "--figure"},
                                                         {"microscope", net, "--advise"}};
  for (std::vector<std::string> words : with_names) {
    words.push_back(name);
    fails(words, "expected names of at most 255 bytes between slashes, found one of 256");
    words.back() = path;
    fails(words, "expected a path of at most 4095 bytes, found 6000");
  }
  // Too long only together with what is put into the folder.
  std::string almost = folder.path().string();
  while (almost.size() + 100 < 4090) almost += "/" + std::string(98, 'n');
  almost += "/" + std::string(4090 - almost.size(), 'n');
  fails({"train", "--hidden", "4", "--epochs", "1", "--out", almost}, "File name too long");
}

TEST_CASE("nobody is told that he meant what he wrote") {
  const ScratchFolder folder;
  const std::string out = folder / "run";
  for (const char* method : {"backprop-tanh", "backprop-relu"}) {
    const Ended ended = run(folder, {"train", "--method", std::string(method) + " + none", "--out", out});
    CHECK(ended.code == 2);
    CHECK(ended.said ==
          fmt::format("error[option]: method '{0}' stands alone: nothing can follow it\n  help: {0}\n",
                      method));
  }
  CHECK(run(folder, {"train", "--method", " backprop-tanh ", "--hidden", "4", "--epochs", "1", "--out", out})
            .code == 0);
}

namespace {

/// A letter that begins a command of the terminal in every way there is, overrides of the direction, and a
/// byte that is no UTF-8.
const std::string hostile =
    "\x1b[31m\xC2\x9B"
    "31m\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8F\x7F\xFF\r";

/// Control characters but the ends of lines, and what commands the direction of writing.
bool commands_a_terminal(const std::string& text) {
  const auto has = [&](const std::string& part) { return says(text, part); };
  for (const char c : text)
    if ((c >= 0 && c < ' ' && c != '\n') || c == 0x7F) return true;
  for (int last = 0x80; last < 0xA0; ++last)
    if (has({'\xC2', static_cast<char>(last)})) return true;
  for (const char* part :
       {"\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xAA", "\xE2\x80\xAB", "\xE2\x80\xAC", "\xE2\x80\xAD",
        "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x81\xA7", "\xE2\x81\xA8", "\xE2\x81\xA9", "\xFF"})
    if (has(part)) return true;
  return false;
}

}  // namespace

TEST_CASE("no name, option or file commands the terminal") {
  const ScratchFolder folder;
  REQUIRE(commands_a_terminal(hostile));
  // Control characters of ASCII are refused in names of nodes, others are not.
  const std::string name =
      "\xC2\x9B"
      "31m\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8Fn";
  std::ofstream(folder / (hostile + ".dot"))
      << "digraph { x [kind=input units=2]; \"" << name << "a\" [kind=bernoulli]; \"" << name
      << "b\" [kind=bernoulli]; c [kind=categorical classes=3]; \"" << name << "r\" [kind=reward]; x -> \""
      << name << "a\" -> \"" << name << "b\" -> c -> \"" << name << "r\"; \"" << name << "a\" -> c; }\n";
  const std::string net = folder / (hostile + ".dot"), out = folder / (hostile + "out");
  fs::create_directory(out);
  const auto harmless = [&](const std::vector<std::string>& arguments) {
    const Ended ended = run(folder, arguments);
    CAPTURE(arguments);
    CHECK_FALSE(commands_a_terminal(ended.said));
    CHECK_FALSE(ended.said.empty());
    return ended;
  };
  CHECK(says(harmless({"validate", net, net}).said,
             "/\\u001b[31m\\u009b31m\\u202e\\u2066\\u200f\\u007f\\xff\\u000d.dot\n"));
  CHECK(harmless({"validate", "--all", net}).code == 1);
  const Ended json = harmless({"validate", "--json", "--all", net});
  CHECK(nlohmann::json::parse(json.said)["violations"][0]["node"] == name + "a");
  CHECK(harmless({"reduce", net, "-o", out + "/reduced.dot"}).code == 0);
  CHECK(harmless({"draw", net, "-o", out + "/v.svg"}).code == 0);
  CHECK(harmless({"draw", net, "-o", net}).code == 2);
  CHECK(harmless({"draw", net, "-o", out}).code == 2);
  CHECK(harmless({"microscope", net, "--data", "bandit", "--gradients", "4", "--estimators",
                  "reinforce; hnca", "--blocks", "--advise", out + "/advised.dot"})
            .code == 0);
  const Ended numbers = harmless(
      {"microscope", net, "--data", "bandit", "--gradients", "4", "--estimators", "reinforce", "--json"});
  CHECK(nlohmann::json::parse(numbers.said)["nodes"][0]["name"] == name + "a");
  CHECK(harmless({"microscope", net, "--data", "bandit", "--estimators", hostile}).code == 2);
  CHECK(harmless({"train", "--hidden", "4", "--epochs", "1", "--out", out + "/run"}).code == 0);
  CHECK(harmless({"train", "--hidden", "4", "--epochs", "1", "--out", out + "/run"}).code == 2);
  for (const char* option :
       {"--graph", "--topology", "--method", "--estimator", "--baseline", "--values", "--optimizer", "--data",
        "--epochs", "--lr", "--seed", "--checkpoint-seconds", "--hidden"})
    CHECK(harmless({"train", option, hostile, "--out", out + "/other"}).code == 2);
  CHECK(harmless({"train", "--" + hostile}).code == 2);
  CHECK(harmless({"train", hostile}).code == 2);
  CHECK(harmless({hostile}).code == 2);
  CHECK(harmless({"validate", "--estimator", hostile, net}).code == 2);
  for (const char* command : {"validate", "reduce", "plot"}) CHECK(harmless({command, hostile}).code == 2);
  CHECK(harmless({"sweep", hostile, "--out", out + "/results"}).code == 2);
  std::ofstream(folder / "plan.toml") << "methods = [\"" << hostile << "\"]\n";
  CHECK(harmless({"sweep", folder / "plan.toml", "--out", out + "/results"}).code == 2);
}
