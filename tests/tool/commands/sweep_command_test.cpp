// hindsight sweep as a person runs it: what it says, what it never writes over, when it is done.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"
#include "support/tool_process.hpp"

using namespace hindsight::testing;
namespace fs = std::filesystem;

namespace {

constexpr const char* small = "units = 4\nbatch = 500\nmethods = ['hnca']\ndepths = [1]\nrates = [-3]\n";

std::string write_plan(const std::string& file, const std::string& further) {
  std::ofstream(file) << small << further;
  return file;
}

}  // namespace

TEST_CASE("nobody has to hear that a method is left out, or that a result has no room") {
  const ScratchFolder folder;
  // Two steps at units of the first layer join all of the second.
  std::ofstream(folder / "plan.toml")
      << "batch = 500\nmethods = ['reinforce', 'hnca(steps=2)']\n"
         "topologies = ['layered:units=40']\nrates = [-3]\nseeds = 1\nepochs = 1\n";
  write_plan(folder / "small.toml", "seeds = 1\nepochs = 1\n");
  for (const char* nowhere : {"2>&-", "2>/dev/full"}) {
    CAPTURE(nowhere);
    const std::string out = nowhere[2] == '&' ? "closed" : "full";
    CHECK(run_in_shell(folder, fmt::format("$hindsight sweep plan.toml --out {} {}", out, nowhere)).code ==
          0);
    CHECK(std::distance(fs::directory_iterator(folder / out), fs::directory_iterator()) == 1);
    fs::create_directory(folder / ("no" + out));
    fs::create_symlink("nowhere", folder / ("no" + out + "/sample-hnca--1,1-sgd-d1-u4-b500-lr-3-s0-e1.json"));
    CHECK(run_in_shell(folder, fmt::format("$hindsight sweep small.toml --out no{} {}", out, nowhere)).code ==
          2);
  }
}

TEST_CASE(
    "no name of a folder commands the terminal when a result has no room, and the line that is said is "
    "read") {
  const ScratchFolder folder;
  const std::string plan = write_plan(folder / "plan.toml", "seeds = 1\nepochs = 1\n"),
                    out = folder / "\x1b[31m\xE2\x80\xAEout";
  fs::create_directory(out);
  fs::create_symlink("nowhere", out + "/sample-hnca--1,1-sgd-d1-u4-b500-lr-3-s0-e1.json");
  const Ended ended = run(folder, {"sweep", plan, "--out", out});
  CHECK(ended.code == 2);
  CHECK(ended.said.find('\x1b') == std::string::npos);
  CHECK(ended.said.find("\xE2\x80\xAE") == std::string::npos);
  CHECK(says(ended.said, "\\u001b[31m\\u202eout/sample-hnca"));
  const std::string told = "go on with --known kept.jsonl:\n";
  REQUIRE(says(ended.said, told));
  const std::string rest = ended.said.substr(ended.said.find(told) + told.size());
  std::ofstream(folder / "kept.jsonl") << rest.substr(0, rest.find('\n') + 1);
  CHECK(run(folder, {"sweep", plan, "--out", folder / "other", "--known", folder / "kept.jsonl"}).code == 0);
}

TEST_CASE("a sweep writes neither its lock nor a result over its plan") {
  const ScratchFolder folder;
  fs::create_directory(folder / "results");
  const auto refused = [&](const std::string& name, const std::string& further) {
    const std::string plan = write_plan(folder / ("results/" + name), further), before = content(plan);
    const Ended ended = run(folder, {"sweep", plan, "--out", folder / "results"});
    CAPTURE(ended.said);
    CHECK(ended.code == 2);
    CHECK(says(ended.said, "error[file-is-read]: '" + plan + "' would be overwritten: it is '" + plan +
                               "', which the command reads"));
    CHECK(content(plan) == before);
    fs::remove(plan);
  };
  refused(".hindsight.lock", "seeds = 1\nepochs = 1\n");
  refused("sample-hnca--1,1-sgd-d1-u4-b500-lr-3-s0-e1.json", "seeds = 1\nepochs = 1\n");
  CHECK(fs::is_empty(folder / "results"));
  refused("sample-hnca--1,1-sgd-d1-u4-b500-lr-3-s0-e2.json",
          "seeds = 1\nepochs = 1\nbest-seeds = 1\nbest-epochs = 2\n");
  // Elsewhere in that folder it may lie.
  CHECK(run(folder, {"sweep", write_plan(folder / "results/plan.toml", "seeds = 1\nepochs = 1\n"), "--out",
                     folder / "results"})
            .code == 0);
}

TEST_CASE("a sweep is done when its last result is kept, and exploring is not the end of it") {
  const ScratchFolder folder;
  const std::string plan =
      write_plan(folder / "plan.toml", "seeds = 4\nepochs = 1\nbest-seeds = 2\nbest-epochs = 3\n");
  const std::vector<std::string> sweep{"sweep", plan, "--out", folder / "results", "--workers", "2"};
  const std::string all = run(folder, sweep).said;
  CAPTURE(all);
  CHECK(all.find("100 %") == all.rfind("100 %"));
  CHECK(says(all, " 40 %  explore: 4 of 4 runs"));
  CHECK(says(all, "100 %  refine: 2 of 2 runs"));
  // The last of all results cannot be written.
  const std::string last = folder / "results/sample-hnca--1,1-sgd-d1-u4-b500-lr-3-s1-e3.json";
  fs::remove(last);
  fs::create_symlink("nowhere", last);
  const Ended failed = run(folder, sweep);
  CHECK(failed.code == 2);
  CHECK_FALSE(says(failed.said, "100 %"));
}
