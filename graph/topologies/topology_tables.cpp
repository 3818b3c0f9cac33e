#include <hindsight/graph/topology_options.hpp>

namespace hindsight::internal {
namespace {

using namespace topologies;

constexpr double thinnest = 0.0001, most_units = 1e6, most_depth = 1e4, most_parents = 1000;

/// The fields that all have come after the topology's own.
template <class T>
TopologyTable<T> with_common(TopologyTable<T> table) {
  table.fields.push_back(
      {"input_density", &T::input_density, thinnest, 1, "share of the input that a unit reads, if it does"});
  table.fields.push_back({"seed", &T::seed, 0, 0, "selects all random choices"});
  table.fields.push_back({"repair", &T::repair, 0, 0, "removes edges until Assumption 1 holds"});
  for (const TopologyField<T>& field : table.fields)
    if (const auto* member = std::get_if<int T::*>(&field.member); member && *member == table.size)
      table.size_name = field.name;
  return table;
}

template <class T>
TopologyField<T> density_field() {
  return {"density", &T::density, thinnest, 1, "share of the pairs of hidden units that are joined"};
}

template <class T>
TopologyField<T> input_share_field() {
  return {"input_share", &T::input_share, 0, 1,
          "share of the units that read the input, besides those without hidden parents"};
}

template <class T>
TopologyField<T> output_share_field() {
  return {"output_share", &T::output_share, 0, 1,
          "share of the units that the output reads, besides those without hidden children"};
}

}  // namespace

const TopologyTable<Layered>& topology_table(const Layered&) {
  static const auto table =
      with_common<Layered>({.name = "layered",
                            .description = "each layer reads the one before",
                            .violates = false,
                            .size = &Layered::units,
                            .fields = {{"units", &Layered::units, 1, most_units, "units per layer"},
                                       {"depth", &Layered::depth, 1, most_depth, "layers"},
                                       density_field<Layered>()}});
  return table;
}

const TopologyTable<Skip>& topology_table(const Skip&) {
  static const auto table = with_common<Skip>(
      {.name = "skip",
       .description = "each layer, the output included, reads the one before and the one two before",
       .violates = true,
       .size = &Skip::units,
       .fields = {{"units", &Skip::units, 1, most_units, "units per layer"},
                  {"depth", &Skip::depth, 1, most_depth, "layers"},
                  density_field<Skip>()}});
  return table;
}

const TopologyTable<RandomOrder>& topology_table(const RandomOrder&) {
  static const auto table = with_common<RandomOrder>(
      {.name = "random",
       .description = "units in a random order; each pair is joined with the same probability",
       .violates = true,
       .size = &RandomOrder::units,
       .fields = {
           {"units", &RandomOrder::units, 1, most_units, "hidden units"},
           {"parents", &RandomOrder::parents, 0, most_parents, "expected mean number of hidden parents"},
           input_share_field<RandomOrder>(),
           output_share_field<RandomOrder>()}});
  return table;
}

const TopologyTable<SmallWorld>& topology_table(const SmallWorld&) {
  static const auto table = with_common<SmallWorld>(
      {.name = "small-world",
       .description =
           "units on a ring, coming in a random order; each reads the nearest before it, some rewired",
       .violates = true,
       .size = &SmallWorld::units,
       .fields = {
           {"units", &SmallWorld::units, 1, most_units, "hidden units"},
           {"neighbours", &SmallWorld::neighbours, 1, most_parents,
            "hidden parents of a unit; the first so many units have none"},
           {"rewire", &SmallWorld::rewire, 0, 1, "probability that an edge leads from any earlier unit"},
           input_share_field<SmallWorld>(),
           output_share_field<SmallWorld>()}});
  return table;
}

const TopologyTable<Preferential>& topology_table(const Preferential&) {
  static const auto table = with_common<Preferential>(
      {.name = "preferential",
       .description = "each unit reads earlier ones, preferring those that many read",
       .violates = true,
       .size = &Preferential::units,
       .fields = {{"units", &Preferential::units, 1, most_units, "hidden units"},
                  {"parents", &Preferential::parents, 1, most_parents,
                   "hidden parents of a unit; the first so many units have none"},
                  input_share_field<Preferential>(),
                  output_share_field<Preferential>()}});
  return table;
}

const TopologyTable<Tree>& topology_table(const Tree&) {
  static const auto table =
      with_common<Tree>({.name = "tree",
                         .description = "trees that converge from the input to roots, which the output reads",
                         .violates = false,
                         .size = &Tree::roots,
                         .fields = {{"roots", &Tree::roots, 1, most_units, "trees"},
                                    {"depth", &Tree::depth, 1, 64, "levels of a tree"},
                                    {"branching", &Tree::branching, 1, most_parents,
                                     "units of the level below that a unit reads"}}});
  return table;
}

const TopologyTable<Lattice>& topology_table(const Lattice&) {
  static const auto table = with_common<Lattice>(
      {.name = "lattice",
       .description = "maps over an image; each unit reads a window of all maps below it",
       .violates = false,
       .size = &Lattice::maps,
       .fields = {
           {"maps", &Lattice::maps, 1, most_depth, "maps per level"},
           {"depth", &Lattice::depth, 1, most_depth, "levels"},
           {"window", &Lattice::window, 1, most_depth, "rows and columns that a unit reads"},
           {"stride", &Lattice::stride, 1, most_depth, "rows and columns between neighbouring windows"},
           {"width", &Lattice::width, 0, most_units, "columns of the image; 0 for a square one"},
           {"density", &Lattice::density, thinnest, 1,
            "share of a window in hidden maps that a unit reads"}}});
  return table;
}

const TopologyTable<Butterfly>& topology_table(const Butterfly&) {
  static const auto table = with_common<Butterfly>(
      {.name = "butterfly",
       .description =
           "levels as in the fast Fourier transform; each unit reads two, at a distance that doubles",
       .violates = false,
       .size = &Butterfly::copies,
       .fields = {{"copies", &Butterfly::copies, 1, most_units, "butterflies side by side"},
                  {"width", &Butterfly::width, 2, most_units,
                   "units per level of a copy; log2 of it, rounded up, levels follow the first"}}});
  return table;
}

const TopologyTable<Towers>& topology_table(const Towers&) {
  static const auto table = with_common<Towers>(
      {.name = "towers",
       .description = "stacks of layers side by side, the first one layer deep, the second two, and so on",
       .violates = false,
       .size = &Towers::units,
       .fields = {{"units", &Towers::units, 1, most_units, "units per layer"},
                  {"towers", &Towers::towers, 1, most_parents, "stacks, and layers of the deepest"},
                  density_field<Towers>()}});
  return table;
}

const TopologyTable<Autoregressive>& topology_table(const Autoregressive&) {
  static const auto table = with_common<Autoregressive>(
      {.name = "autoregressive",
       .description = "each population reads the input and all before it; the output reads them all",
       .violates = true,
       .size = &Autoregressive::units,
       .fields = {{"units", &Autoregressive::units, 1, most_units, "units per population"},
                  {"depth", &Autoregressive::depth, 1, most_depth, "populations"},
                  density_field<Autoregressive>()}});
  return table;
}

}  // namespace hindsight::internal
