#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/refusal.hpp"
#include "support/topology_parts.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

std::string refusal_of(const std::string& specification, int inputs = 784) {
  return refusal([&] { make_topology(specification, topology_parts(inputs)); });
}

/// How much memory this machine has is not the test's concern.
std::string anywhere(const std::string& text) {
  return std::regex_replace(text, std::regex("this machine has [^\n]*"), "this machine has M");
}

/// A section's table of options, as the document has it.
std::string table(const TopologyDescription& description) {
  std::string text = "| option | default | range | meaning |\n|---|---|---|---|\n";
  for (const TopologyOption& option : description.options)
    text += fmt::format("| `{}` | {} | {} | {} |\n", option.name, option.default_value, option.range,
                        option.meaning);
  return text;
}

/// A topology's row in the document's overview.
std::string overview(const std::string& name) {
  const Topology made = make_topology(name, topology_parts(784, 10));
  const Topology repaired = make_topology(name + ":repair", topology_parts(784, 10));
  const Graph& graph = made.graph;
  const auto thousands = [](std::size_t weights) {
    return fmt::format("{},{:03}", weights / 1000, weights % 1000);
  };
  const Violations violations = find_violations(graph);
  return fmt::format("| [{0}](#{0}) | {1} | {2} | {3} | {4} | {5} | {6} |\n", name,
                     graph.name(NodeId{1}) == "h0" ? "yes" : "no", graph.unit_count() - 784 - 1,
                     levels(graph).back(), thousands(weight_count(graph)), violations.nodes().size(),
                     thousands(weight_count(repaired.graph)));
}

}  // namespace

TEST_CASE("a topology that does not exist is refused with the nearest name") {
  CHECK(refusal_of("smal-word:units=3") ==
        R"(error[topology-name]: there is no topology 'smal-word'
  help: did you mean 'small-world'?
  help: one of: layered, skip, random, small-world, preferential, tree, lattice, butterfly, towers, autoregressive)");
  CHECK(refusal_of("xyzzy") ==
        R"(error[topology-name]: there is no topology 'xyzzy'
  help: one of: layered, skip, random, small-world, preferential, tree, lattice, butterfly, towers, autoregressive)");
  CHECK(refusal_of("").starts_with("error[topology-name]: there is no topology ''\n"));
  CHECK(refusal_of(std::string(100000, 'a')).starts_with("error[topology-name]: there is no topology 'aaa"));
}

TEST_CASE("options that do not exist, have no value or come twice are refused") {
  CHECK(refusal_of("small-world:neighbors=4") ==
        R"(error[topology-option]: topology 'small-world' has no option 'neighbors'
  help: did you mean 'neighbours'?
  help: one of: units, neighbours, rewire, input_share, output_share, input_density, seed, repair)");
  CHECK(refusal_of("layered:colour=red") ==
        R"(error[topology-option]: topology 'layered' has no option 'colour'
  help: one of: units, depth, density, input_density, seed, repair)");
  CHECK(refusal_of("layered:units") ==
        R"(error[topology-option]: option 'units' of topology 'layered' has no value
  help: layered:units=64   # the default)");
  CHECK(refusal_of("layered:units=3,units=4") ==
        R"(error[topology-option]: option 'units' of topology 'layered' is given twice
  help: give each option once)");
  CHECK(refusal_of("layered:").starts_with("error[topology-option]: topology 'layered' has no option ''\n"));
  CHECK(
      refusal_of("layered:units=3,").starts_with("error[topology-option]: topology 'layered' has no option"));
}

TEST_CASE("values out of range are refused with the range, from a text and from the options") {
  CHECK(
      refusal_of("layered:units=1000000000") ==
      R"(error[topology-value]: option 'units' of topology 'layered' is '1000000000'; it must be a whole number from 1 to 1000000
  help: layered:units=64   # the default)");
  CHECK(
      refusal_of("layered:density=0") ==
      R"(error[topology-value]: option 'density' of topology 'layered' is '0'; it must be a number from 0.0001 to 1
  help: layered:density=1   # the default)");
  CHECK(refusal_of("layered:repair=maybe") ==
        R"(error[topology-value]: option 'repair' of topology 'layered' is 'maybe'; it must be true or false
  help: layered:repair=false   # the default)");
  CHECK(
      refusal_of("layered:seed=-1") ==
      R"(error[topology-value]: option 'seed' of topology 'layered' is '-1'; it must be a whole number from 0 to 18446744073709551615
  help: layered:seed=1   # the default)");
  for (const char* value : {"", "3.5", "3x", " 3", "-3", "0", "99999999999999999999", "nan"})
    CHECK(refusal_of(fmt::format("layered:units={}", value)).starts_with("error[topology-value]: "));
  for (const char* value : {"", "nan", "inf", "-0.1", "1.1", "1e999", "half"})
    CHECK(refusal_of(fmt::format("small-world:rewire={}", value)).starts_with("error[topology-value]: "));
  CHECK(
      refusal([&] { make_topology(topologies::SmallWorld{.rewire = std::nan("")}, topology_parts()); }) ==
      R"(error[topology-value]: option 'rewire' of topology 'small-world' is 'nan'; it must be a number from 0 to 1
  help: small-world:rewire=0.1   # the default)");
  CHECK(
      refusal([&] { make_topology(topologies::Tree{.roots = -4}, topology_parts()); }) ==
      R"(error[topology-value]: option 'roots' of topology 'tree' is '-4'; it must be a whole number from 1 to 1000000
  help: tree:roots=32   # the default)");
}

TEST_CASE("a size that is absurd is refused before anything is made") {
  CHECK(
      refusal_of("layered:units=1000000,depth=10000,density=0.0001") ==
      R"(error[topology-size]: topology 'layered:units=1000000,depth=10000,density=0.0001' would have 1e+10 units; 2147483647 is the most
  help: make it smaller)");
  CHECK(
      refusal_of("random:units=1000000") ==
      R"(error[topology-size]: topology 'random:units=1000000' would draw for 5e+11 pairs of units one by one; 1.72e+10 is the most
  help: make it smaller)");
  CHECK(
      anywhere(refusal_of("layered:units=1000000,depth=1000")) ==
      R"(error[too-large]: topology 'layered:units=1000000,depth=1000' would take 7.99 PB; this machine has M
  help: make it smaller, or its edges sparse)");
  for (const char* specification :
       {"tree:depth=64,branching=1000", "lattice:maps=10000,depth=10000", "towers:towers=1000,units=1000000",
        "autoregressive:units=1000000,depth=10000", "skip:units=1000000,depth=1000"})
    CHECK(refusal_of(specification) != "nothing was refused");
}

TEST_CASE("an image that is not of the width is refused") {
  CHECK(refusal_of("lattice", 785) ==
        R"(error[topology-input]: a lattice over 785 inputs needs the width of the image: 785 is no square
  help: lattice:width=28   # a divisor of the number of inputs)");
  CHECK(refusal_of("lattice:width=30") ==
        R"(error[topology-input]: a lattice over 784 inputs cannot have rows of 30
  help: lattice:width=28   # a divisor of the number of inputs)");
  CHECK(refusal_of("lattice:width=1000").starts_with("error[topology-input]: "));
}

TEST_CASE("parts that cannot be assembled are refused") {
  TopologyParts parts = topology_parts(0);
  CHECK(refusal([&] { make_topology("layered", parts); }) ==
        R"(error[topology-parts]: TopologyParts::inputs is 0; an input has at least 1 unit
  help: .inputs = 784)");
  parts.inputs = 5;
  parts.hidden = nullptr;
  CHECK(refusal([&] { make_topology("layered", parts); }) ==
        R"(error[topology-parts]: TopologyParts::hidden is empty; it makes the hidden nodes
  help: .hidden = [](int units) { return Bernoulli{.units = units}; })");
  parts.hidden = [](int) { return Bernoulli{.units = 2}; };
  CHECK(refusal([&] { make_topology("layered", parts); }) ==
        R"(error[topology-parts]: node 'h1': TopologyParts::hidden(64) made a node of 2 units
  help: .hidden = [](int units) { return Bernoulli{.units = units}; })");
  parts.hidden = [](int) -> AnyNode { throw std::runtime_error("no parts left"); };
  CHECK(refusal([&] { make_topology("layered", parts); }).starts_with("error[node-threw]: node 'h1': "));
}

TEST_CASE("a specification says what is not as by default") {
  for (const char* text : {"layered", "small-world:units=200,rewire=0.25,seed=3,input_density=0.5,repair",
                           "tree:roots=3,branching=4", "lattice:maps=1,density=0.125"})
    CHECK(to_string(parse_topology(text)).size() == std::string(text).size());
  CHECK(to_string(parse_topology("layered:repair=false,units=64")) == "layered");
  CHECK(to_string(parse_topology("skip:repair=true,depth=3")) == "skip:depth=3,repair");
  CHECK(to_string(topologies::SmallWorld{.units = 9}) == "small-world:units=9");
}

TEST_CASE("outputs of several units and deterministic hidden nodes are fine") {
  TopologyParts parts = topology_parts(9);
  parts.output = Bernoulli{.units = 3};
  const Topology several = make_topology("skip:units=4,density=0.3,repair", parts);
  CHECK(several.graph.shape(several.output).units == 3);
  CHECK(find_violations(several.graph).empty());
  parts.hidden = [](int units) { return Tanh{units}; };
  CHECK(validate(make_topology("autoregressive", parts).graph).admissible());
  CHECK(validate(make_topology("random:units=30", parts).graph).admissible());
}

TEST_CASE("sizes are found for a number of weights") {
  for (const TopologyDescription& description : topology_list()) {
    const std::string fitted = fit_weights(description.name, 20000, topology_parts(64));
    const std::size_t weights = weight_count(make_topology(fitted, topology_parts(64)).graph);
    CAPTURE(fitted);
    CHECK(std::abs(static_cast<double>(weights) - 20000) < 0.1 * 20000);
  }
  const auto weights_of = [](int units) {
    return weight_count(make_topology(topologies::Layered{.units = units}, topology_parts()).graph);
  };
  CHECK(fit_weights("layered:depth=2", weights_of(37), topology_parts()) == "layered:units=37");
  CHECK(fit_weights("layered", weights_of(37) + 1, topology_parts()) == "layered:units=37");
  CHECK(fit_weights("layered", weights_of(38) - 1, topology_parts()) == "layered:units=38");
  CHECK(fit_weights("layered:units=500,density=0.5,repair", 0, topology_parts()) ==
        "layered:units=1,density=0.5,repair");
  CHECK(refusal([] {
          fit_weights("layered", std::size_t{1} << 60, topology_parts());
        }).starts_with("error[too-large]: "));
}

TEST_CASE("the document has a section and a table for every topology") {
  std::ifstream file(std::filesystem::path(HINDSIGHT_SOURCE_DIR) / "docs/topologies.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  for (const TopologyDescription& description : topology_list()) {
    CAPTURE(description.name);
    CHECK_MESSAGE(document.find(overview(description.name)) != std::string::npos, overview(description.name));
    const auto start = document.find("\n## " + description.name + "\n");
    REQUIRE(start != std::string::npos);
    const std::string section = document.substr(start, document.find("\n## ", start + 1) - start);
    CHECK_MESSAGE(section.find(table(description)) != std::string::npos, table(description));
    CHECK(section.find("pictures/topology_" + description.name + ".svg") != std::string::npos);
    CHECK(section.find("hindsight draw --topology " + description.name) != std::string::npos);
    CHECK((section.find("may violate Assumption 1") != std::string::npos) == description.violates);
    CHECK(section.find("Its size option is `" + description.size + "`") != std::string::npos);
  }
}
