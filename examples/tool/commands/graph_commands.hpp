#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <hindsight/graph/graph.hpp>

namespace hindsight::tool {

/// Where a command finds its graph: a file, or a topology by name.
struct GraphSource {
  std::string file;      ///< empty: the topology counts
  std::string topology;  ///< for MNIST's images: 784 inputs, 10 classes
};

Graph load_graph(const GraphSource& source);

/// With colours if a person reads it.
void print_report(const Report& report);

/// Exit codes of the commands below.
enum class Finding {
  holds = 0,  ///< Assumption 1 holds at every node that was checked, and all estimators are admissible
  fails = 1,
  bad_input = 2,
};

struct ValidateCommand {
  std::vector<std::string> files;
  std::string topology;
  std::string estimator;  ///< what if every node used it; empty: as the file says
  bool json = false;      ///< one object per file and line
  bool strict = false;    ///< inputs are checked too
  bool all = false;       ///< every (node, child, coparent), not just one per node
};
/// Reports on every file, whatever is wrong with the others; the worst of what was found.
Finding validate_graphs(const ValidateCommand& command);

struct ReduceCommand {
  GraphSource source;
  std::filesystem::path out;  ///< empty: standard output
  bool strict = false;
};
/// Writes the graph without the edges that violate Assumption 1 and says what was removed; `fails` if
/// something had to stay.
Finding reduce_graph(const ReduceCommand& command);

struct DrawCommand {
  GraphSource source;
  std::filesystem::path out;   ///< .svg, .png, .pdf or .dot; empty: none
  std::filesystem::path page;  ///< one HTML file; empty: none
  bool strict = false;
};
/// `fails` where Graphviz is missing and only its input could be written.
Finding draw_graph(const DrawCommand& command);

}  // namespace hindsight::tool
