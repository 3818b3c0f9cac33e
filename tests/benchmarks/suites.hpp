#pragma once

#include <string>
#include <vector>

#include "images.hpp"
#include "rows.hpp"
#include "tool/dataset.hpp"

namespace hindsight::benchmarks {

/// What the suites read; must outlive the benchmarks.
struct Data {
  Images mnist;
  Images dense;  ///< as many features, none of them zero
};

/// Each suite registers its benchmarks and says which rows of the table follow from them.
std::vector<Row> paper_networks(const Data& data);
std::vector<Row> large_network(const Data& data);
std::vector<Row> message_kernel();
std::vector<Row> sparse_graphs();
std::vector<Row> growth(const Data& data);
std::vector<Row> pipeline(const tool::Dataset& data);
std::vector<Row> validation();

/// Bytes by which the peak memory of this process grows while it builds a model of so many edges with its
/// workspace and takes one step. For a process that does nothing else.
std::size_t measure_memory(const std::string& kind, std::size_t edges);

/// The same for building a random DAG with a tenth as many nodes and validating it.
std::size_t measure_validation_memory(std::size_t edges);

/// The same for building and compiling neurons that read twenty others: "neurons_local" or "neurons_random".
std::size_t measure_neurons_memory(const std::string& kind, std::size_t edges);

}  // namespace hindsight::benchmarks
