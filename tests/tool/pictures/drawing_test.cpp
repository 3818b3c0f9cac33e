#include "tool/drawing.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <hindsight/hindsight.hpp>

#include "support/picture_graphs.hpp"
#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"
#include "tool/atomic_file.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using namespace hindsight::testing;

namespace {

/// The first line that begins so.
std::string line(const std::string& text, const std::string& beginning) {
  const std::size_t at = text.find("\n  " + beginning);
  return at == std::string::npos ? "" : text.substr(at + 3, text.find('\n', at + 1) - at - 3);
}

/// Programs are sought in one folder only while it lives.
class ProgramsFrom {
 public:
  explicit ProgramsFrom(const std::string& folder) { setenv("PATH", folder.c_str(), 1); }
  ~ProgramsFrom() { setenv("PATH", path_.c_str(), 1); }
  ProgramsFrom(const ProgramsFrom&) = delete;
  ProgramsFrom& operator=(const ProgramsFrom&) = delete;

 private:
  std::string path_ = std::getenv("PATH");
};

}  // namespace

TEST_CASE("a drawing shows kinds, sizes, estimators and levels") {
  const Graph graph = five_nodes();
  const std::string dot = drawing_dot(graph, validate(graph));
  CHECK(says(line(dot, "item0 ["), "x\\ninput ×2"));
  CHECK(says(line(dot, "item0 ["), "shape=cds"));
  CHECK(says(line(dot, "item1 ["), "a\\nBernoulli ×8\\nhnca"));
  CHECK(says(line(dot, "item3 ["), "t\\nTanh ×3\""));
  CHECK_FALSE(says(line(dot, "item3 ["), "rounded"));
  CHECK(says(line(dot, "item5 ["), "shape=hexagon"));
  CHECK(says(dot, "{ rank=same; column2; item2; item3; }"));
  CHECK(says(dot, "label=\"level 3\""));
  CHECK(says(dot, "label=\"rewards\""));
}

TEST_CASE("a drawing marks the node that violates, both routes and their child") {
  const Graph graph = five_nodes();
  const std::string dot = drawing_dot(graph, validate(graph));
  const std::string red = "color=\"#c62f2f\"", orange = "color=\"#e0762c\"";
  CHECK(says(line(dot, "item1 ["), red));
  CHECK(says(line(dot, "item4 ["), "peripheries=2"));
  CHECK(says(line(dot, "item1 -> item4"), red));
  CHECK(says(line(dot, "item1 -> item2"), orange));
  CHECK(says(line(dot, "item2 -> item4"), orange));
  CHECK(says(line(dot, "item2 -> item4"), "style=dashed"));
  CHECK(line(dot, "item0 -> item1") == "item0 -> item1 [];");
}

/// Five nodes, of which one has a baseline.
Graph with_baseline() {
  Graph graph = five_nodes();
  graph.baseline(NodeId{2}, RunningMean{});
  return graph;
}

TEST_CASE("a drawing names the baseline of a node, and the legend does") {
  const Graph graph = with_baseline();
  const std::string dot = drawing_dot(graph, validate(graph));
  CHECK(says(line(dot, "item2 ["), "hnca + running-mean\""));
  CHECK(says(line(dot, "item1 ["), "\\nhnca\""));
  CHECK(says(dot.substr(dot.find("label=<<TABLE")), ">hnca + running-mean "));
}

// Viewers take away the blanks that a text of SVG begins with.
TEST_CASE("no text of a drawing begins with a blank, and the legend keeps its own") {
  const ScratchFolder folder;
  const Graph graph = five_nodes();
  const std::string svg = read_file(draw(graph, validate(graph), folder / "a.svg").written);
  std::string words;
  for (std::size_t at = 0; (at = svg.find("<text", at)) != std::string::npos;) {
    at = svg.find('>', at) + 1;
    const std::string text = svg.substr(at, svg.find("</text>", at) - at);
    CAPTURE(text);
    CHECK_FALSE(text.starts_with(' '));
    words += text;
  }
  CHECK(says(words, "the edge and the longer route meet in one child"));
}

TEST_CASE("hundreds of neurons are drawn small, thousands as boxes") {
  const Graph hundreds = single_neurons(200, 20), thousands = single_neurons(5000, 50);
  const std::string small = drawing_dot(hundreds, validate(hundreds));
  CHECK(says(small, "fontsize=9"));
  CHECK(says(line(small, "item40 ["), "label=\"n2_0\""));
  const std::string boxes = drawing_dot(thousands, validate(thousands));
  CHECK(says(line(boxes, "item0 ["), "input\\n50 nodes"));
  CHECK(says(boxes, "Too many to draw one by one"));
  CHECK(says(boxes, "violation"));
  CHECK(says(boxes, "label=\"levels 1–5\""));
}

TEST_CASE("a drawing is made as SVG, PNG, PDF and in Graphviz' language") {
  const ScratchFolder folder;
  const Graph graph = five_nodes();
  const Report report = validate(graph);
  for (const auto& [name, beginning] :
       {std::pair("a.svg", "<?xml"), {"a.png", "\x89PNG"}, {"a.pdf", "%PDF"}, {"a.dot", "digraph"}}) {
    const DrawEnd end = draw(graph, report, folder / name);
    CHECK(end.drawn);
    CHECK(end.written == folder / name);
    CHECK(read_file(end.written).starts_with(beginning));
  }
}

TEST_CASE("a drawing shows hostile names as they are") {
  const ScratchFolder folder;
  const Graph graph = hostile_names();
  const std::string svg = read_file(draw(graph, validate(graph), folder / "a.svg").written);
  CHECK_FALSE(says(svg, "<script"));
  CHECK_FALSE(says(svg, "<img"));
  CHECK(says(svg, "&lt;img src=x onerror=hacked=1&gt;"));
  CHECK(says(svg, "神経"));
  CHECK(says(svg, "&amp;lt;"));
  CHECK(says(svg, "wwww…"));
}

TEST_CASE("an empty graph can be drawn") {
  const ScratchFolder folder;
  CHECK(says(read_file(draw(Graph{}, validate(Graph{}), folder / "a.svg").written), "0 nodes"));
}

TEST_CASE("without Graphviz its input is written beside the file and the message says so") {
  const ScratchFolder folder;
  const Graph graph = five_nodes();
  DrawEnd end;
  {
    const ProgramsFrom nowhere("/nonexistent");
    end = draw(graph, validate(graph), folder / "a.svg");
  }
  CHECK_FALSE(end.drawn);
  CHECK(end.written == folder / "a.svg.dot");
  CHECK(read_file(end.written).starts_with("digraph"));
  CHECK_FALSE(std::filesystem::exists(folder / "a.svg"));
  CHECK(end.message == "Graphviz cannot be started; its input is in " + folder / "a.svg.dot" +
                           ": apt-get install graphviz && dot -Tsvg " + folder / "a.svg.dot" + " -o " +
                           folder / "a.svg");
}

TEST_CASE("a drawing is refused in the words of the document") {
  const Graph graph = five_nodes();
  CHECK(refusal([&] { draw(graph, validate(graph), "graph.bmp"); }) ==
        "error[draw-format]: 'graph.bmp' ends in none of .svg, .png, .pdf and .dot\n"
        "  help: hindsight draw graph.dot -o graph.svg");
  CHECK(
      says(refusal([&] { draw(graph, validate(graph), "/nonexistent/a.svg"); }), "error[file-not-written]"));
}

TEST_CASE("what Graphviz complains of is passed on") {
  const ScratchFolder folder;
  const std::string program = folder / "dot", out = folder / "a.svg";
  write_atomically(program, "#!/bin/sh\nprintf 'out of ink' >&2\nexit 1\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Graph graph = five_nodes();
  const ProgramsFrom there(folder.path().string());
  CHECK(refusal([&] { draw(graph, validate(graph), out); }) ==
        "error[graphviz]: Graphviz could not draw '" + out +
            "': it said: out of ink\n  help: hindsight draw graph.dot -o " + out +
            ".dot   # its input, to look at");
}
