#pragma once

#include <filesystem>
#include <string>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::tool {

/// The graph in Graphviz' language: one column per level, estimators by colour, and where Assumption 1 is
/// violated the two routes in red together with the child they meet in. Graphs of more than some 400 nodes
/// are drawn as boxes, one per level and kind.
std::string drawing_dot(const Graph&, const Report&);

struct DrawEnd {
  std::filesystem::path written;  ///< the file that was asked for, or it with .dot added
  bool drawn = true;              ///< no: Graphviz is missing, and `message` says so
  std::string message;
};

/// Draws into a file whose ending says how: .svg, .png, .pdf, or .dot for Graphviz' language itself. Graphviz
/// makes the picture; where it is missing its input is written beside the file that was asked for, but never
/// over `read`, the file that the graph comes from. Codes: "draw-format", "graphviz" if it runs and fails,
/// "figure-write", "file-not-written" and "file-is-read".
DrawEnd draw(const Graph&, const Report&, const std::filesystem::path& out,
             const std::filesystem::path& read = {});

}  // namespace hindsight::tool
