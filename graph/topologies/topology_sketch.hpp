#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <hindsight/core/shape.hpp>
#include <hindsight/graph/topologies.hpp>

namespace hindsight::internal {

/// A topology before it becomes a graph: cheap to change, and without node kinds.
struct Sketch {
  static constexpr int input = -1;

  struct Link {
    int from = input;                          ///< number of a population before this one, or the input
    std::optional<Pattern::Pairs> pairs = {};  ///< none: dense
  };
  struct Population {
    int units = 1;
    bool reads_input = false;   ///< all of it, even if it has other parents
    bool feeds_output = false;  ///< all of it, even if others read it
    std::vector<Link> reads = {};
  };

  std::vector<Population> populations;  ///< the hidden ones in order, and at last, once connected, the output
  int first_name = 1;
};

/// Reproducible choices for one place of a topology, independent of those for any other place.
class Choices {
 public:
  enum class About : std::uint32_t { order, wiring, input_wiring, input_share, output_share };

  Choices(std::uint64_t seed, About about, int first = 0, int second = 0)
      : seed_(seed), about_(about), first_(first), second_(second) {}

  bool chance(double probability);
  int below(int bound);  ///< a number in 0 … bound - 1

 private:
  std::uint32_t word();

  std::uint64_t seed_;
  About about_;
  int first_, second_;
  std::uint32_t count_ = 0;
  std::array<std::uint32_t, 4> words_{};
};

/// What the options ask for. No unit need be connected to input or output yet.
Sketch sketch(const topologies::Layered&, int inputs);
Sketch sketch(const topologies::Skip&, int inputs);
Sketch sketch(const topologies::RandomOrder&, int inputs);
Sketch sketch(const topologies::SmallWorld&, int inputs);
Sketch sketch(const topologies::Preferential&, int inputs);
Sketch sketch(const topologies::Tree&, int inputs);
Sketch sketch(const topologies::Lattice&, int inputs);
Sketch sketch(const topologies::Butterfly&, int inputs);
Sketch sketch(const topologies::Towers&, int inputs);
Sketch sketch(const topologies::Autoregressive&, int inputs);

/// How large a sketch would become, about; the edges into the output are left out.
struct Extent {
  double units = 0, nodes = 0;
  double links = 0;          ///< between nodes
  double dense = 0;          ///< weights of dense edges
  double sparse = 0;         ///< weights of the others
  double hidden_sparse = 0;  ///< those of them that do not read the input
  double draws = 0;          ///< random numbers needed

  void read_input(double inputs, double readers, double density);
  /// So many pairs of hidden units, each of which is joined with that probability.
  void join(double pairs, double density);
};

Extent extent(const topologies::Layered&, int inputs);
Extent extent(const topologies::Skip&, int inputs);
Extent extent(const topologies::RandomOrder&, int inputs);
Extent extent(const topologies::SmallWorld&, int inputs);
Extent extent(const topologies::Preferential&, int inputs);
Extent extent(const topologies::Tree&, int inputs);
Extent extent(const topologies::Lattice&, int inputs);
Extent extent(const topologies::Butterfly&, int inputs);
Extent extent(const topologies::Towers&, int inputs);
Extent extent(const topologies::Autoregressive&, int inputs);

/// Lets units without parents read the input and the output read units without children, besides what the
/// populations' flags say, and appends the output.
void connect(Sketch& sketch, int inputs, double input_density, std::uint64_t seed);

/// Makes a connected sketch satisfy Assumption 1 by removing every edge u → v for which a longer route
/// u → … → v exists: population by population if all edges are dense, otherwise unit by unit. The input is
/// exempt.
void repair(Sketch& sketch);

/// The graph of a connected sketch.
Topology build(Sketch sketch, const TopologyParts& parts);

}  // namespace hindsight::internal
