#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hindsight/graph/topologies.hpp>

namespace hindsight::internal {

/// One option of a topology. Parsing, checking, defaults and documentation all go by this.
template <class T>
struct TopologyField {
  std::string_view name;
  std::variant<int T::*, double T::*, std::uint64_t T::*, bool T::*> member;
  double least = 0, most = 0;  ///< not for seeds and flags
  std::string_view meaning;
};

template <class T>
struct TopologyTable {
  std::string_view name, description;
  bool violates;
  int T::*size;  ///< what fit_weights changes
  std::vector<TopologyField<T>> fields;
  std::string_view size_name = {};  ///< found among the fields
};

/// What there is to know of a topology's options; the argument selects the kind and is not read.
const TopologyTable<topologies::Layered>& topology_table(const topologies::Layered&);
const TopologyTable<topologies::Skip>& topology_table(const topologies::Skip&);
const TopologyTable<topologies::RandomOrder>& topology_table(const topologies::RandomOrder&);
const TopologyTable<topologies::SmallWorld>& topology_table(const topologies::SmallWorld&);
const TopologyTable<topologies::Preferential>& topology_table(const topologies::Preferential&);
const TopologyTable<topologies::Tree>& topology_table(const topologies::Tree&);
const TopologyTable<topologies::Lattice>& topology_table(const topologies::Lattice&);
const TopologyTable<topologies::Butterfly>& topology_table(const topologies::Butterfly&);
const TopologyTable<topologies::Towers>& topology_table(const topologies::Towers&);
const TopologyTable<topologies::Autoregressive>& topology_table(const topologies::Autoregressive&);

/// Refuses a value that lies outside its option's range.
void check_options(const TopologyOptions& options);

}  // namespace hindsight::internal
