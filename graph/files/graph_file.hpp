#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight {

enum class GraphFormat {
  dot,        ///< Graphviz, with our attributes or without any
  edge_list,  ///< a parent and a child per line
  graphml,
};

/// Reads a file of any format. A file in which no node has a kind is plain: what has no parents is an input,
/// the others are Bernoulli units, and what has no children feeds one reward. Whatever is wrong is refused
/// with file and line: not UTF-8, no graph, a cycle, an edge that is there twice, an attribute nobody knows,
/// …
Graph read_graph(const std::filesystem::path& file, const Catalogue& catalogue);

/// The same for a text that came another way; `name` stands for the file in what is refused.
Graph parse_graph(std::string_view text, GraphFormat format, const Catalogue& catalogue,
                  const std::string& name = "graph");

/// By the ending of the file's name; failing that, by how the text begins.
GraphFormat format_of(const std::filesystem::path& file, std::string_view text);

/// The graph as DOT. Reading it gives the same graph again: nodes, their order, patterns, estimators,
/// rewards. Refuses, by name, nodes and estimators that the catalogue does not know.
std::string to_dot(const Graph& graph, const Catalogue& catalogue);

}  // namespace hindsight
