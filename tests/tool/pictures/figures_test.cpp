#include "tool/figures.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <hindsight/core/report.hpp>

#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using hindsight::testing::refusal;
using hindsight::testing::says;
using hindsight::testing::ScratchFolder;

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Every tag that is opened is closed by the same name, and no bare ampersand is left.
bool is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size(); ++at) {
    if (xml[at] == '&' && xml.find(';', at) > at + 6) return false;
    if (xml[at] != '<') continue;
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" \t\n/", 1));
    at = end;
    if (tag[0] == '?' || tag[0] == '!' || tag.back() == '/') continue;
    if (tag[0] != '/') {
      open.push_back(name);
    } else {
      if (open.empty() || "/" + open.back() != name) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

/// The text of the SVG, once it and the PNG are known to be sound.
std::string drawn(const fs::path& path) {
  const std::string png = contents(path.string() + ".png");
  CHECK(png.starts_with("\x89PNG\r\n\x1A\n"));
  CHECK(png.find("IEND") != std::string::npos);
  std::string svg = contents(path.string() + ".svg");
  CHECK(svg.starts_with("<?xml"));
  CHECK(is_well_formed(svg));
  return svg;
}

/// Marks as high as the axis of rates: the first line of the grid, that of 0.
int points_at_zero(const std::string& svg) {
  std::smatch zero;
  REQUIRE(std::regex_search(svg, zero, std::regex(R"(class="gridline" +d='M[0-9.]+,([0-9.]+) L)")));
  const std::regex point(R"(<use [^>]*translate\([0-9.]+,([0-9.]+)\) scale)");
  int count = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), point), end; at != end; ++at)
    count += (*at)[1] == zero[1] ? 1 : 0;
  return count;
}

RunResult run(const std::string& method, int depth, int exponent, int seed, int epochs) {
  RunResult result{.settings = {.data = "mnist",
                                .method = method,
                                .values = "-1,1",
                                .optimizer = "sgd",
                                .depth = depth,
                                .rate_exponent = exponent,
                                .seed = seed,
                                .epochs = epochs}};
  for (int epoch = 1; epoch <= epochs; ++epoch)
    result.test_accuracy_sampled.push_back(0.9 - 0.01 * std::abs(exponent + 6) - 0.5 / (epoch + seed));
  result.train_reward = result.test_accuracy_mean = result.test_accuracy_sampled;
  return result;
}

const NamedCurve rising = {
    .label = "HNCA", .positions = {1, 2, 3}, .mean = {0.1, 0.5, 0.6}, .half_width = {}};

}  // namespace

TEST_CASE("a learning curve is drawn with its title and three labels") {
  const ScratchFolder folder;
  draw_learning_curve({.title = "HNCA, seed 1",
                       .train_reward = {0.5, 0.8, 0.9},
                       .test_accuracy_sampled = {0.6, 0.8, 0.85},
                       .test_accuracy_mean = {0.6, 0.85, 0.9}},
                      folder.path() / "curve");
  const std::string svg = drawn(folder.path() / "curve");
  for (const std::string text : {"HNCA, seed 1", "reward in training", "test accuracy, outcomes drawn",
                                 "test accuracy, likeliest class", ">epoch<", "right answers (%)"})
    CHECK_MESSAGE(says(svg, text), text);
}

TEST_CASE("a learning curve of one epoch leaves out what it has not") {
  const ScratchFolder folder;
  draw_learning_curve({.title = "short", .train_reward = {0.5}}, folder.path() / "curve");
  const std::string svg = drawn(folder.path() / "curve");
  CHECK(says(svg, "reward in training"));
  CHECK_FALSE(says(svg, "outcomes drawn"));
}

TEST_CASE("curves are compared in one panel, in the colours of the paper") {
  const ScratchFolder folder;
  NamedCurve banded = rising;
  banded.label = "REINFORCE";
  banded.half_width = {0.1, 0.1, 0.1};
  compare_curves({rising, banded}, {.title = "Two graphs", .y_label = "reward", .x_label = "step"},
                 folder.path() / "new" / "folder" / "figure.2");
  const std::string svg = drawn(folder.path() / "new" / "folder" / "figure.2");
  for (const std::string text : {">Two graphs<", ">reward<", ">step<", ">HNCA<", ">REINFORCE<",
                                 "rgb( 44, 160,  44)", "rgb(214,  39,  40)"})
    CHECK_MESSAGE(says(svg, text), text);
}

TEST_CASE("the paper's figure has a column for each depth and a legend for each method") {
  const ScratchFolder folder;
  std::vector<RunResult> results;
  for (const char* method : {"hnca", "reinforce", "backprop-tanh", "backprop-relu"})
    for (int depth = 1; depth <= 3; ++depth)
      for (int exponent = -8; exponent <= -4; ++exponent)
        for (int seed = 1; seed <= (exponent == -7 ? 2 : 3); ++seed)
          results.push_back(run(method, depth, exponent, seed, exponent == -6 ? 10 : 4));
  draw_paper_figure(results, folder.path() / "paper");
  const std::string svg = drawn(folder.path() / "paper");
  for (const std::string text :
       {">1 hidden layer<", ">2 hidden layers<", ">3 hidden layers<", ">HNCA<", ">REINFORCE<",
        ">backprop, tanh<", ">backprop, ReLU<", ">learning rate<", ">epoch<", ">best rate<",
        "test accuracy at epoch 4 (%)", "rgb( 44, 160,  44)", "rgb(214,  39,  40)", "rgb( 31, 119, 180)",
        "rgb(255, 127,  14)"})
    CHECK_MESSAGE(says(svg, text), text);
  CHECK_FALSE(says(svg, "sigmoid"));
}

TEST_CASE("panels of one topology show the options in which they differ, as they are written") {
  const ScratchFolder folder;
  std::vector<RunResult> results;
  for (const char* topology :
       {"layered:units=9", "random:units=9,input_share=0.2", "random:units=9,input_share=0.5,it's{a}^\\&"}) {
    results.push_back(run("hnca", 1, -6, 1, 1));
    results.back().settings.topology = topology;
  }
  draw_paper_figure(results, folder.path() / "paper");
  const std::string svg = drawn(folder.path() / "paper");
  for (const std::string text :
       {">layered<", ">random:input_share=0.2<", ">random:input_share=0.5,it's{a}^\\&amp;<"})
    CHECK_MESSAGE(says(svg, text), text);
}

TEST_CASE("missing methods and depths are left out of the paper's figure, and sigmoid takes the blue") {
  const ScratchFolder folder;
  draw_paper_figure({run("backprop-sigmoid", 3, -6, 1, 1), run("hnca", 2, -6, 1, 1)},
                    folder.path() / "paper");
  const std::string svg = drawn(folder.path() / "paper");
  CHECK(says(svg, ">backprop, sigmoid<"));
  CHECK(says(svg, "rgb( 31, 119, 180)"));
  CHECK(says(svg, ">3 hidden layers<"));
  for (const std::string text : {"REINFORCE", "tanh", "1 hidden layer<", "rgb(148, 103, 189)"})
    CHECK_MESSAGE(!says(svg, text), text);
}

TEST_CASE("up to ten methods share a figure, each in a colour of its own") {
  const ScratchFolder folder;
  std::vector<RunResult> results;
  for (const char* method :
       {"hnca", "reinforce", "hnca(steps=2,assumption=relaxed)", "hindsight-credit",
        "reinforce + running-mean", "straight-through", "it's {a}_^\\& method", "h", "i"})
    results.push_back(run(method, 1, -6, 1, 2));
  draw_paper_figure(results, folder.path() / "paper");
  const std::string svg = drawn(folder.path() / "paper");
  for (const std::string text :
       {">HNCA<", ">hnca(steps=2,assumption=relaxed)<", ">reinforce + running-mean<",
        ">it's {a}_^\\&amp; method<", "rgb( 44, 160,  44)", "rgb(227, 119, 194)", "rgb(188, 189,  34)"})
    CHECK_MESSAGE(says(svg, text), text);
  CHECK_FALSE(says(svg, "rgb( 23, 190, 207)"));
  for (const char* method : {"j", "k"}) results.push_back(run(method, 1, -6, 1, 2));
  CHECK(refusal([&] { draw_paper_figure(results, folder.path() / "paper"); }) ==
        "error[figure-data]: the figure has 1 to 10 methods, found 11\n"
        "  help: draw the results of fewer methods at a time, or a table: hindsight plot --by-network");
}

TEST_CASE("a rate at which every seed diverged is drawn as 0") {
  const ScratchFolder folder;
  std::vector<RunResult> results;
  for (int seed = 1; seed <= 3; ++seed) results.push_back(run("hnca", 1, -2, seed, 5));
  draw_paper_figure(results, folder.path() / "paper");
  CHECK(points_at_zero(drawn(folder.path() / "paper")) == 0);

  for (RunResult& result : results) {
    result.diverged = true;
    for (auto list :
         {&RunResult::train_reward, &RunResult::test_accuracy_sampled, &RunResult::test_accuracy_mean})
      (result.*list).clear();
  }
  draw_paper_figure(results, folder.path() / "paper");
  CHECK(points_at_zero(drawn(folder.path() / "paper")) == 1);
}

TEST_CASE("hostile labels do no harm and come out as they are") {
  const ScratchFolder folder;
  const std::string marker = (folder.path() / "harm").string();
  NamedCurve hostile = rising;
  hostile.label = "it's \"a_b\" \\n @c ^{2} & < $0 %d # é";
  compare_curves({hostile},
                 {.title = "x'\nset output '" + marker + "'\n",
                  .y_label = "`touch " + marker + "`",
                  .x_label = "'; system('touch " + marker + "') #"},
                 folder.path() / "it's $(harm) \"a\nb");
  CHECK_FALSE(fs::exists(marker));
  const std::string svg = drawn(folder.path() / "it's $(harm) \"a\nb");
  CHECK(says(svg, ">it's \"a_b\" \\n @c ^{2} &amp; &lt; $0 %d # é<"));
  CHECK(says(svg, ">x' set output '"));
  CHECK(says(svg, ">`touch "));
  CHECK(says(svg, ">'; system('touch "));
}

TEST_CASE("labels that are no text, or without end, still give a figure") {
  const ScratchFolder folder;
  NamedCurve hostile = rising;
  const std::string controls = {'\0', '\x01', '\x1B', '\x7F', '\t'};
  for (const std::string& label :
       {std::string("\xFF\xC3(\xED\xA0\x80"), controls, std::string("\xEF\xBF\xBF"),
        std::string(100'000, 'x'), std::string(99, 'x') + "€€", std::string()}) {
    hostile.label = label;
    compare_curves({hostile}, {.title = label, .y_label = label}, folder.path() / "figure");
    drawn(folder.path() / "figure");
  }
}

TEST_CASE("figures of nothing, of too much or of numbers that are none are refused") {
  const std::string path = "/nowhere";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal([&] { draw_learning_curve({}, path); }) ==
        "error[figure-data]: a figure has 1 to 12 curves, found 0\n  help: draw several figures");
  CHECK(refusal([&] { compare_curves(std::vector(13, rising), {}, path); }) ==
        "error[figure-data]: a figure has 1 to 12 curves, found 13\n  help: draw several figures");
  for (const NamedCurve& curve :
       {NamedCurve{.label = "a"}, NamedCurve{.label = "a", .positions = {1, 2}, .mean = {1}},
        NamedCurve{.label = "a", .positions = {1, 2}, .mean = {1, 2}, .half_width = {1}},
        NamedCurve{.label = "a", .positions = {1}, .mean = {nan}},
        NamedCurve{.label = "a", .positions = {1}, .mean = {1e308}, .half_width = {1e308}}})
    CHECK(refusal([&] {
            compare_curves({curve}, {}, path);
          }).starts_with("error[figure-data]: curve 'a' has "));
  const NamedCurve zero{.label = "a", .positions = {1}, .mean = {0}};
  CHECK(refusal([&] {
          compare_curves({zero}, {.logarithmic = true}, path);
        }).starts_with("error[figure-data]: curve 'a' has "));
  CHECK(refusal([&] {
          draw_paper_figure({}, path);
        }).starts_with("error[figure-data]: the figure has 1 to 6 networks, found 0\n"));
  std::vector<RunResult> deep;
  for (int depth = 1; depth <= 7; ++depth) deep.push_back(run("hnca", depth, -6, 1, 1));
  CHECK(refusal([&] {
          draw_paper_figure(deep, path);
        }).starts_with("error[figure-data]: the figure has 1 to 6 networks, found 7\n"));
}

// Whoever has the old files open or under other names keeps all of them; no reader sees half a figure.
TEST_CASE("a figure is replaced whole, and links to it stay") {
  const ScratchFolder folder;
  fs::create_directory(folder.path() / "kept");
  for (const std::string ending : {".svg", ".png"}) {
    std::ofstream(folder.path() / ("kept/old" + ending)) << "old";
    fs::create_hard_link(folder.path() / ("kept/old" + ending), folder.path() / ("kept/figure" + ending));
    fs::create_symlink("kept/figure" + ending, folder.path() / ("figure" + ending));
  }
  compare_curves({rising}, {}, folder.path() / "figure");
  drawn(folder.path() / "figure");
  for (const std::string ending : {".svg", ".png"}) {
    CHECK(contents(folder.path() / ("kept/old" + ending)) == "old");
    CHECK(fs::is_symlink(folder.path() / ("figure" + ending)));
  }
}

TEST_CASE("a figure that cannot be written is refused by name") {
  const ScratchFolder folder;
  fs::create_directory(folder.path() / "figure.svg");
  CHECK(refusal([&] { compare_curves({rising}, {}, folder.path() / "figure"); })
            .starts_with("error[file-not-written]: '" + (folder.path() / "figure.svg").string() +
                         "' was not written: expected the name of a regular file, found a directory\n"));
  std::ofstream(folder.path() / "file") << "x";
  CHECK(refusal([&] { compare_curves({rising}, {}, folder.path() / "file" / "figure"); })
            .starts_with("error[file-not-written]: '" + (folder.path() / "file" / "figure.svg").string() +
                         "' was not written: "));
}

/// What is refused where PATH is another, tried in a child so that our own stays.
std::string refusal_with_path(const std::string& search_path, const fs::path& folder) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv("PATH", search_path.c_str(), 1);
    const std::string text = refusal([&] { compare_curves({rising}, {}, folder / "figure"); });
    const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::array<char, 4096> buffer{};
  std::string text;
  for (ssize_t count = 0; (count = read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  return text;
}

TEST_CASE("where gnuplot is missing the figure is refused and nothing is written") {
  const ScratchFolder folder;
  CHECK(refusal_with_path(folder.path().string(), folder.path()) ==
        "error[gnuplot]: gnuplot could not draw the figure: it cannot be started: No such file or directory\n"
        "  help: apt-get install gnuplot-nox   # if it is missing");
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("where a signal ends gnuplot the figure is refused with its name") {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "gnuplot") << "#!/bin/sh\nkill -XFSZ $$\n";
  fs::permissions(folder.path() / "gnuplot", fs::perms::owner_all);
  CHECK(refusal_with_path(folder.path().string() + ":/bin", folder.path()) ==
        "error[gnuplot]: gnuplot could not draw the figure: it was ended by a signal: File size limit "
        "exceeded\n"
        "  help: apt-get install gnuplot-nox   # if it is missing");
}

TEST_CASE("where gnuplot fails the figure is refused with what it said") {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "gnuplot") << "#!/bin/sh\necho unknown terminal >&2\nexit 3\n";
  fs::permissions(folder.path() / "gnuplot", fs::perms::owner_all);
  CHECK(refusal_with_path(folder.path().string(), folder.path()) ==
        "error[gnuplot]: gnuplot could not draw the figure: it said: unknown terminal \n"
        "  help: apt-get install gnuplot-nox   # if it is missing");
}
