// Files that are refused: every message in full, with file and line.
#include <hindsight/graph/graph_file.hpp>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/custom_nodes.hpp"
#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"
#include "support/share.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

std::string refused(std::string_view text, GraphFormat format = GraphFormat::dot) {
  return refusal([&] { parse_graph(text, format, standard_catalogue(), "net"); });
}

std::string refused_list(std::string_view text) { return refused(text, GraphFormat::edge_list); }
std::string refused_xml(std::string_view text) { return refused(text, GraphFormat::graphml); }

}  // namespace

TEST_CASE("a cycle is its own witness, without what leads to it") {
  CHECK(refused_list("x a\na b\nb c\nc d\nd b\n") ==
        "net:5: error[cycle]: node 'b': 3 nodes read each other in a circle, so none could be sampled first\n"
        "    b → c → d → b\n"
        "  help: leave out one of these edges, e.g. d -> b");
}

TEST_CASE("self-loops, edges that are there twice and children of rewards are refused in their line") {
  CHECK(refused("digraph {\n x -> a;\n a -> a }") ==
        "net:3: error[self-loop]: node 'a': it is its own parent; a graph without cycles has no such edge\n"
        "  help: leave out a -> a");
  CHECK(refused("digraph {\n x -> a;\n\n x -> a }") ==
        "net:4: error[duplicate-edge]: node 'a': the edge x → a is there already, in line 2\n"
        "  help: list each edge once; pattern=\"0>1 0>5\" joins any set of units");
  CHECK(refused("digraph { x -> a -> r\n r [kind=reward]\n r -> b }") ==
        "net:3: error[reward-has-child]: node 'r': it is a reward, and 'b' reads it; a reward ends a route\n"
        "  help: leave out r -> b");
  CHECK(refused("digraph { x [kind=input]\n y [kind=input]; x -> y }") ==
        "net:2: error[input-has-parent]: node 'y': it is an input, which is given, and yet it has the parent "
        "'x'\n"
        "  help: y [kind=bernoulli]");
}

TEST_CASE("what is misspelt is asked after") {
  CHECK(refused("digraph {\n x [kind=input unit=3] }") ==
        "net:2: error[unknown-attribute]: node 'x': nothing here is called 'unit'; did you mean 'units'?\n"
        "  help: what is understood here: kind, estimator, baseline, units");
  CHECK(refused("digraph { y [kind=categorical class=10] }") ==
        "net:1: error[unknown-attribute]: node 'y': nothing here is called 'class'; did you mean 'classes'?\n"
        "  help: what is understood here: kind, estimator, baseline, units, classes");
  CHECK(
      refused("digraph { x -> y\n [densty=0.5] }") ==
      "net:1: error[unknown-attribute]: node 'y': nothing here is called 'densty'; did you mean 'density'?\n"
      "  help: what is understood here: density, seed, pattern");
  CHECK(refused("digraph { y [kind=bernouli] }") ==
        "net:1: error[unknown-kind]: node 'y': there is no kind of node called 'bernouli'; did you mean "
        "'bernoulli'?\n"
        "  help: kind one of: input, reward, bernoulli, categorical, table, tanh, relu, sigmoid, identity");
  CHECK(
      refused("digraph { y [kind=bernoulli estimator=nhca] }") ==
      "net:1: error[unknown-estimator]: node 'y': there is no estimator called 'nhca'; did you mean 'hnca'?\n"
      "  help: estimator one of: hnca, reinforce, hnca(assumption=relaxed), hnca(steps=2), hindsight-credit, "
      "straight-through, straight-through(through=identity), straight-through(through=clipped), auto");
  CHECK(
      refused("digraph { y [kind=bernoulli \"estimator:r\"=hnca] }") ==
      "net:1: error[unknown-reward]: node 'y': 'estimator:r' speaks of a reward that the file does not have\n"
      "  help: estimator=hnca   // for all rewards");
  CHECK(refused("digraph { units=3 }") ==
        "net:1: error[unknown-attribute]: a graph has no attribute 'units'; nodes and edges have some\n"
        "  help: h [kind=bernoulli units=64];");
  CHECK(refused_xml("<graphml><key id='k' attr.name='unit'/><graph><node id='a'><data key='k'>3</data></node>"
                    "</graph></graphml>") ==
        "net:1: error[unknown-attribute]: node 'a': nothing here is called 'unit'; did you mean 'units'?\n"
        "  help: what is understood here: kind, estimator, baseline, units");
}

TEST_CASE("values that mean nothing are refused with what they should be") {
  CHECK(refused("digraph { x [kind=input units=1000000000000] }") ==
        "net:1: error[bad-attribute]: node 'x': units=\"1000000000000\" is not a whole number from 1 to "
        "2147483647\n"
        "  help: units=1");
  CHECK(refused("digraph { x -> y [density=often] }") ==
        "net:1: error[bad-attribute]: node 'y': density=\"often\" is not a finite number\n"
        "  help: density=1");
  CHECK(refused("digraph { x -> y [seed=-1] }") ==
        "net:1: error[bad-attribute]: node 'y': seed=\"-1\" is not a whole number from 0 to 2^64 - 1\n"
        "  help: seed=0");
  CHECK(refused("digraph { x -> y [density=\"+0.5\" seed=\" +2 \"] }") == "nothing was refused");
  for (const char* values : {"+-1,1", "++1,1", "+,1", "-+1,1"})
    CHECK(refused(fmt::format("digraph {{ y [kind=bernoulli values=\"{}\"] }}", values))
              .starts_with("net:1: error[bad-attribute]: node 'y'"));
  CHECK(refused("digraph { x -> y [pattern=\"0>0 1\"] }") ==
        "net:1: error[bad-attribute]: node 'y': the pattern holds '1', which is no pair of units\n"
        "  help: pattern=\"0>1 0>5\"   // unit of the parent > unit of the child");
  CHECK(refused("digraph { x -> y [pattern=\"0>0\" density=1] }") ==
        "net:1: error[bad-attribute]: node 'y': the edge has both a pattern, which lists its pairs, and a "
        "density "
        "or a seed, which draw them\n"
        "  help: [density=0.2 seed=3]\n"
        "  help: [pattern=\"0>1 0>5\"]");
  CHECK(refused("digraph { b [kind=bernoulli values=\"nan,1\"] }") ==
        "net:1: error[bad-attribute]: node 'b': values=\"nan,1\" is not a list of finite numbers\n"
        "  help: values=\"-1,1\"");
  CHECK(refused("digraph { b [kind=bernoulli values=\"1\"] }") ==
        "net:1: error[values]: node 'b': it has 1 values; a Bernoulli has two, one per outcome\n"
        "  help: values=\"0,1\"");
  CHECK(refused("digraph {\n t [kind=table rows=\"0.5,0.6\"] }") ==
        "net:2: error[table-rows]: node 't': row 0 of its table, {0.5, 0.6}, sums to 1.1, not to 1\n"
        "  help: make the entries of each row non-negative and their sum 1");
}

TEST_CASE("absurd sizes are refused by computing them") {
  CHECK(refused("digraph { x [kind=input units=2000000000]; y [kind=bernoulli units=2000000000]; x -> y }")
            .starts_with(
                "net:1: error[too-many-units]: node 'y': with its 2000000000 units the graph would have "
                "4000000000; 2147483647 is the most"));
  CHECK(refused(
            "digraph { x [kind=input units=100000]; y [kind=bernoulli units=100000]; x -> y [density=0.9] }")
            .starts_with(
                "net:1: error[too-large]: node 'y': the edge from 'x', wired unit by unit, would take 216 "
                "GB; this machine has "));
  std::string many = "digraph { {";
  for (int i = 0; i < 8000; ++i) many += " a" + std::to_string(i);
  many += " } -> {";
  for (int i = 0; i < 8000; ++i) many += " b" + std::to_string(i);
  CHECK(refused(many + "} }") ==
        "net:1: error[file-size]: groups such as {a b} -> {c d} make 64000000 edges up to here; 10000000 "
        "that are "
        "not written one by one is the most\n"
        "  help: gather units into populations: h [kind=bernoulli units=64]");
}

TEST_CASE("texts that are no graphs are refused where they stop to be one") {
  const std::string help = "\n  help: digraph net { x [kind=input units=784]; x -> h; }";
  CHECK(refused("") == "net:1: error[file-syntax]: 'digraph' is expected, but the file ends" + help);
  CHECK(refused("digraph {\n a -> b;\n") ==
        "net:3: error[file-syntax]: a node, an edge or '}' is expected, but the file ends" + help);
  CHECK(refused("digraph { a -> }") ==
        "net:1: error[file-syntax]: the name of a node is expected, but here is '}'" + help);
  CHECK(refused("digraph { a -- b }") ==
        "net:1: error[file-syntax]: '->' is expected, but here is '--'" + help);
  CHECK(refused("digraph { a -> b = c }") ==
        "net:1: error[file-syntax]: a node, an edge or '}' is expected, but here is '='" + help);
  CHECK(refused("digraph { a [kind=] }") ==
        "net:1: error[file-syntax]: a value is expected, but here is ']'" + help);
  CHECK(refused("digraph { } digraph { }") ==
        "net:1: error[file-syntax]: the end of the file: it holds one graph is expected, but here is "
        "'digraph'" +
            help);
  CHECK(refused("graph { a -- b }") ==
        "net:1: error[file-syntax]: edges of a `graph` have no direction, so parents and children cannot be "
        "told "
        "apart\n"
        "  help: digraph net { a -> b; }");
  CHECK(refused("digraph { \"a\n }") ==
        "net:1: error[file-syntax]: a quoted name begins here and never ends\n"
        "  help: end it with a quotation mark");
  CHECK(refused("digraph { \"a\" + b }") ==
        "net:1: error[file-syntax]: '+' joins two quoted strings, but no second one follows\n"
        "  help: \"a long \" + \"name\"");
  CHECK(refused("digraph {\n/* }") ==
        "net:2: error[file-syntax]: a comment begins here and never ends\n"
        "  help: /* … */");
  CHECK(refused("digraph { a [label=<<b>] }") ==
        "net:1: error[file-syntax]: a label in angle brackets begins here and never ends\n"
        "  help: <…>");
  CHECK(refused("digraph { a & b }") ==
        "net:1: error[file-syntax]: no name, number or mark begins with '&'\n"
        "  help: put names with other characters into quotes: \"a+b\"");
  CHECK(refused("digraph {" + std::string(100000, '{')) ==
        "net:1: error[file-syntax]: subgraphs are nested more than 100 deep\n"
        "  help: subgraphs mean nothing here but groups of nodes; leave them out");
  CHECK(refused_list("a b\nthis is prose\n") ==
        "net:2: error[file-syntax]: a line of an edge list is a parent and a child, but here are 3 words, "
        "the third "
        "of them 'prose'\n"
        "  help: a b\n"
        "  help: or a file that begins with 'digraph'");
  CHECK(refused_list(std::string(5000, 'a')) ==
        "net:1: error[file-syntax]: a name of 5000 bytes begins here, 'aaaaaaaaaaaaaaaaaaaa…'; 4096 is the "
        "most\n"
        "  help: is this a graph file?");
  CHECK(refused_list("a b/c\n") ==
        "net:1: error[bad-name]: node 'b/c': the name \"b/c\" holds a '/' or a control character; '/' "
        "separates a "
        "node from its parameters\n"
        "  help: use letters, digits, '_', '.' or spaces");
}

TEST_CASE("long names are cut between characters, so that what is said stays UTF-8") {
  std::string name = "a";
  for (int i = 0; i < 50; ++i) name += "ö";
  const std::string text = refused("digraph { y [kind=\"" + name + "\"] }");
  CHECK(text.find("'aööööööööööööööööööööööööööööö…'") != std::string::npos);
}

TEST_CASE("small files cannot ask for much memory through their attributes") {
  std::string many = "digraph { a [";
  for (int i = 0; i < 2000; ++i) many += " z" + std::to_string(i);
  CHECK(refused(many + "] }")
            .starts_with("net:1: error[file-size]: a node or edge has more than 1000 attributes"));

  std::string shared = "digraph { {";
  for (int i = 0; i < 500; ++i) shared += " a" + std::to_string(i);
  shared += "} -> {";
  for (int i = 0; i < 500; ++i) shared += " b" + std::to_string(i);
  // Kept once, 250,000 edges or not; and what is Graphviz' is not kept at all.
  shared += "} [label=\"" + std::string(100'000, 'x') + "\" density=1 seed=\"" + std::string(100'000, ' ') +
            "1\"] }";
  CHECK(refused(shared) == "nothing was refused");

  std::string defaults = "digraph { node [units=\"" + std::string(10'000'000, ' ') + "1\"];";
  for (int i = 0; i < 200; ++i) defaults += " n" + std::to_string(i);
  CHECK(refused(defaults + "}").starts_with("net:1: error[file-size]: attributes would take more than"));
}

TEST_CASE("arrows and numbers that are not whole are not taken for names") {
  CHECK(refused_list("a ->\n") ==
        "net:1: error[file-syntax]: an arrow joins two names, but here is only 'a'\n"
        "  help: a -> b");
  for (const char* text : {"digraph { a - b }", "digraph { . }", "digraph { -. }"})
    CHECK(refused(text).find("error[file-syntax]: no name, number or mark begins with") != std::string::npos);
}

TEST_CASE("strict merges repeated edges only where they say the same") {
  CHECK(refused("strict digraph { x -> a [density=0.5 seed=2]; x -> a [density=0.5 seed=2] }") ==
        "nothing was refused");
  CHECK(refused("strict digraph {\n x -> a;\n x -> a [density=0.5 seed=2] }") ==
        "net:3: error[duplicate-edge]: node 'a': the edge x → a is there already, in line 2\n"
        "  help: list each edge once; pattern=\"0>1 0>5\" joins any set of units");
}

TEST_CASE("edges into rewards have no attributes") {
  CHECK(refused("digraph { x; y; x -> y; r [kind=Reward]\n y -> r [density=1] }") ==
        "net:2: error[unknown-attribute]: node 'r': an edge into a reward has no attributes, but here is "
        "'density'\n"
        "  help: leave it out; a reward reads all units of its nodes");
}

TEST_CASE("XML that is none, or no graph, is refused in its line") {
  const std::string help = "\n  help: <graphml><graph edgedefault=\"directed\">…</graph></graphml>";
  CHECK(refused_xml("<graphml>\n<graph>") ==
        "net:2: error[file-syntax]: this is no XML: no element found" + help);
  CHECK(refused_xml("<html/>") == "net:1: error[file-syntax]: the file holds no <graph>" + help);
  CHECK(refused_xml("<graphml><graph>\n<node/></graph></graphml>") ==
        "net:2: error[file-syntax]: <node> lacks its attribute id" + help);
  CHECK(refused_xml("<graphml><graph/><graph/></graphml>") ==
        "net:1: error[file-syntax]: the file holds a second <graph>, or one inside another" + help);
  CHECK(refused_xml(
            "<graphml><graph edgedefault='undirected'>\n<edge source='a' target='b'/></graph></graphml>") ==
        "net:2: error[file-syntax]: the edge has no direction, so parent and child cannot be told apart" +
            help);
  CHECK(refused_xml("<graphml><graph><hyperedge/></graph></graphml>") ==
        "net:1: error[file-syntax]: hyperedges join more than two nodes and mean nothing here" + help);
  CHECK(refused_xml("<graphml><graph>\n<edge source='a' target='b'/></graph></graphml>") ==
        "net:2: error[file-syntax]: an edge names 'a', which is no <node>\n"
        "  help: <node id=\"a\"/>");
  CHECK(refused_xml("<graphml><graph><node id='a'/>\n<node id='a'/></graph></graphml>") ==
        "net:2: error[file-syntax]: the node 'a' is there already" + help);
  std::string deep;
  for (int i = 0; i < 200000; ++i) deep += "<a>";
  CHECK(refused_xml(deep) == "net:1: error[file-syntax]: this is no XML: no element found" + help);
}

TEST_CASE("bytes that are no UTF-8 are refused in their line") {
  const std::string help = "\n  help: iconv -f latin1 -t utf-8 net > converted";
  for (const GraphFormat format : {GraphFormat::dot, GraphFormat::edge_list, GraphFormat::graphml}) {
    CHECK(refused("digraph {\n gr\xF6\xDF"
                  "e }",
                  format) ==
          "net:2: error[file-encoding]: the byte 0xf6 is no part of a text in UTF-8" + help);
    CHECK(refused(std::string_view("a\0b", 3), format) ==
          "net:1: error[file-encoding]: the byte 0x00 is no part of a text in UTF-8" + help);
    for (const char* bytes : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80", "\xF8"})
      CHECK(refused(bytes, format).starts_with("net:1: error[file-encoding]"));
  }
}

TEST_CASE("megabytes of garbage are refused, with a line, and soon") {
  std::mt19937_64 random(7);
  const std::size_t size = share(100'000'000U);
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t word = random();
    std::copy_n(reinterpret_cast<const char*>(&word), 8, bytes.data() + i);
  }
  std::string letters = bytes;
  for (char& c : letters) c = static_cast<char>("abc \n->{}[];=\"<"[static_cast<unsigned char>(c) % 15]);
  for (const std::string& garbage : {bytes, letters, std::string(size, 'a'), std::string(size, '\n'),
                                     "digraph {" + std::string(size, ' ')})
    for (const GraphFormat format : {GraphFormat::dot, GraphFormat::graphml, GraphFormat::edge_list}) {
      const std::string text = refused(garbage, format);
      // As lists of edges, nothing but blanks is an empty graph, and two words are an edge.
      const bool may_pass = format == GraphFormat::edge_list && (garbage[0] == '\n' || garbage[0] == 'd');
      CHECK((text.starts_with("net:") || (may_pass && text == "nothing was refused")));
      CHECK(text.size() < 400);
    }
}

TEST_CASE("files that cannot be read say why") {
  const ScratchFolder folder;
  const auto refused_file = [&](const std::filesystem::path& path) {
    return refusal([&] { read_graph(path); });
  };
  CHECK(refused_file(folder / "missing.dot") ==
        folder / "missing.dot" +
            ": error[file-unreadable]: it cannot be opened: No such file or directory\n"
            "  help: check its name and rights");
  CHECK(refused_file(folder.path()) == folder.path().string() +
                                           ": error[file-unreadable]: this is a folder, not a file\n"
                                           "  help: name a file in it");
  CHECK(refused_file("/dev/zero")
            .starts_with("/dev/zero: error[file-size]: it is larger than 1073741824 bytes"));
}

TEST_CASE("what the catalogue does not know is refused on writing, by name") {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId vote = graph.add("vote", SineVote{}, {x});
  graph.reward("r", {vote});
  CHECK(refusal([&] { to_dot(graph); }) ==
        "error[cannot-write]: node 'vote': its kind, SineVote, is not in the catalogue, so no file could "
        "bring it "
        "back\n"
        "  help: catalogue.know<MyNode>();   // with read and write, see docs/graph_files.md");
  Catalogue catalogue;
  catalogue.know<SineVote>();
  CHECK(refusal([&] { to_dot(graph, catalogue); }) == "nothing was refused");
  graph.estimate_with(vote, Reinforce{});
  CHECK(refusal([&] { to_dot(graph, catalogue); }) ==
        "error[cannot-write]: node 'vote': its estimator, reinforce, is not in the catalogue, so no file "
        "could bring "
        "it back\n"
        "  help: catalogue.offer(MyEstimator{});   // comparable by ==");
}
