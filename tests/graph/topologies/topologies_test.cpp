#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"
#include "support/topology_parts.hpp"

#include <hindsight/core/index.hpp>

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// Every pair of units that an edge joins.
template <class Visit>
void for_each_pair(const Graph& graph, NodeId child, const Graph::Parent& parent, const Visit& visit) {
  for (int to = 0; to < graph.shape(child).units; ++to)
    if (parent.connectivity)
      for (const int from : parent.connectivity->parents_of(to)) visit(from, to);
    else
      for (int from = 0; from < graph.shape(parent.node).units; ++from) visit(from, to);
}

/// Per node and unit, whether a route leads there from the input, or from there to the output.
struct Routes {
  std::vector<std::vector<bool>> from_input, to_output;
  explicit Routes(const Topology& made) {
    const Graph& graph = made.graph;
    for (const NodeId node : graph.nodes())
      from_input.emplace_back(static_cast<std::size_t>(graph.shape(node).units), node == made.input);
    to_output = from_input;
    to_output[internal::index(made.input)].assign(to_output[internal::index(made.input)].size(), false);
    to_output[internal::index(made.output)].assign(to_output[internal::index(made.output)].size(), true);
    const auto spread = [&](NodeId node, auto& reached, bool forward) {
      for (const Graph::Parent& parent : graph.parents(node))
        for_each_pair(graph, node, parent, [&](int from, int to) {
          const auto child = reached[internal::index(node)].begin() + to;
          const auto above = reached[internal::index(parent.node)].begin() + from;
          if (forward && *above) *child = true;
          if (!forward && *child) *above = true;
        });
    };
    for (const NodeId node : graph.nodes()) spread(node, from_input, true);
    for (auto at = graph.nodes().end(); at != graph.nodes().begin();) spread(*--at, to_output, false);
  }
};

bool every_unit_is_useful(const Topology& made) {
  const Routes routes(made);
  const auto all = [](const std::vector<bool>& units) {
    return std::find(units.begin(), units.end(), false) == units.end();
  };
  for (const NodeId node : made.graph.nodes())
    if (node != made.input &&
        (!all(routes.from_input[internal::index(node)]) || !all(routes.to_output[internal::index(node)])))
      return false;
  return true;
}

/// All pairs of the graph: parent, its unit, child, its unit.
std::set<std::vector<int>> wiring(const Graph& graph) {
  std::set<std::vector<int>> all;
  for (const NodeId node : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(node))
      for_each_pair(graph, node, parent, [&](int from, int to) {
        all.insert({parent.node.index, from, node.index, to});
      });
  return all;
}

std::size_t pairs_from(const Graph& graph, NodeId from) {
  const auto all = wiring(graph);
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const auto& pair) { return pair[0] == from.index; }));
}

/// "h1 h2" for the node's parents.
std::string parents_of(const Graph& graph, const std::string& name) {
  std::string names;
  const auto node = graph.find(name);
  REQUIRE(node);
  for (const Graph::Parent& parent : graph.parents(*node))
    names += (names.empty() ? "" : " ") + graph.name(parent.node);
  return names;
}

int readers_of_input(const Topology& made) {
  return static_cast<int>(made.graph.children(made.input).size());
}

/// Small enough for the oracle; each over nine inputs.
const std::vector<std::string> tiny{"layered:units=2,depth=3",
                                    "layered:units=3,depth=2,density=0.4,input_density=0.3",
                                    "skip:units=2,depth=3",
                                    "skip:units=2,depth=4,density=0.6,input_density=0.3",
                                    "random:units=7,parents=2",
                                    "small-world:units=7,neighbours=2,rewire=0.3",
                                    "preferential:units=7,parents=2",
                                    "tree:roots=2,depth=2",
                                    "lattice:maps=1,window=2,stride=1",
                                    "lattice:maps=2,window=2,depth=1,input_density=0.5",
                                    "butterfly:copies=1,width=3",
                                    "towers:towers=3,units=1",
                                    "towers:towers=2,units=2,density=0.5",
                                    "autoregressive:units=2,depth=3",
                                    "autoregressive:units=2,depth=4,density=0.5,input_density=0.2"};

}  // namespace

TEST_CASE(
    "every topology is whole by default: units are joined to input and output, and Reinforce may learn") {
  for (const TopologyDescription& description : topology_list())
    for (const bool repaired : {false, true}) {
      CAPTURE(description.name);
      CAPTURE(repaired);
      Topology made = make_topology(description.name + (repaired ? ":repair" : ""), topology_parts());
      CHECK(made.graph.name(made.input) == "x");
      CHECK(made.graph.name(made.output) == "output");
      CHECK(made.graph.name(made.reward) == "correct");
      for (const NodeId node : made.graph.nodes())
        for (const Graph::Parent& parent : made.graph.parents(node)) CHECK(parent.node < node);
      CHECK(every_unit_is_useful(made));
      CHECK(find_violations(made.graph).empty() == (repaired || !description.violates));
      for (const NodeId node : made.graph.nodes())
        if (node != made.input) made.graph.estimate_with(node, Reinforce{});
      CHECK(validate(made.graph).admissible());
    }
}

TEST_CASE("tiny and sparse topologies are whole too, for many seeds") {
  for (const std::string& specification : tiny)
    for (int seed = 0; seed < 25; ++seed)
      for (const char* repair : {"", ",repair"}) {
        const std::string text = specification + ",seed=" + std::to_string(seed) + repair;
        CAPTURE(text);
        const Topology made = make_topology(text, topology_parts(9));
        CHECK(every_unit_is_useful(made));
        if (*repair) CHECK(find_violations(made.graph).empty());
      }
}

TEST_CASE("HNCA, relaxed, is unbiased on a tiny instance of every topology") {
  int violating = 0;
  std::set<std::string> tried;
  for (const std::string& specification : tiny) {
    CAPTURE(specification);
    Topology made = make_topology(specification, topology_parts(9));
    for (int node = 1; node < made.output.index; ++node)
      made.graph.estimate_with({node}, Hnca{.assumption = Assumption::relaxed});
    violating += !find_violations(made.graph).empty();
    tried.insert(specification.substr(0, specification.find(':')));
    const BasicModel<double> model = random_model<double>(made.graph, 5, 1.0);
    const std::vector<double> inputs{0.5, -1, 0, 0.25, 1, -0.3, 1, -0.75, 0.1};
    const InputValues<double> x{made.input, MatrixView<const double>(inputs.data(), 1, 9)};
    const RewardFunction reward{
        made.reward, [&](const JointOutcome& outcome) { return std::sin(1.7 * outcome(made.output)) + 0.5; }};
    const Enumeration exact = enumerate<double>(model, {&x, 1}, {&reward, 1}, {.variance = false});
    double largest = 0;
    for (std::size_t i = 0; i < exact.gradient.size(); ++i)
      largest = larger_error(largest, std::abs(exact.gradient[i] - exact.estimate[i]));
    CHECK(largest <= 1e-10);
  }
  CHECK(violating >= 5);
  CHECK(tried.size() == topology_list().size());
}

TEST_CASE("one seed gives one graph, another seed another") {
  for (const TopologyDescription& description : topology_list()) {
    std::string thin = description.name + ":input_density=0.5";
    for (const TopologyOption& option : description.options)
      if (option.name == "density") thin += ",density=0.5";
    const auto wired = [&](const std::string& seed) {
      return wiring(make_topology(thin + ",seed=" + seed, topology_parts(16)).graph);
    };
    CAPTURE(thin);
    CHECK(wired("3") == wired("3"));
    CHECK(wired("3") != wired("4"));
    CHECK(wired("3") != wired("18446744073709551615"));
  }
}

// The numbers themselves, so that another platform or another version cannot quietly make other graphs.
//  x ─→ h0 h1;  the rest as drawn
TEST_CASE("what a seed draws is the same everywhere") {
  const Topology made = make_topology(
      "small-world:units=6,neighbours=2,rewire=0.5,input_share=0,output_share=0,seed=7", topology_parts(4));
  std::string text;
  for (const NodeId node : made.graph.nodes())
    if (node != made.input)
      text += made.graph.name(node) + ": " + parents_of(made.graph, made.graph.name(node)) + "\n";
  CHECK(text == "h0: x\nh1: x\nh2: h0 h1\nh3: h0 h2\nh4: h1 h3\nh5: h2 h4\noutput: h5\n");
}

//  x ─→ h1 ─→ h2 ─→ h3 ─→ output
TEST_CASE("layered is the network of the paper") {
  const Topology made = make_topology(topologies::Layered{.units = 5, .depth = 3}, topology_parts(7));
  CHECK(parents_of(made.graph, "h1") == "x");
  CHECK(parents_of(made.graph, "h3") == "h2");
  CHECK(parents_of(made.graph, "output") == "h3");
  CHECK(weight_count(made.graph) == 7 * 5 + 5 + 2 * (5 * 5 + 5) + 3 * 5 + 3);
}

//       ┌──────────↘
//  x ─→ h1 ─→ h2 ─→ h3 ─→ h4 ─→ output      and so on
//  └──────────↗
TEST_CASE("skip reads two layers, and repaired keeps only the input's skip edge") {
  const Topology made = make_topology("skip:units=5", topology_parts(7));
  CHECK(parents_of(made.graph, "h1") == "x");
  CHECK(parents_of(made.graph, "h2") == "h1 x");
  CHECK(parents_of(made.graph, "h3") == "h2 h1");
  CHECK(parents_of(made.graph, "output") == "h3 h4");
  const Topology repaired = make_topology("skip:units=5,repair", topology_parts(7));
  CHECK(parents_of(repaired.graph, "h2") == "h1 x");
  CHECK(parents_of(repaired.graph, "h3") == "h2");
  CHECK(parents_of(repaired.graph, "output") == "h4");
}

//       ┌──────────────────↘
//  x ─→ h1 ─→ h2 ─→ h3 ─→ output      x and all before
TEST_CASE("autoregressive populations read all before them") {
  const Topology made = make_topology("autoregressive:units=5,depth=3", topology_parts(7));
  CHECK(parents_of(made.graph, "h3") == "h1 h2 x");
  CHECK(parents_of(made.graph, "output") == "h1 h2 h3");
  const Topology repaired = make_topology("autoregressive:units=5,depth=3,repair", topology_parts(7));
  CHECK(parents_of(repaired.graph, "h3") == "h2 x");
  CHECK(parents_of(repaired.graph, "output") == "h3");
}

//  x ─→ h1 ─────────────→ output
//  ├──→ h2 ─→ h3 ───────↗
//  └──→ h4 ─→ h5 ─→ h6 ─↗
TEST_CASE("towers are one, two and three layers deep") {
  const Topology made = make_topology("towers:units=5", topology_parts(7));
  CHECK(made.graph.node_count() == 8);
  CHECK(parents_of(made.graph, "h4") == "x");
  CHECK(parents_of(made.graph, "h6") == "h5");
  CHECK(parents_of(made.graph, "output") == "h1 h3 h6");
}

//  x ─→ h0 ─→ h4 ─→ h6 ─→ output
//  ├──→ h1 ─↗       ↗
//  ├──→ h2 ─→ h5 ─↗
//  └──→ h3 ─↗
TEST_CASE("trees converge") {
  const Topology made = make_topology("tree:roots=1,depth=3,input_density=1", topology_parts(7));
  CHECK(made.graph.node_count() == 9);
  CHECK(parents_of(made.graph, "h3") == "x");
  CHECK(parents_of(made.graph, "h5") == "h2 h3");
  CHECK(parents_of(made.graph, "h6") == "h4 h5");
  CHECK(parents_of(made.graph, "output") == "h6");
  CHECK(make_topology("tree:roots=3,depth=3,branching=4", topology_parts()).graph.node_count() == 2 + 3 * 21);
}

//  h0 h1 h2 h3 ─→ h4 … h7 ─→ h8 … h11: distances 1, then 2
TEST_CASE("a butterfly reads two units at distances that double") {
  const Topology made = make_topology("butterfly:copies=1,width=4", topology_parts());
  CHECK(made.graph.node_count() == 2 + 12);
  CHECK(parents_of(made.graph, "h4") == "h0 h1");
  CHECK(parents_of(made.graph, "h7") == "h2 h3");
  CHECK(parents_of(made.graph, "h8") == "h4 h6");
  CHECK(parents_of(made.graph, "h11") == "h5 h7");
  CHECK(parents_of(made.graph, "output") == "h8 h9 h10 h11");
  CHECK(readers_of_input(made) == 4);
  const Topology pair = make_topology("butterfly:copies=2,width=2", topology_parts());
  CHECK(parents_of(pair.graph, "h5") == "h0 h1");
  CHECK(parents_of(pair.graph, "h6") == "h2 h3");
  for (const int width : {2, 3, 5, 64, 65}) {
    const Topology other =
        make_topology(topologies::Butterfly{.copies = 1, .width = width}, topology_parts());
    for (int node = 1 + width; node < other.output.index; ++node)
      CHECK(other.graph.parents({node}).size() == 2);
  }
}

//  x (4 × 6) ─→ h1 (2 maps of 3 × 5, windows of 2 × 2) ─→ h2 (2 maps of 2 × 4) ─→ output
TEST_CASE("lattice units read a window of every map below") {
  const Topology made = make_topology("lattice:width=6,maps=2,window=2,stride=1", topology_parts(24));
  CHECK(made.graph.shape({1}).units == 2 * 3 * 5);
  CHECK(made.graph.shape({2}).units == 2 * 2 * 4);
  const Connectivity& image = *made.graph.parents({1})[0].connectivity;
  const auto read = [](const Connectivity& wired, int unit) {
    return std::vector<int>(wired.parents_of(unit).begin(), wired.parents_of(unit).end());
  };
  CHECK(read(image, 0) == std::vector{0, 1, 6, 7});
  CHECK(read(image, 15 + 6) == std::vector{7, 8, 13, 14});  // second map, second row, second column
  CHECK(read(*made.graph.parents({2})[0].connectivity, 0) == std::vector{0, 1, 5, 6, 15, 16, 20, 21});
}

//  28 ─→ windows of 5 at 0, 2, …, 22 and 23: 13 ─→ 5
TEST_CASE("the last window of a lattice is moved back to the border") {
  const Topology made = make_topology("lattice", topology_parts());
  CHECK(made.graph.shape({1}).units == 4 * 13 * 13);
  CHECK(made.graph.shape({2}).units == 4 * 5 * 5);
  CHECK(made.graph.parents({1})[0].connectivity->parents_of(12).back() == 4 * 28 + 27);
  CHECK(parents_of(made.graph, "output") == "h2");
  // A window as large as the map below reads all of it.
  CHECK_FALSE(make_topology("lattice:window=13", topology_parts()).graph.parents({2})[0].connectivity);
  // A stride beyond the window leaves units between the windows, which the output reads.
  CHECK(parents_of(make_topology("lattice:window=2,stride=3", topology_parts()).graph, "output") == "h1 h2");
}

// Binomial counts; the bounds are 5 standard deviations.
TEST_CASE("densities and shares are as asked") {
  const auto near = [](double found, double count, double probability) {
    return std::abs(found - count * probability) <= 5 * std::sqrt(count * probability * (1 - probability));
  };
  const Topology sparse = make_topology("layered:units=100,density=0.3,input_density=0.1", topology_parts());
  CHECK(near(static_cast<double>(pairs_from(sparse.graph, sparse.input)), 78400, 0.1));
  CHECK(near(static_cast<double>(pairs_from(sparse.graph, {1})), 10000, 0.3));
  const Topology random =
      make_topology("random:units=400,parents=6,input_share=0,output_share=0.5", topology_parts(20));
  double edges = 0;
  for (int node = 1; node < random.output.index; ++node)
    for (const Graph::Parent& parent : random.graph.parents({node})) edges += parent.node != random.input;
  CHECK(near(edges, 400 * 399 / 2, 12.0 / 399));
  CHECK(random.graph.parents(random.output).size() > 200 - 50);
  for (const char* name : {"small-world:neighbours", "preferential:parents"}) {
    const Topology made =
        make_topology(std::string(name) + "=3,units=400,input_share=0.25,output_share=0", topology_parts(20));
    CAPTURE(name);
    CHECK(near(readers_of_input(made) - 3, 397, 0.25));
    for (int node = 4; node < made.output.index; ++node) {
      const auto parents = made.graph.parents({node});
      CHECK(std::count_if(parents.begin(), parents.end(),
                          [&](const auto& p) { return p.node != made.input; }) == 3);
    }
  }
}

TEST_CASE("preferential attachment makes hubs, a small world does not") {
  const auto most_children = [](const char* specification) {
    const Topology made = make_topology(specification, topology_parts(20));
    std::size_t most = 0;
    for (int node = 1; node < made.output.index; ++node)
      most = std::max(most, made.graph.children({node}).size());
    return most;
  };
  CHECK(most_children("preferential:units=1000,parents=4") > 60);
  CHECK(most_children("small-world:units=1000,neighbours=4,rewire=0") < 30);
}

// h1 ─→ h2 ─→ h3 with h1 ─→ h3, all sparse: only the pairs with a route through h2 go.
TEST_CASE("sparse populations are repaired unit by unit") {
  const std::string specification = "autoregressive:units=20,depth=3,density=0.1,seed=2";
  const auto before = wiring(make_topology(specification, topology_parts(9)).graph);
  const Topology repaired = make_topology(specification + ",repair", topology_parts(9));
  const auto after = wiring(repaired.graph);
  CHECK(std::includes(before.begin(), before.end(), after.begin(), after.end()));
  CHECK(parents_of(repaired.graph, "h3") == "h1 h2 x");
  CHECK(after.size() < before.size());
}
