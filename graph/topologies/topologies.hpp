#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hindsight/graph/graph.hpp>

namespace hindsight {

/// Shapes of graphs between one input and one output; docs/topologies.md shows each. What they have in
/// common: `seed` selects all random choices, `input_density` is the share of the input's units that a unit
/// reads if it reads the input, and `repair` removes the edges that violate Assumption 1.
namespace topologies {

/// Each layer reads the one before.
struct Layered {
  int units = 64;  ///< per layer
  int depth = 2;
  double density = 1;
  double input_density = 1;
  std::uint64_t seed = 1;
  bool repair = false;
};

/// Each layer, the output included, reads the one before and the one two before.
struct Skip {
  int units = 64;  ///< per layer
  int depth = 4;
  double density = 1;
  double input_density = 1;
  std::uint64_t seed = 1;
  bool repair = false;
};

/// Units in a random order; each pair is joined with the same probability.
struct RandomOrder {
  int units = 256;
  double parents = 8;        ///< expected mean number of hidden parents
  double input_share = 0.5;  ///< of the units: those that read the input although they have hidden parents
  double output_share = 0.25;
  double input_density = 0.2;
  std::uint64_t seed = 1;
  bool repair = false;
};

/// Units on a ring, coming in a random order; each reads the nearest of those before it, some edges rewired.
struct SmallWorld {
  int units = 256;
  int neighbours = 8;
  double rewire = 0.1;
  double input_share = 0.5;
  double output_share = 0.25;
  double input_density = 0.2;
  std::uint64_t seed = 1;
  bool repair = false;
};

/// Each unit reads earlier ones with a probability that grows with the number of those that read them.
struct Preferential {
  int units = 256;
  int parents = 8;
  double input_share = 0.5;
  double output_share = 0.25;
  double input_density = 0.2;
  std::uint64_t seed = 1;
  bool repair = false;
};

/// Trees that converge from the input to roots, all of which the output reads.
struct Tree {
  int roots = 32;
  int depth = 3;      ///< levels of one tree
  int branching = 2;  ///< how many units each unit reads
  double input_density = 0.2;
  std::uint64_t seed = 1;
  bool repair = false;
};

/// Maps over an image; each unit reads a window of all maps below it.
struct Lattice {
  int maps = 4;  ///< per level
  int depth = 2;
  int window = 5;
  int stride = 2;
  int width = 0;  ///< columns of the image; 0: it is square
  double density = 1;
  double input_density = 1;
  std::uint64_t seed = 1;
  bool repair = false;
};

/// The fast Fourier transform's graph, several times side by side: each unit reads its own place and one at a
/// distance that doubles from level to level.
struct Butterfly {
  int copies = 16;
  int width = 8;  ///< units per level of one copy
  double input_density = 0.2;
  std::uint64_t seed = 1;
  bool repair = false;
};

/// Stacks of layers side by side, the first one layer deep, the second two, and so on.
struct Towers {
  int units = 48;  ///< per layer
  int towers = 3;
  double density = 1;
  double input_density = 1;
  std::uint64_t seed = 1;
  bool repair = false;
};

/// Each population, the output included, reads all before it; all but the output read the input.
struct Autoregressive {
  int units = 32;  ///< per population
  int depth = 4;
  double density = 1;
  double input_density = 1;
  std::uint64_t seed = 1;
  bool repair = false;
};

}  // namespace topologies

/// In the order of topology_list().
using TopologyOptions =
    std::variant<topologies::Layered, topologies::Skip, topologies::RandomOrder, topologies::SmallWorld,
                 topologies::Preferential, topologies::Tree, topologies::Lattice, topologies::Butterfly,
                 topologies::Towers, topologies::Autoregressive>;

/// What a topology is made of.
struct TopologyParts {
  int inputs = 784;
  std::function<AnyNode(int units)> hidden = {};  ///< a population of that many units, or a single one
  AnyNode output;
};

/// x ─→ hidden nodes ─→ output ─→ correct. Hidden populations are h1, h2, …; where every unit is a node of
/// its own they are h0, h1, ….
struct Topology {
  Graph graph;
  NodeId input, output;
  RewardId reward;
};

/// Every hidden unit has a route from the input and one to the output: units without hidden parents read the
/// input, and the output reads all units that no hidden one reads, besides what the topology says. The same
/// options give the same graph on every machine. Refuses what cannot be made before it makes anything.
Topology make_topology(const TopologyOptions& options, const TopologyParts& parts);
/// The same from a text such as "small-world" or "small-world:units=200,rewire=0.1,repair".
Topology make_topology(std::string_view specification, const TopologyParts& parts);

/// Refuses names, options and values that do not exist.
TopologyOptions parse_topology(std::string_view specification);
/// The shortest specification: the name, and the options that are not as by default.
std::string to_string(const TopologyOptions& options);

struct TopologyOption {
  std::string name;
  std::string default_value;
  std::string range;  ///< "whole number from 1 to 1000000"
  std::string meaning;
};

struct TopologyDescription {
  std::string name;
  std::string description;  ///< one line
  bool violates = false;    ///< Assumption 1 may fail unless it is repaired
  std::string size;         ///< the option that fit_weights changes
  std::vector<TopologyOption> options;
};

/// All that can be made, for help and documentation.
std::vector<TopologyDescription> topology_list();

/// The parameters of all nodes, biases included.
std::size_t weight_count(const Graph& graph);

/// The specification with the number of weights nearest to the one wanted, found by bisecting the
/// topology's size option (TopologyDescription::size: units, or roots, maps or copies) with all others as
/// given. Makes a graph per step. Where weights are drawn their number is not quite monotone in the size, and
/// a neighbouring size may come as near.
std::string fit_weights(std::string_view specification, std::size_t weights, const TopologyParts& parts);

}  // namespace hindsight
