#include "tool/microscope_report.hpp"

#include <chrono>
#include <fstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/share.hpp"
#include "support/tool_process.hpp"
#include "tool/bandit.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using namespace hindsight::testing;

namespace {

/// `levels` nodes in a chain, one weight each, and two contenders of which the second halves the variance.
Comparison chain_of(int levels) {
  Comparison comparison;
  comparison.rows.resize(2);
  for (int i = 0; i < levels; ++i) {
    comparison.nodes.push_back({.id = {i + 1},
                                .name = "n" + std::to_string(i),
                                .level = i + 1,
                                .parameters = {static_cast<std::size_t>(i), 1},
                                .prior_doubt = 0.5});
    comparison.blocks.push_back(
        {"n" + std::to_string(i) + "/bias", static_cast<std::size_t>(i), {static_cast<std::size_t>(i), 1}});
    comparison.reference.push_back(1);
  }
  double variance = 4;
  for (Comparison::Row& row : comparison.rows) {
    row.contender = {Reinforce{}};
    row.seconds_per_sample = 1e-6;
    for (int i = 0; i < levels; ++i) {
      row.nodes.push_back({.applies = true, .z = 0.5, .variance = variance});
      row.block_variances.push_back(variance);
      row.mean.push_back(1);
    }
    variance /= 2;
  }
  return comparison;
}

const std::vector<std::string> two_names{"first", "second"};

/// `a` violates Assumption 1.
constexpr auto violating =
    "digraph { x [kind=input units=2]; a [kind=bernoulli units=2]; b [kind=bernoulli]; c [kind=categorical "
    "classes=3]; "
    "r [kind=reward]; x -> a; a -> b; a -> c; b -> c; c -> r; }\n";

Ended microscope(const ScratchFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "microscope");
  return Process(arguments, folder / "log").wait();
}

}  // namespace

TEST_CASE("a comparison in tables: contenders, nodes, blocks, and what did not take part") {
  Comparison comparison = chain_of(2);
  comparison.rows[1].seconds_per_sample = 3e-6;
  comparison.rows[1].nodes[0].unbiased = false;
  comparison.rows[1].nodes[0].z = 7;
  comparison.rows[1].nodes[0].bias = 0.25;
  comparison.rows[1].nodes[1].applies = false;
  comparison.rows[0].nodes[0].doubt = 0.125;
  comparison.rows.push_back({.contender = {Reinforce{}}, .refusal = "too dear"});
  const std::vector<std::string> names{"first", "second", "third"};
  CHECK(to_tables(comparison, names, "a chain", true) ==
        "a chain\n"
        "compared with the mean of a long run, known to 0 of its length\n\n"
        "| estimator | µs per sample | variance | variance × time | remarks |\n"
        "|---|---:|---:|---:|---|\n"
        "| first | 1 | 8 | 8 |  |\n"
        "| second | 3 | 4 | 12 | biased at 1 of 2 nodes, bias seen at 1, not admissible at 1 |\n"
        "| third | – | – | – | too dear |\n\n"
        "| where | weights | estimator | variance | of the first | × time | bias | z | doubt |\n"
        "|---|---:|---|---:|---:|---:|---:|---:|---:|\n"
        "| n0 | 1 | first | 4 | 1 | 4 | not seen | 0.5 | 0.12 of 0.5 |\n"
        "| n0 | 1 | second (biased) | 2 | 0.5 | 6 | 0.25 | 7.0 |  |\n"
        "| n1 | 1 | first | 4 | 1 | 4 | not seen | 0.5 |  |\n\n"
        "| block | weights | first | second |\n"
        "|---|---:|---:|---:|\n"
        "| n0/bias | 1 | 4 | 2 |\n"
        "| n1/bias | 1 | 4 | 2 |\n");
}

TEST_CASE("many nodes are gathered into bands of levels, the last alone, and nothing is lost") {
  const std::vector<Line> lines = summarise(chain_of(20), 8);
  REQUIRE(lines.size() == 16);
  std::size_t weights = 0;
  double first = 0, second = 0;
  for (const Line& line : lines) {
    weights += line.weights;
    (line.row == 0 ? first : second) += line.variance;
    CHECK(line.of_first == (line.row == 0 ? 1 : 0.5));
  }
  CHECK(weights == 40);
  CHECK(first == 80);
  CHECK(second == 40);
  CHECK(lines.front().place == "levels 1 … 2");
  CHECK(lines.back().place == "level 20");
  CHECK(lines.back().weights == 1);
}

TEST_CASE("gradients that do not scatter have no ratios and no figure") {
  Comparison comparison = chain_of(1);
  for (Comparison::Row& row : comparison.rows) row.nodes[0].variance = 0;
  comparison.reference[0] = 0;
  const std::string text = to_tables(comparison, two_names, "nothing", false);
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("a long run, which is 0") != std::string::npos);
  CHECK_THROWS_AS(draw_variances(comparison, two_names, "/nowhere"), Error);
}

TEST_CASE("the best single contender is unbiased, and was seen to be") {
  Comparison comparison = chain_of(2);
  CHECK(best_single(comparison) == 1);
  comparison.rows[1].nodes[1].z = -6;
  CHECK(best_single(comparison) == 0);
  comparison.rows[1].nodes[1].exact_bias = 0;  // says more than any z
  CHECK(best_single(comparison) == 1);
  comparison.rows[1].nodes[1].exact_bias = 0.1;
  comparison.rows[0].nodes[0].unbiased = false;
  CHECK_FALSE(best_single(comparison));
}

TEST_CASE("a bandit has targets for all that rewards read, and the oracle can ask it") {
  const Graph graph = parse_graph(violating, GraphFormat::dot);
  const Bandit bandit(graph, 4, 1);
  CHECK(bandit.inputs().size() == 1);
  CHECK(bandit.inputs()[0].values.rows() == 4);
  const Model model = compile(graph);
  const Enumeration exact = enumerate(model, bandit.inputs(), bandit.rewards());
  CHECK(exact.states == 4 * 2 * 2 * 2 * 3);
  CHECK(exact.rewards[0] > 0);
  CHECK(exact.rewards[0] < 1);

  Graph only_input;
  const NodeId x = only_input.input("x", 1);
  only_input.add("a", Bernoulli{}, {x});
  only_input.reward("r", {x});
  CHECK_THROWS_AS(Bandit(only_input, 4, 1), Error);
}

TEST_CASE("the microscope of the tool: tables, numbers, a figure, and advice that compiles") {
  const ScratchFolder folder;
  std::ofstream(folder / "net.dot") << violating;
  const Ended tables = microscope(folder, {folder / "net.dot", "--blocks", "--gradients", "100"});
  CAPTURE(tables.said);
  REQUIRE(tables.code == 0);
  CHECK(tables.said.find("compared with the exact gradient, over 192 states") != std::string::npos);
  CHECK(tables.said.find("| a/weights/x | 4 |") != std::string::npos);

  const Ended numbers = microscope(
      folder,
      {folder / "net.dot", "--json", "--gradients", "100", "--estimators",
       "reinforce; hnca; hnca(steps=2, assumption=relaxed) + leave-one-out(samples=2); straight-through",
       "--figure", folder / "figure", "--advise", folder / "advised.dot"});
  CAPTURE(numbers.said);
  REQUIRE(numbers.code == 0);
  const auto json = nlohmann::json::parse(numbers.said.substr(0, numbers.said.find('\n')));
  CHECK(json["states"] == 192);  // 8 rows
  CHECK(json["contenders"].size() == 4);
  CHECK(json["contenders"][2]["samples_per_row"] == 2);
  CHECK(json["contenders"][3]["nodes"][0]["unbiased"] == false);
  CHECK(json["contenders"][1]["nodes"][0]["exact_bias"].get<double>() < 1e-6);
  CHECK(json["contenders"][1]["nodes"][0]["block_variances"].size() == 2);
  CHECK(json["contenders"][1]["nodes"][0]["mean"].size() == 6);
  CHECK(content(folder / "figure.svg").find("straight-through") != std::string::npos);
  const Graph advised = read_graph(folder / "advised.dot");
  CHECK(validate(advised).admissible());
  for (const NodeId node : advised.nodes())
    if (!advised.is_input(node)) CHECK(advised.choice(node).chosen().value().name() != "straight-through");
}

TEST_CASE("advice of the tool is the better of the mix and the best single estimator") {
  const ScratchFolder folder;
  std::ofstream(folder / "net.dot")
      << "digraph { x [kind=input units=2]; a [kind=bernoulli units=8]; b [kind=bernoulli "
         "units=8]; c [kind=categorical classes=4]; r [kind=reward]; x -> a -> b -> c -> r; }\n";
  // A baseline helps c, which HNCA cannot credit, and costs next to nothing.
  const Ended ended =
      microscope(folder, {folder / "net.dot", "--estimators", "hnca; reinforce + running-mean",
                          "--most-states", "0", "--advise", folder / "advised.dot"});
  CAPTURE(ended.said);
  REQUIRE(ended.code == 0);
  const Graph advised = read_graph(folder / "advised.dot");
  CHECK(advised.choice({1}).chosen().value().name() == "hnca(assumption=relaxed)");
  CHECK(ended.said.find("of that of hnca at every node") != std::string::npos);
  const bool mixed = ended.said.find("therefore written instead") == std::string::npos;
  CHECK(advised.baseline_of({3}, {0}).chosen().has_value() == mixed);

  // Nobody is unbiased, and the graph's own choice is refused.
  std::ofstream(folder / "bad.dot") << "digraph { x [kind=input units=2]; a [kind=bernoulli estimator=hnca]; "
                                       "b [kind=bernoulli]; c [kind=bernoulli]; "
                                       "r [kind=reward]; x -> a; a -> b; a -> c; b -> c; c -> r; }\n";
  const Ended refused = microscope(folder, {folder / "bad.dot", "--estimators", "straight-through",
                                            "--advise", folder / "bad_advice.dot"});
  CHECK(refused.code == 2);
  CHECK(refused.said.find("error[no-advice]") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "bad_advice.dot"));
}

TEST_CASE("the microscope looks at a run where it stands") {
  const ScratchFolder folder;
  REQUIRE(Process({"train", "--hidden", "4,3", "--epochs", "1", "--out", folder / "run"}, folder / "log")
              .wait()
              .code == 0);
  const Ended ended = microscope(folder, {"--run", folder / "run", "--gradients", "20"});
  CAPTURE(ended.said);
  CHECK(ended.code == 0);
  CHECK(ended.said.find("after 1 epoch\n") != std::string::npos);
  CHECK(ended.said.find("| h1 | 3140 | hnca |") != std::string::npos);
}

TEST_CASE("what the microscope of the tool is not told, or told wrongly, it refuses") {
  const ScratchFolder folder;
  std::ofstream(folder / "net.dot") << violating;
  const auto said = [&](const std::vector<std::string>& arguments) {
    const Ended ended = microscope(folder, arguments);
    CHECK(ended.code == 2);
    return ended.said;
  };
  CHECK(said({}).find("error[option]: no graph is given") == 0);
  CHECK(said({folder / "missing.dot"}).find("missing.dot") != std::string::npos);
  CHECK(said({folder / "net.dot", "--estimators", "hncaa"}).find("did you mean") != std::string::npos);
  CHECK(said({folder / "net.dot", "--epochs", "1"}).find("--epochs means nothing beside a bandit") !=
        std::string::npos);
  CHECK(said({folder / "net.dot", "--data", "sample"}).find("graph-cannot-classify") != std::string::npos);
  CHECK(said({folder / "net.dot", "--run", folder / "nowhere"}).find("--run") != std::string::npos);
  CHECK(said({"--run", folder / "nowhere"}).find("nowhere") != std::string::npos);
  CHECK(said({folder / "net.dot", "--gradients", "10", "--advise", "/proc/advised.dot"}).find("/proc") !=
        std::string::npos);
}

TEST_CASE("a line of four thousand nodes is compared in seconds: fewer gradients, and not by everyone") {
  const ScratchFolder folder;
  const int nodes = share(4000);
  std::string text = "x n0\n";
  for (int i = 1; i < nodes; ++i) text += "n" + std::to_string(i - 1) + " n" + std::to_string(i) + "\n";
  std::ofstream(folder / "line.edges") << text;
  const auto start = std::chrono::steady_clock::now();
  const Ended ended =
      microscope(folder, {folder / "line.edges", "--most-operations", std::to_string(500'000 * nodes),
                          "--estimators", "hnca; hindsight-credit"});
  CAPTURE(ended.said);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::minutes(1));
  CHECK(ended.code == 0);
  CHECK(ended.said.find(" gradients of each estimator: more would take more than --most-operations\n") !=
        std::string::npos);
  CHECK(ended.said.find("| hindsight-credit | – | – | – | summing units out takes ") != std::string::npos);
}

TEST_CASE("layers of ten million units are not looked at before it is known what that takes") {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& layers, const std::vector<std::string>& options) {
    std::ofstream(folder / "net.dot")
        << "digraph { x [kind=input]; y [kind=bernoulli]; r [kind=reward]; " + layers + " }";
    std::vector<std::string> arguments{folder / "net.dot", "--estimators", "reinforce"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto start = std::chrono::steady_clock::now();
    const Ended ended = microscope(folder, arguments);
    CAPTURE(ended.said);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::minutes(1));
    CHECK(ended.code == 2);
    return ended.said.substr(0, ended.said.find(']') + 1);
  };
  CHECK(refused("a [kind=bernoulli units=" + std::to_string(share(10'000'000)) + "]; x -> a -> y -> r",
                {"--batch", "65536"}) == "error[too-large]");
  CHECK(refused("a [kind=bernoulli units=1000000]; x -> a -> y -> r", {}) == "error[microscope-operations]");
  CHECK(refused("z [kind=input units=10000000]; x -> y -> r; z -> y", {"--rows", "1000000"}) ==
        "error[too-large]");
}
