#pragma once

#include <filesystem>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::lab {

/// Writes one HTML file in which a person explores the graph: one column per level, every node with its kind,
/// estimators, verdicts and neighbours, and the two routes behind each violation of Assumption 1. The file
/// needs no network and no other file. Graphs of more than some 1,500 nodes are shown as boxes, one per level
/// and kind. Codes: "page-library" if the program was built without the libraries of the page,
/// "file-not-written".
void write_page(const Graph&, const Report&, const std::filesystem::path&);

}  // namespace hindsight::lab
