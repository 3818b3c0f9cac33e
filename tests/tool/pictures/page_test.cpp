// What a browser makes of the pages is tested in gates/browser/page_test.mjs.
#include "tool/page.hpp"

#include <regex>
#include <string>

#include <doctest/doctest.h>
#include <hindsight/hindsight.hpp>
#include <nlohmann/json.hpp>

#include "support/picture_graphs.hpp"
#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"
#include "tool/atomic_file.hpp"
#include "tool/embedded_page.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using namespace hindsight::testing;
using Json = nlohmann::json;

namespace {

std::string page_of(const Graph& graph) {
  const ScratchFolder folder;
  write_page(graph, validate(graph), folder / "page.html");
  return read_file(folder / "page.html");
}

std::string script(const std::string& page) {
  const std::string opening = "id=\"graph\">";
  const std::size_t first = page.find(opening) + opening.size();
  return page.substr(first, page.find("</script>", first) - first);
}

Json data_of(const Graph& graph) { return Json::parse(script(page_of(graph))); }

}  // namespace

TEST_CASE("a page holds what is known of a node and of its violation") {
  const Json data = data_of(five_nodes());
  CHECK(data["counts"] == "5 nodes, 6 edges, 1 reward");
  CHECK(data["admissible"] == false);
  CHECK(data["violating"] == 1);
  const Json& a = data["items"][1];
  CHECK(a["caption"] == "Bernoulli ×8");
  CHECK(a["level"] == 1);
  CHECK(a["assumption"] == "violated");
  CHECK(a["credits"][0]["reward"] == "score");
  CHECK(a["credits"][0]["estimator"] == "hnca");
  CHECK(a["credits"][0]["admissible"] == false);
  CHECK(a["credits"][0]["reason"] == "policy");
  CHECK(a["credits"][0]["why"] == "Assumption 1 is violated");
  CHECK(a["proof"]["edge"] == Json{1, 4});
  CHECK(a["proof"]["route"] == Json{1, 2, 4});
  CHECK(a["messages"][0]["code"] == "assumption-1");
  CHECK(data["items"][5]["look"] == "reward");
  CHECK(data["columns"].size() == 5);
}

TEST_CASE("a page names the baseline of a node, and marks it in its estimator's colour") {
  Graph graph = five_nodes();
  graph.baseline(NodeId{2}, RunningMean{});
  const Json data = data_of(graph);
  CHECK(data["items"][2]["credits"][0]["estimator"] == "hnca");
  CHECK(data["items"][2]["credits"][0]["mark"] == "hnca + running-mean");
  const int with = data["items"][2]["marks"][0], without = data["items"][1]["marks"][0];
  CHECK(data["marks"][with]["name"] == "hnca + running-mean");
  CHECK(data["marks"][without]["name"] == "hnca");
  CHECK(data["marks"][with]["tone"] == data["marks"][without]["tone"]);
}

TEST_CASE("a page needs nothing from outside and names the licences of what it contains") {
  const std::string page = page_of(five_nodes());
  CHECK_FALSE(std::regex_search(page.substr(0, page.find("<script")), std::regex("(src|href)=\"[^\"d]")));
  CHECK(says(page, "default-src 'none'"));
  CHECK(says(page, "The Cytoscape Consortium."));
  CHECK(says(page, "Copyright (c) 2012-2014 Chris Pettitt"));
  CHECK_FALSE(says(page, "sourceMappingURL"));
  CHECK_FALSE(std::regex_search(page, std::regex("@[a-z-]+@")));
}

TEST_CASE("nothing a graph says can end or open an element of the page") {
  const std::string page = page_of(hostile_names()), plain = page_of(five_nodes());
  for (const char c : {'<', '>', '&'}) CHECK(script(page).find(c) == std::string::npos);
  const Json data = Json::parse(script(page));
  CHECK(data["items"][1]["name"] == "<img src=x onerror=hacked=1>");
  CHECK(data["items"][3]["kind"] == std::string(hostile_markup));
  CHECK(says(data["items"][4]["name"], "broken \xEF\xBF\xBD( bytes"));
}

TEST_CASE("a page of thousands of nodes counts them by level and kind and says so") {
  const Json data = data_of(single_neurons(5000, 50));
  CHECK(data["view"] == "groups");
  CHECK(says(data["remark"], "too large to draw node by node"));
  CHECK(data["items"][0]["caption"] == "50 nodes");
  CHECK(data["items"].size() < 60);
}

TEST_CASE("a page of an empty graph says why there is nothing") {
  const Json data = data_of(Graph{});
  CHECK(data["items"].empty());
  CHECK(data["messages"][0]["code"] == "empty-graph");
}

TEST_CASE("a page is written whole or refused") {
  const Graph graph = five_nodes();
  CHECK(says(refusal([&] { write_page(graph, validate(graph), "/nonexistent/page.html"); }),
             "error[file-not-written]"));
}

TEST_CASE("a program without the libraries of the page says how to get them") {
  const Graph graph = five_nodes();
  EmbeddedPage parts = embedded_page();
  parts.libraries.reset();
  CHECK(refusal([&] { page_text(graph, validate(graph), parts); }) ==
        "error[page-library]: this program was built without the libraries that its pages are made of\n"
        "  help: make setup tool   # fetches them from npm and builds the program again");
}
