// Graphs that a search per node could not finish in reasonable time. The limits are generous: a slow machine
// and a debug build must pass, an algorithm of the wrong order must not.
#include <algorithm>
#include <chrono>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

using namespace hindsight;

namespace {

constexpr int nodes = 20'000;

/// One-unit nodes, each reading `parents` of the `window` before it.
Graph wired(int count, int parents, int window) {
  std::mt19937 rng(1);
  Graph graph;
  for (int i = 0; i < count; ++i) {
    std::set<NodeId> read;
    while (static_cast<int>(read.size()) < std::min({parents, i, window}))
      read.insert({i - 1 - static_cast<int>(rng() % static_cast<unsigned>(std::min(i, window)))});
    graph.add("n" + std::to_string(i), Bernoulli{}, {read.begin(), read.end()});
  }
  graph.reward("r", {NodeId{count - 1}});
  return graph;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("twenty thousand nodes wired at random are validated in seconds, and the report stays small") {
  const Graph graph = wired(nodes, 10, nodes);
  const auto start = std::chrono::steady_clock::now();
  const Report report = validate(graph);
  CHECK(seconds_since(start) < 20);
  CHECK(report.admissible());
  CHECK_FALSE(report.assumption_1_holds());
  std::size_t violating = 0;
  for (const NodeSummary& node : report.nodes) violating += node.assumption_1 ? 0 : 1;
  CHECK(violating > nodes / 3);
  CHECK(report.count("assumption-1") == violating);

  std::size_t written = 0;
  for (const Diagnostic& diagnostic : report.diagnostics)
    written += diagnostic.code == "assumption-1" ? 1 : 0;
  CHECK(written == shown_per_code);
  CHECK(to_string(report).find("… and " + std::to_string(violating - written) + " more note[assumption-1]") !=
        std::string::npos);
  CHECK(to_string(report).size() < 30'000);
}

TEST_CASE("a hundred thousand nodes wired to their neighbours are validated in seconds") {
  const Graph graph = wired(5 * nodes, 3, 50);
  const auto start = std::chrono::steady_clock::now();
  const Violations violations = find_violations(graph);
  CHECK(seconds_since(start) < 5);
  CHECK(violations.nodes().size() > nodes);
  WitnessSearch search(graph);
  const auto asked = std::chrono::steady_clock::now();
  for (int i = 0; i < 5 * nodes; ++i) CHECK(search.shortest({i}).has_value() == violations.contains({i}));
  CHECK(seconds_since(asked) < 20);
}

TEST_CASE("a large random graph is reduced to one that validates") {
  const Reduction reduction = reduce(wired(5000, 8, 5000));
  CHECK(reduction.removed.size() > 5000);
  CHECK(validate(reduction.graph).assumption_1_holds());
  for (const NodeId node : reduction.graph.nodes())
    CHECK(reduction.graph.parents(node).empty() == (node == NodeId{0}));
}

TEST_CASE("summing out on a line of sixteen thousand nodes is planned in seconds, or refused") {
  Graph graph = wired(16'000, 1, 1);
  for (const NodeId node : graph.nodes()) graph.estimate_with(node, HindsightCredit{});
  const auto start = std::chrono::steady_clock::now();
  const Report report = validate(graph);
  CHECK(seconds_since(start) < 20);
  std::size_t planned = 0, refused = 0;
  for (const CreditVerdict& credit : report.credits) {
    planned += credit.verdict.admissible ? 1 : 0;
    refused += credit.verdict.why.ends_with("planning what to sum out takes too long") ? 1 : 0;
  }
  CHECK(planned > 40);
  CHECK(refused > 15'000);
  CHECK(planned + refused + 1 == report.credits.size());  // the reward reads the last
}

TEST_CASE("summing out on a line of a thousand nodes is planned whole") {
  Graph graph = wired(1'000, 1, 1);
  for (const NodeId node : graph.nodes())
    if (node.index + 1 < graph.node_count()) graph.estimate_with(node, HindsightCredit{});
  CHECK(validate(graph).admissible());
}

// 4 billion pairs of a node and a reward: 2 TB.
TEST_CASE("a report that would not fit into memory is refused as soon as that is known") {
  Graph graph = wired(nodes, 1, 1);
  for (int r = 0; r < 10 * nodes; ++r) graph.reward("r" + std::to_string(r), {NodeId{nodes - 1}});
  const auto start = std::chrono::steady_clock::now();
  const Report report = validate(graph);
  CHECK(seconds_since(start) < 20);
  REQUIRE(report.diagnostics.size() == 1);
  CHECK(report.diagnostics[0].code == "too-large");
  CHECK(
      report.diagnostics[0].message.starts_with("a report on every node and every reward that it leads to"));
}

//  a0 … a29999 ─→ t ─→ b0 … b29999      nine hundred million edges, were t not there
TEST_CASE("deterministic nodes that join too many are refused in seconds") {
  constexpr int side = 30'000;
  Graph graph;
  std::vector<Edge> above;
  for (int i = 0; i < side; ++i) above.emplace_back(graph.add("a" + std::to_string(i), Bernoulli{}, {}));
  const NodeId t = graph.add("t", Tanh{}, above);
  std::vector<NodeId> below;
  for (int i = 0; i < side; ++i) below.push_back(graph.add("b" + std::to_string(i), Bernoulli{}, {t}));
  graph.reward("r", below);
  const auto start = std::chrono::steady_clock::now();
  const Report report = validate(graph);
  CHECK(seconds_since(start) < 20);
  CHECK(to_string(report).find("error[too-large]: node 't': following deterministic nodes from each node to "
                               "the next takes more than "
                               "1e+08 steps; this one alone reads 30000 nodes and is read by 30000\n"
                               "  help: gather nodes that read the same in one node of several units") !=
        std::string::npos);
}

//  a ─→ t0 ─→ t1 ─→ …      every ti is read by a neuron
TEST_CASE("a long chain of deterministic nodes that neurons read is validated in seconds") {
  constexpr int length = 10'000;
  Graph graph;
  NodeId last = graph.add("a", Bernoulli{}, {});
  std::vector<NodeId> read;
  for (int i = 0; i < length; ++i) {
    last = graph.add("t" + std::to_string(i), Tanh{}, {last});
    read.push_back(graph.add("b" + std::to_string(i), Bernoulli{}, {last}));
  }
  graph.reward("r", read);
  const auto start = std::chrono::steady_clock::now();
  CHECK(validate(graph).nodes.size() == 2 * length + 1);
  CHECK(seconds_since(start) < 20);
}
