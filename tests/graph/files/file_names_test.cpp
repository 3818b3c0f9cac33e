// Names and values of all sorts, written and read again.
#include <hindsight/graph/graph_file.hpp>

#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <hindsight/core/printable.hpp>

#include "support/custom_nodes.hpp"
#include "support/refusal.hpp"
#include "support/same_graph.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

constexpr std::string_view pieces[] = {"a",
                                       "Z",
                                       "9",
                                       ".",
                                       "-",
                                       "_",
                                       " ",
                                       "\"",
                                       "\\",
                                       "\\\"",
                                       "\\n",
                                       "\\N",
                                       "<b>",
                                       "</b>",
                                       "&amp;",
                                       "node",
                                       "strict",
                                       "digraph",
                                       "edge",
                                       "graph",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       ";",
                                       ",",
                                       "=",
                                       ":",
                                       "+",
                                       "#",
                                       "//",
                                       "/*",
                                       "->",
                                       "--",
                                       "ö",
                                       "日本",
                                       "\u202e",
                                       "\u0085",
                                       "\u061c",
                                       "\u2066",
                                       "\xF0\x9F\x98\x80",
                                       "\xff",
                                       "\xc3",
                                       "\xed\xa0\x80",
                                       "\\u202e",
                                       "\\xff",
                                       "\\u00",
                                       "u202e",
                                       "'",
                                       "`",
                                       "$(x)",
                                       "\u2028",
                                       "estimator:r"};

/// Names cannot hold '/' or ASCII's control characters: the graph refuses them.
std::string random_text(std::mt19937& random, bool is_name) {
  std::string text;
  for (auto count = random() % 6 + (is_name ? 1U : 0U); count > 0; --count) {
    const std::string_view piece = pieces[random() % std::size(pieces)];
    if (!is_name || piece.find('/') == std::string_view::npos) text += piece;
    if (!is_name && random() % 8 == 0) text += static_cast<char>(random() % 32);
  }
  return text;
}

/// Brings any text along in the file; and one that Graphviz has an attribute for.
struct Labelled : SineVote {
  static constexpr std::string_view kind = "Labelled";
  std::string note;
  int levels = 1;

  static Labelled read(AttributeReader& given) {
    Labelled node;
    node.note = given.text("note", "none");
    node.levels = given.count("levels", 1);
    return node;
  }
  void write(Attributes& written) const {
    written.set("note", note);
    if (levels != 1) written.set("levels", levels);
  }
};

Catalogue with_labels() {
  Catalogue catalogue = standard_catalogue();
  catalogue.know<Labelled>();
  return catalogue;
}

Graph dot_with_labels(std::string_view text) {
  return parse_graph(text, GraphFormat::dot, with_labels(), "net");
}

}  // namespace

TEST_CASE("2,000 graphs whose names and values are put together at random are the same when they are read") {
  const Catalogue catalogue = with_labels();
  std::mt19937 random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    Graph graph;
    std::vector<NodeId> parents;
    for (int i = 0; i < 3; ++i) {
      const std::string name = random_text(random, true) + std::to_string(i);
      Labelled node;
      node.note = random_text(random, false);
      parents.push_back(graph.add(name, node, {parents.begin(), parents.end()}));
    }
    const RewardId reward = graph.reward(random_text(random, true) + "r", {parents.back()});
    graph.estimate_with(parents[0], reward, Reinforce{});
    const std::string text = to_dot(graph, catalogue);
    CAPTURE(text);
    const Graph read = parse_graph(text, GraphFormat::dot, catalogue);
    CHECK(difference(graph, read, catalogue) == "");
    for (const NodeId node : graph.nodes())
      CHECK(read.node(node)->as<Labelled>()->note == graph.node(node)->as<Labelled>()->note);
  }
}

TEST_CASE("what terminals obey is escaped in DOT, and only what was escaped so is read as one character") {
  Graph graph;
  graph.input("a\u202eb", 1);
  graph.input("\xff", 1);
  CHECK(to_dot(graph) ==
        "digraph hindsight {\n  \"a\\u202eb\" [kind=input];\n  \"\\xff\" [kind=input];\n}\n");
  for (const auto& [written, name] : {std::pair("\\u202e", "\u202e"),
                                      {"\\\\u202e", "\\u202e"},
                                      {"\\u0041", "\\u0041"},
                                      {"\\u202E", "\\u202E"},
                                      {"\\x41", "\\x41"},
                                      {"\\u20", "\\u20"},
                                      {"\\users", "\\users"},
                                      {"\\u0085", "\u0085"},
                                      {"\\x9b", "\x9b"}})
    CHECK(dot_with_labels("digraph { \"" + std::string(written) + "\" }").name(NodeId{0}) == name);
}

TEST_CASE("names that are longer than files may hold are refused when they are written") {
  Graph graph;
  graph.input(std::string(4096, 'a'), 1);
  CHECK(parse_graph(to_dot(graph), GraphFormat::dot).node_count() == 1);
  graph.input(std::string(4097, 'b'), 1);
  CHECK(refusal([&] { to_dot(graph); }) ==
        "error[cannot-write]: node '" + std::string(60, 'b') +
            "…': its name has 4097 bytes; files hold names of up to 4096\n  help: give it a shorter name");
}

TEST_CASE("an attribute that a node type asks for is its own, whatever Graphviz calls so") {
  const Graph graph = dot_with_labels(
      "digraph { node [levels=5]; a [kind=labelled levels=7]; b [kind=labelled]; "
      "c [kind=bernoulli levels=3]; r [kind=reward]; a -> b -> c -> r [levels=2] }");
  CHECK(graph.node({0})->as<Labelled>()->levels == 7);
  CHECK(graph.node({1})->as<Labelled>()->levels == 5);
  CHECK(refusal([] { dot_with_labels("digraph { a [kind=labelled levels=many] }"); }) ==
        "net:1: error[bad-attribute]: node 'a': levels=\"many\" is not a whole number from 1 to 2147483647\n"
        "  help: levels=1");
  CHECK(
      parse_graph("<graphml><key id='l' for='node' attr.name='levels'><default>3</default></key><key id='k' "
                  "for='node' attr.name='kind'/><graph><node id='a'><data key='k'>labelled</data></node>"
                  "</graph></graphml>",
                  GraphFormat::graphml, with_labels())
          .node({0})
          ->as<Labelled>()
          ->levels == 3);
}

TEST_CASE("what is said of a graph shows nothing that a terminal obeys") {
  const auto is_shown = [](std::string_view text) {
    while (!text.empty()) {
      const internal::Character character = internal::first_character(text);
      if (text.front() != '\n' && !character.is_shown()) return false;
      text.remove_prefix(character.bytes);
    }
    return true;
  };
  std::mt19937 random(12);
  for (int trial = 0; trial < 300; ++trial) {
    Graph graph;
    const NodeId a = graph.add(random_text(random, true) + "a", Bernoulli{}, {});
    const NodeId b = graph.add(random_text(random, true) + "b", Bernoulli{}, {a});
    const NodeId c = graph.add(random_text(random, true) + "c", Bernoulli{}, {a, b});
    graph.reward(random_text(random, true) + "r", {c});
    graph.estimate_with(a, Hnca{});
    CHECK(is_shown(fmt::format("{}", validate(graph))));
    CHECK(is_shown(to_dot(graph)));
    const std::string said = random_text(random, false);
    CHECK(is_shown(to_string(Diagnostic{.code = said,
                                        .node = said,
                                        .message = said,
                                        .witness = {{said, said}},
                                        .help = {said},
                                        .place = said})));
    for (const GraphFormat format : {GraphFormat::dot, GraphFormat::edge_list, GraphFormat::graphml})
      CHECK(is_shown(refusal([&] {
        parse_graph("digraph { x [kind=\"" + said + "\x1b\"] } " + said, format, standard_catalogue(), said);
      })));
  }
}

TEST_CASE("edge lists are read as networkx writes them") {
  const Graph graph = parse_graph(
      "a b {}\nb c {'weight': 0.5}\nc,d,{'weight': 0.5, 'label': 'x y'}\n{a} {b}\n", GraphFormat::edge_list);
  CHECK(graph.edge_count() == 4);
  CHECK(graph.find("{b}").has_value());
  CHECK(refusal([] { parse_graph("a b {'weight':\n", GraphFormat::edge_list); })
            .starts_with("graph:1: error[file-syntax]: a line of an edge list is a parent and a child, but "
                         "here are 3 words"));
}
