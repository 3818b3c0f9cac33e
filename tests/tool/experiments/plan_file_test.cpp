#include "tool/plan_file.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using hindsight::testing::refusal;
using hindsight::testing::ScratchFolder;

namespace {

class PlanFolder : public ScratchFolder {
 public:
  SweepPlan read(const std::string& text) const {
    std::ofstream(*this / "my.toml", std::ios::binary) << text;
    return read_plan(*this / "my.toml");
  }
  /// Without the folder's name, and without the help.
  std::string refusal_of(const std::string& text) const {
    std::string said = refusal([&] { read(text); });
    if (const std::string name = path().string() + "/"; said.starts_with(name)) said.erase(0, name.size());
    return said.substr(0, said.find("\n  help: "));
  }
};

}  // namespace

TEST_CASE("a plan is read with comments, lists over several lines and both kinds of quotes") {
  const PlanFolder folder;
  const SweepPlan plan = folder.read(
      "# a comment\r\n"
      "data = 'a\\b # no comment'   # a comment\n"
      "\tmethods = [\n  \"hnca\", # a comment, with a ]\n\n  'reinforce + running-mean',\n]\n"
      "depths=2\nrates = [-3,+2 , 0]\nbest-seeds = 5\n"
      "optimizer = \"adam\"");
  CHECK(plan.data == "a\\b # no comment");
  CHECK(plan.methods == std::vector<std::string>{"hnca", "reinforce + running-mean"});
  CHECK(plan.depths == std::vector{2});
  CHECK(plan.rates == std::vector{-3, 2, 0});
  CHECK(plan.best_seeds == 5);
  CHECK(plan.optimizer == "adam");
  CHECK(plan.seeds == SweepPlan().seeds);
  CHECK(plan.source.place("rates") == folder / "my.toml:9");
  CHECK(plan.source.place("seeds") == folder / "my.toml");
  CHECK(folder.read("data = \"quotes \\\" and \\\\\"").data == "quotes \" and \\");
}

TEST_CASE("the plans of the documents are read") {
  for (const char* name : {"paper", "zero_one", "topologies", "estimators"})
    CHECK_NOTHROW(read_plan(std::filesystem::path(HINDSIGHT_SOURCE_DIR) / "examples/tool/experiments/sweeps" /
                            (std::string(name) + ".toml")));
}

TEST_CASE("numbers of a plan are refused with file, line and key, whatever else they are") {
  const PlanFolder folder;
  const std::vector<std::pair<std::string, std::string>> bounds{
      {"units", "1 to 1000000"},         {"batch", "1 to 1000000"},          {"seeds", "1 to 10000"},
      {"epochs", "1 to 10000"},          {"best-seeds", "0 to 10000"},       {"best-epochs", "1 to 10000"},
      {"neighbour-seeds", "0 to 10000"}, {"neighbour-epochs", "1 to 10000"}, {"depths", "1 to 1000"},
      {"rates", "-100 to 100"}};
  for (const auto& [key, range] : bounds) {
    const std::string refused = "my.toml:2: error[sweep-plan]: '" + key + "' must be ";
    for (const char* number : {"-1000000000", "2000000000", "18446744073709551616", "-18446744073709551616",
                               "340282366920938463463374607431768211456"})
      CHECK(folder.refusal_of("# one\n" + key + " = " + number) ==
            refused + "a whole number from " + range + ", found " + number);
    for (const char* text : {"", "2", "nan"})
      CHECK(folder.refusal_of("# one\n" + key + " = \"" + text + "\"") ==
            refused + "a whole number from " + range + ", found the text \"" + text + "\"");
    for (const char* other : {"nan", "inf", "-inf", "1.5", "1e3", "true", "0x10", "1_000", "-", "--1"})
      CHECK(folder.refusal_of("# one\n" + key + " = " + other) ==
            refused + "a text in quotes or a whole number, found '" + other + "'");
    CHECK(folder.refusal_of("# one\n" + key + " =") ==
          refused + "a text in quotes or a whole number, found the end of the line");
  }
  CHECK(folder.refusal_of("seeds = 0") ==
        "my.toml:1: error[sweep-plan]: 'seeds' must be a whole number from 1 to 10000, found 0");
  CHECK(folder.refusal_of("rates = [-3,\n101]") ==
        "my.toml:1: error[sweep-plan]: 'rates' must be a whole number from -100 to 100, found 101");
}

TEST_CASE("texts of a plan are refused where they mean nothing") {
  const PlanFolder folder;
  const std::string place = "my.toml:1: error[sweep-plan]: ";
  for (const char* key : {"data", "topologies"}) {
    CHECK(folder.refusal_of(std::string(key) + " = ''") ==
          place + "'" + key + "' must be 1 to 200 bytes long, found 0");
    CHECK(folder.refusal_of(std::string(key) + " = '" + std::string(201, 'x') + "'") ==
          place + "'" + key + "' must be 1 to 200 bytes long, found 201");
    CHECK(folder.refusal_of(std::string(key) + " = '\xff'") == place + "'" + key + "' must be UTF-8");
    CHECK(folder.refusal_of(std::string(key) + " = 7") ==
          place + "'" + key + "' must be a text in quotes, found 7");
    CHECK(folder.refusal_of(std::string(key) + " = '\x1b[2J'") ==
          place + "'" + key + "' has a control character in its text");
  }
  CHECK(folder.refusal_of("data = ['sample']") == place + "'data' must be one value, found a list");
  CHECK(folder.refusal_of("values = '1,2'") ==
        place + "'values' must be one of \"-1,1\", \"0,1\", found \"1,2\"");
  CHECK(folder.refusal_of("optimizer = 'lion'") ==
        place + "'optimizer' must be one of \"sgd\", \"momentum\", \"adam\", found \"lion\"");
  CHECK(folder.refusal_of("methods = ['hnca', 'hnka']") ==
        "my.toml:1: error[option]: 'methods': there is no method 'hnka'; did you mean 'hnca'?");
  CHECK(folder.refusal_of("methods = ''") == "my.toml:1: error[option]: 'methods': there is no method ''");
}

TEST_CASE("a plan says everything once, and something") {
  const PlanFolder folder;
  CHECK(folder.refusal_of("seeds = 1\nepochs = 2\nseeds = 1\n") ==
        "my.toml:3: error[sweep-plan]: 'seeds' is given twice, first in line 1");
  CHECK(folder.refusal_of("epochs = 2\nrates = [-3, -2, -3]") ==
        "my.toml:2: error[sweep-plan]: 'rates' lists -3 twice");
  CHECK(folder.refusal_of("depths = [1, 1]") == "my.toml:1: error[sweep-plan]: 'depths' lists 1 twice");
  CHECK(folder.refusal_of("methods = ['hnca', 'hnca']") ==
        "my.toml:1: error[sweep-plan]: 'methods' lists \"hnca\" twice");
  CHECK(folder.refusal_of("topologies = ['skip', 'skip']") ==
        "my.toml:1: error[sweep-plan]: 'topologies' lists \"skip\" twice");
  for (const char* key : {"methods", "topologies", "depths", "rates"})
    CHECK(folder.refusal_of(std::string(key) + " = []") ==
          "my.toml:1: error[sweep-plan]: '" + std::string(key) + "' must list something, found nothing");
  for (const char* text : {"", "\n\n", "# seeds = 2\n"})
    CHECK(folder.refusal_of(text) == "my.toml: error[sweep-plan]: the plan is empty");
}

TEST_CASE("rates of a plan have neighbours that are rates, where those are to be run") {
  const PlanFolder folder;
  CHECK(folder.read("rates = [-100, 100]").rates == std::vector{-100, 100});
  CHECK(folder.read("rates = [-99, 99]\nneighbour-seeds = 1").neighbour_seeds == 1);
  for (const char* rate : {"-100", "100"})
    CHECK(folder.refusal_of("seeds = 1\nrates = [0, " + std::string(rate) + "]\nneighbour-seeds = 1") ==
          "my.toml:2: error[sweep-plan]: 'rates' must be from -99 to 99 where neighbour-seeds is not 0, "
          "found " +
              std::string(rate));
}

TEST_CASE("a plan of more runs than anybody waits for is refused with its sum") {
  const PlanFolder folder;
  CHECK(folder.refusal_of("depths = [1, 2]\nrates = [0, 1]\nseeds = 10000\nbest-seeds = 10000\n"
                          "neighbour-seeds = 10000\n") ==
        "my.toml:3: error[sweep-plan]: the plan comes to 200000 runs, 100000 is the most: 2 methods × 2 "
        "networks × "
        "(2 rates × 10000 seeds + 10000 of the best + 2 × 10000 of its neighbours)");
}

TEST_CASE("a plan that is written wrongly is refused where it is") {
  const PlanFolder folder;
  const std::string place = "my.toml:2: error[sweep-plan]: ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"ratse = [1]", "there is no key 'ratse'; did you mean 'rates'?"},
      {"best_seeds = 1", "there is no key 'best_seeds'; did you mean 'best-seeds'?"},
      {"[section]", "expected a key, found '[section]'"},
      {"= 2", "expected a key, found '= 2'"},
      {"seeds", "expected '=' after 'seeds', found the end of the line"},
      {"seeds 2", "expected '=' after 'seeds', found '2'"},
      {"seeds = 2 epochs = 3", "'seeds' is followed by 'epochs = 3'"},
      {"rates = -3 -2", "'rates' is followed by '-2'"},
      {"rates = [-3 -2]", "expected ',' or ']' in the list of 'rates', found '-2]'"},
      {"rates = [-3", "expected ',' or ']' in the list of 'rates', found the end of the file"},
      {"rates = [", "expected ']' in the list of 'rates', found the end of the file"},
      {"rates = [[1]]", "'rates' must be a text in quotes or a whole number, found '[1]]'"},
      {"data = sample", "'data' must be a text in quotes or a whole number, found 'sample'"},
      {"data = \"sample", "expected the end of the text of 'data', found '\"sample'"},
      {"data = 'a\nb'", "expected the end of the text of 'data', found ''a'"},
      {"data = \"a\\nb\"", "'data' has a backslash before something else than \" or \\"},
      {std::string("\0", 1), "expected a key, found '\\u0000'"}};
  for (const auto& [text, message] : cases)
    CHECK(folder.refusal_of("epochs = 1\n" + text) == place + message);
  CHECK(folder.refusal_of("topologies = 'skip'\nunits = 8") ==
        "my.toml:2: error[sweep-plan]: 'units' means nothing beside topologies");
}

TEST_CASE("what is no file of text, or has no end, is no plan") {
  const PlanFolder folder;
  CHECK(refusal([] { read_plan("/dev/zero"); }).find("error[file-not-read]: '/dev/zero' was not read") == 0);
  CHECK(folder.refusal_of(std::string(70'000, '#')).find("expected at most 65536 bytes, found 70000") !=
        std::string::npos);
  for (const char* text : {"[", "a = [", "a = \"", "rates = [1,"}) {
    std::string many;
    while (many.size() < 60'000) many += text;
    CHECK(folder.refusal_of(many).find("error[sweep-plan]: ") != std::string::npos);
    CHECK(folder.refusal_of(many).size() < 1000);
  }
}

TEST_CASE("no two runs of a plan share a file") {
  const PlanFolder folder;
  SweepPlan plan{.methods = {"hnca"}, .topologies = {"skip:units=4", "skip units=4"}};
  CHECK(refusal([&] { check(plan); }).find("the sweep: error[sweep-plan]: 'topologies' has two networks") ==
        0);
}
