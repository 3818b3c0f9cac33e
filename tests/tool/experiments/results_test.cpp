#include "tool/results.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <hindsight/core/report.hpp>

#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using hindsight::testing::refusal;

namespace {

namespace fs = std::filesystem;

struct ResultFolder : testing::ScratchFolder {
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path() / name, std::ios::binary) << text;
  }
  void write_compressed(const std::string& name, const std::string& text) const {
    const gzFile file = gzopen((path() / name).c_str(), "wb");
    REQUIRE(file != nullptr);
    CHECK(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
    CHECK(gzclose(file) == Z_OK);
  }
};

RunResult example() {
  return {.settings = {.data = "mnist",
                       .method = "hnca",
                       .values = "-1,1",
                       .optimizer = "sgd",
                       .depth = 2,
                       .units = 64,
                       .batch = 16,
                       .rate_exponent = -7,
                       .seed = 3,
                       .epochs = 2},
          .diverged = false,
          .train_reward = {0.5, 0.81235},
          .test_accuracy_sampled = {0.625, 0.9},
          .test_accuracy_mean = {0.75, 1},
          .seconds = 12.5};
}

const std::string example_line =
    R"({"data":"mnist","method":"hnca","values":"-1,1","optimizer":"sgd","depth":2,"units":64,"batch":16,)"
    R"("rate_exponent":-7,"seed":3,"epochs":2,"diverged":false,"seconds":12.5,"train_reward":[0.5,0.81235],)"
    R"("test_accuracy_sampled":[0.625,0.9],"test_accuracy_mean":[0.75,1.0]})";

/// As it is written, with Python's zlib.crc32 of the line above; lines without are older.
const std::string checked_line = example_line.substr(0, example_line.size() - 1) + R"(,"crc":"865d65ac"})";

/// The example's line with one part of it replaced.
std::string with(const std::string& part, const std::string& replacement) {
  std::string line = example_line;
  const std::size_t at = line.find(part);
  REQUIRE(at != std::string::npos);
  return line.replace(at, part.size(), replacement);
}

std::string format_refusal(const std::string& what) {
  return "error[result-format]: " + what +
         "\n  help: remove that result and run the experiment again; it is written anew";
}

std::string missing_refusal(const std::string& what) {
  return "error[results-missing]: " + what +
         "\n  help: name the folder, or the .jsonl or .jsonl.gz file, that an experiment wrote";
}

std::string parsing_refusal(const std::string& line) {
  return refusal([&] { parse_result(line, "a.jsonl:7"); });
}

}  // namespace

TEST_CASE("a line has nothing in it that a terminal would obey, and is read as what was written") {
  RunResult result = example();
  result.settings.data = "images\xE2\x80\xAE\x7F";
  const std::string line = to_json_line(result);
  CHECK(line.find("images\\u202e\\u007f") != std::string::npos);
  CHECK(parse_result(line, "here") == result);
}

TEST_CASE("a result is written as one line of JSON and read back unchanged") {
  CHECK(to_json_line(example()) == checked_line);
  CHECK(parse_result(checked_line, "here") == example());
  CHECK(parse_result(checked_line + "\n", "here") == example());
}

TEST_CASE("a line from before there were checksums is read as it is") {
  CHECK(parse_result(example_line, "here") == example());
}

// Every bit of it: many of the changed lines are valid JSON of another result.
TEST_CASE("a line that was changed in one bit is refused") {
  for (std::size_t bit = 0; bit < 8 * checked_line.size(); ++bit) {
    std::string line = checked_line;
    line[bit / 8] = static_cast<char>(line[bit / 8] ^ (1 << (bit % 8)));
    CAPTURE(line);
    CHECK(parsing_refusal(line).starts_with("error[result-format]: a.jsonl:7: "));
  }
}

TEST_CASE("a line whose numbers are not those of its checksum is refused by text") {
  std::string line = checked_line;
  line.replace(line.find("0.625"), 5, "0.675");
  CHECK(parsing_refusal(line) ==
        format_refusal(
            R"(a.jsonl:7: the line is damaged: its "crc" is "865d65ac", but that of what it says is ")"
            R"(f998b434")"));
  for (const std::string crc : {R"("crc":"865d65ac",)", R"("crc":7,)", R"("crc":"",)"})
    CHECK(parsing_refusal(with(R"("seed":3,)", R"("seed":3,)" + crc)) ==
          format_refusal(R"(a.jsonl:7: the key "crc" must be the last, with 8 hexadecimal digits)"));
}

TEST_CASE("the results that come with the documents are read, though they have no checksums") {
  for (const char* name : {"paper", "zero_one", "topologies", "estimators"}) {
    const fs::path file = fs::path(HINDSIGHT_SOURCE_DIR) / "docs/results" / (std::string(name) + ".jsonl.gz");
    CHECK(read_results(file).size() > 50);
  }
}

TEST_CASE("estimators with options and baselines are methods of results too") {
  for (const char* method :
       {"hnca(steps=2,assumption=relaxed)", "reinforce + leave-one-out(samples=8)", "hnca + none"}) {
    RunResult result = example();
    result.settings.method = method;
    CHECK(parse_result(to_json_line(result), "here") == result);
  }
}

TEST_CASE("a diverged result keeps the epochs that it has") {
  RunResult result = example();
  result.diverged = true;
  result.settings.epochs = 100;
  CHECK(parse_result(to_json_line(result), "here") == result);
  result.train_reward = result.test_accuracy_sampled = result.test_accuracy_mean = {};
  CHECK(parse_result(to_json_line(result), "here") == result);
}

TEST_CASE("accuracies are written with five digits and stay so when written again") {
  RunResult result = example();
  result.train_reward = {1.0 / 3, 0.999999};
  result.seconds = 1.23456;
  const std::string line = to_json_line(result);
  CHECK(line.find(R"("train_reward":[0.33333,1.0])") != std::string::npos);
  CHECK(line.find(R"("seconds":1.235)") != std::string::npos);
  CHECK(to_json_line(parse_result(line, "here")) == line);
}

TEST_CASE("texts with quotes, line breaks and accents survive as one line") {
  RunResult result = example();
  result.settings.data = "a \"b\"\n\\ é";
  const std::string line = to_json_line(result);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(parse_result(line, "here") == result);
}

TEST_CASE("a line that is no result is refused by text") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {with(R"("seed":3,)", ""), "the key 'seed' is missing"},
      {with(R"("seed":3,)", R"("seed":3,"sead":3,)"), R"(unknown key "sead")"},
      {with(R"("seed":3,)", R"("seed":3,"seed":4,)"), R"(the key "seed" is given twice)"},
      {with(R"("seed":3)", R"("seed":"3")"), R"('seed' must be a whole number, found "3")"},
      {with(R"("seed":3)", R"("seed":3.0)"), "'seed' must be a whole number, found 3.0"},
      {with(R"("seed":3)", R"("seed":-1)"), "'seed' must be from 0 to 2147483647, found -1"},
      {with(R"("seed":3)", R"("seed":18446744073709551615)"),
       "'seed' must be from 0 to 2147483647, found 18446744073709551615"},
      {with(R"("depth":2)", R"("depth":0)"), "'depth' must be from 1 to 1000, found 0"},
      {with(R"("epochs":2)", R"("epochs":1000000000)"), "'epochs' must be from 1 to 10000, found 1000000000"},
      {with(R"("epochs":2)", R"("epochs":3)"), "'train_reward' must have exactly 3 numbers, found 2"},
      {with("false", "true"), "'train_reward' must have fewer than 2 numbers as the run diverged, found 2"},
      {with("false", "0"), "'diverged' must be true or false, found 0"},
      {with("[0.625,0.9]", "[0.625]"), "'test_accuracy_sampled' must have exactly 2 numbers, found 1"},
      {with("[0.625,0.9]", "[0.625,null]"), "'test_accuracy_sampled' must be a list of numbers, found null"},
      {with("[0.625,0.9]", "0.9"), "'test_accuracy_sampled' must be a list of numbers, found 0.9"},
      {with("0.625", "1.5"), "'test_accuracy_sampled' must be from 0 to 1, found 1.5"},
      {with("0.625", "-0.5"), "'test_accuracy_sampled' must be from 0 to 1, found -0.5"},
      {with("12.5", "-1"), "'seconds' must be from 0 to 1e9, found -1"},
      {with(R"("hnca")", R"("hcna")"),
       R"('method' must be one of "hnca", "reinforce", "backprop-tanh", "backprop-sigmoid", "backprop-relu")"
       R"(, or an estimator by its name, found "hcna")"},
      {with(R"("hnca")", R"("hnca+none")"),
       R"('method' must be written as "hnca + none", found "hnca+none")"},
      {with(R"("hnca")", "\"hnca(assumption=relaxed)\""),
       "'method' must be written as \"hnca\", found \"hnca(assumption=relaxed)\""},
      {with("-1,1", "1,2"), R"('values' must be one of "-1,1", "0,1", found "1,2")"},
      {with(R"("sgd")", R"("")"), "'optimizer' must be 1 to 200 bytes long, found 0"},
      {with("[0.625,0.9]", "[[0.625],0.9]"),
       "expected numbers, texts and lists of numbers, found lists within lists"},
      {"[1,2]", "expected an object of JSON, found [1,2]"},
  };
  for (const auto& [line, message] : cases)
    CHECK(parsing_refusal(line) == format_refusal("a.jsonl:7: " + message));
}

TEST_CASE("a line that is no JSON is refused with the reason") {
  for (const std::string& line :
       {std::string(), std::string("{"), with("0.625", "NaN"), with("0.625", "1e999"), example_line + "x",
        with("mnist", "\xFF"), std::string("\0", 1), example_line.substr(0, 60)})
    CHECK(parsing_refusal(line).starts_with("error[result-format]: a.jsonl:7: expected one line of JSON: "));
}

TEST_CASE("lists nested without end are refused early") {
  CHECK(parsing_refusal(std::string(1'000'000, '[')) ==
        format_refusal("a.jsonl:7: expected numbers, texts and lists of numbers, found lists within lists"));
}

TEST_CASE("what could not be read back is not written") {
  const auto writing_refusal = [](auto change) {
    RunResult result = example();
    change(result);
    return refusal([&] { to_json_line(result); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(writing_refusal([&](RunResult& result) { result.train_reward[0] = nan; }) ==
        format_refusal("a result to be written: 'train_reward' must be from 0 to 1, found nan"));
  CHECK(writing_refusal([&](RunResult& result) { result.seconds = nan; }) ==
        format_refusal("a result to be written: 'seconds' must be from 0 to 1e9, found nan"));
  CHECK(writing_refusal([](RunResult& result) { result.settings.data = "\xFF"; }) ==
        format_refusal("a result to be written: 'data' must be UTF-8"));
  CHECK(writing_refusal([](RunResult& result) {
          result.diverged = true;
          result.train_reward.pop_back();
        }).starts_with("error[result-format]"));
}

TEST_CASE("a folder gives the results of its JSON files in the order of their names") {
  const ResultFolder folder;
  folder.write("b.json", with(R"("seed":3)", R"("seed":2)") + "\n");
  folder.write("a.json", with(R"("seed":3)", R"("seed":1)"));
  folder.write("c.txt", "no result");
  const std::vector<RunResult> results = read_results(folder.path());
  REQUIRE(results.size() == 2);
  CHECK(results[0].settings.seed == 1);
  CHECK(results[1].settings.seed == 2);
}

TEST_CASE("a file in a folder has one line") {
  const ResultFolder folder;
  folder.write("a.json", example_line + "\n" + example_line + "\n");
  const std::string file = (folder.path() / "a.json").string();
  CHECK(refusal([&] { read_results(folder.path()); }) ==
        format_refusal(file + ": expected one line, found 2"));
  folder.write("a.json", "");
  CHECK(refusal([&] { read_results(folder.path()); }) ==
        format_refusal(file + ": expected one line, found 0"));
}

TEST_CASE("a file of lines is read plain or compressed, and a bad line is named") {
  const ResultFolder folder;
  folder.write("a.jsonl", example_line + "\n" + example_line + "\n");
  folder.write_compressed("a.jsonl.gz", example_line + "\n" + example_line);
  CHECK(read_results(folder.path() / "a.jsonl") == std::vector{example(), example()});
  CHECK(read_results(folder.path() / "a.jsonl.gz") == std::vector{example(), example()});

  folder.write_compressed("b.jsonl.gz", example_line + "\n" + with(R"("seed":3,)", "") + "\n");
  CHECK(refusal([&] { read_results(folder.path() / "b.jsonl.gz"); }) ==
        format_refusal((folder.path() / "b.jsonl.gz").string() + ":2: the key 'seed' is missing"));
  folder.write("c.jsonl", example_line + "\n\n" + example_line + "\n");
  CHECK(refusal([&] { read_results(folder.path() / "c.jsonl"); })
            .starts_with("error[result-format]: " + (folder.path() / "c.jsonl").string() +
                         ":2: expected one line"));
}

// As whoever is killed while appending leaves it.
TEST_CASE("a file that ends within a line is refused, and the reason is said") {
  const ResultFolder folder;
  const std::string file = (folder.path() / "a.jsonl").string(), whole = checked_line + "\n" + checked_line;
  for (const std::size_t missing :
       {std::size_t{1}, std::size_t{5}, std::size_t{40}, checked_line.size() - 1}) {
    folder.write("a.jsonl", whole.substr(0, whole.size() - missing));
    const std::string found = refusal([&] { read_results(file); });
    CAPTURE(found);
    // Cut within the checksum, or before it.
    CHECK(found.starts_with("error[result-format]: " + file +
                            (missing < 16 ? ":2: the key \"crc\" must be the last, with 8 hexadecimal digits"
                                          : ":2: expected one line of JSON: ")));
    CHECK(found.find("; the file ends within this line, as if its writer had been stopped\n  help: ") !=
          std::string::npos);
  }
  folder.write("a.jsonl", whole);
  CHECK(read_results(file).size() == 2);
}

TEST_CASE("a compressed file that is cut short or damaged is refused") {
  const ResultFolder folder;
  std::string many;
  for (int i = 0; i < 1000; ++i) many += with(R"("seed":3)", R"("seed":)" + std::to_string(i)) + "\n";
  folder.write_compressed("a.jsonl.gz", many);
  const fs::path file = folder.path() / "a.jsonl.gz";
  fs::resize_file(file, fs::file_size(file) / 2);
  CHECK(refusal([&] { read_results(file); }).find("the file is damaged or cut short: ") != std::string::npos);

  folder.write_compressed("a.jsonl.gz", many);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(200) << "damage";
  CHECK(refusal([&] { read_results(file); }).starts_with("error[result-format]: "));
}

TEST_CASE("a file that unpacks to a line without end is refused before memory runs out") {
  const ResultFolder folder;
  folder.write_compressed("a.jsonl.gz", std::string(5'000'000, ' '));
  CHECK(refusal([&] { read_results(folder.path() / "a.jsonl.gz"); }) ==
        format_refusal((folder.path() / "a.jsonl.gz").string() +
                       ":1: expected at most 1048576 bytes in a line"));
}

TEST_CASE("where there are no results, that is said") {
  const ResultFolder folder;
  const std::string name = folder.path().string();
  const auto reading_refusal = [&](const std::string& file) {
    return refusal([&] { read_results(folder.path() / file); });
  };
  CHECK(refusal([&] { read_results(folder.path()); }) ==
        missing_refusal("'" + name + "' has no file that ends in .json"));
  CHECK(reading_refusal("none.jsonl") == missing_refusal("'" + name + "/none.jsonl' does not exist"));
  folder.write("empty.jsonl", "");
  CHECK(reading_refusal("empty.jsonl") == missing_refusal("'" + name + "/empty.jsonl' has no line"));
  folder.write("a.txt", example_line);
  CHECK(reading_refusal("a.txt") ==
        missing_refusal("'" + name +
                        "/a.txt' is neither a folder nor a file that ends in .jsonl or .jsonl.gz"));
  REQUIRE(mkfifo((folder.path() / "pipe.jsonl").c_str(), 0600) == 0);
  CHECK(reading_refusal("pipe.jsonl") ==
        missing_refusal("'" + name + "/pipe.jsonl' is neither a folder nor a file that can be read"));
}
