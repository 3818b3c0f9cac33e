#pragma once

#include <filesystem>
#include <string>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

#include "tool/embedded_page.hpp"

namespace hindsight::tool {

/// Writes one HTML file in which a person explores the graph: one column per level, every node with its kind,
/// estimators, verdicts and neighbours, and the two routes behind each violation of Assumption 1. The file
/// needs no network and no other file. Graphs of more than some 1,500 nodes are shown as boxes, one per level
/// and kind. Codes: "page-library" if the program was built without the libraries of the page,
/// "file-not-written".
void write_page(const Graph&, const Report&, const std::filesystem::path&);

/// The text of that file, made of these parts.
std::string page_text(const Graph&, const Report&, const EmbeddedPage&);

}  // namespace hindsight::tool
