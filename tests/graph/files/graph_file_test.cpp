// Graphs that are written and read again, and what files may leave to defaults.
#include <hindsight/graph/graph_file.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/chunk_nodes.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"
#include "support/same_graph.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

Catalogue catalogue_of_tests() {
  Catalogue catalogue = standard_catalogue();
  catalogue.know<SineVote>().know<SquareSums>().know<ChunkSineVote>().know<ChunkSquareSums>();
  return catalogue;
}

Graph dot(std::string_view text) {
  return parse_graph(text, GraphFormat::dot, standard_catalogue(), "net.dot");
}

}  // namespace

TEST_CASE("what is written and read again is the same graph: 400 random graphs with everything in them") {
  const Catalogue catalogue = catalogue_of_tests();
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    RandomGraph random = random_graph(
        seed, {.nodes = 3 + static_cast<int>(seed % 9), .functions = seed % 2 == 0, .most_states = 1e9});
    choose_estimators(random, seed + 1);
    const std::string text = to_dot(random.graph, catalogue);
    const Graph read = parse_graph(text, GraphFormat::dot, catalogue);
    CHECK(difference(random.graph, read, catalogue) == "");
    CHECK(to_dot(read, catalogue) == text);
  }
}

TEST_CASE("a graph that was read runs bit by bit like the one that was written") {
  const Catalogue catalogue = catalogue_of_tests();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const RandomGraph random = random_graph(seed, {.nodes = 6});
    const Graph read = parse_graph(to_dot(random.graph, catalogue), GraphFormat::dot, catalogue);
    std::vector<std::vector<float>> storage;
    const auto inputs = random.bind(storage);
    std::vector<std::vector<Outcome>> outcomes;
    for (const Graph* graph : {&random.graph, &read}) {
      const Model model = compile(*graph, catalogue, {.seed = seed});
      Workspace run = model.workspace(4);
      model.forward(run, inputs);
      outcomes.emplace_back();
      for (const NodeId node : random.stochastic)
        for (int unit = 0; unit < graph->shape(node).units; ++unit)
          outcomes.back().push_back(run.outcomes(node)(0, unit));
    }
    CHECK(outcomes[0] == outcomes[1]);
  }
}

TEST_CASE("names of all sorts survive") {
  Graph graph;
  std::vector<NodeId> nodes{graph.input("two words", 3)};
  for (const char* name :
       {"node",       "Graph", "strict",       "1st",         "42",     "-1.5", "a\"b", "back\\slash",
        "ends in \\", "\\n",   "<b>",          "größe",       "日本",   "a->b", "{x}",  "[0]",
        "a;b,c=d",    "#",     "# no comment", "estimator:r", "reward", "kind"})
    nodes.push_back(graph.add(name, Bernoulli{}, {nodes.back()}));
  const RewardId odd = graph.reward("r \"1\"", {nodes.back()});
  graph.estimate_with(nodes.back(), odd, Reinforce{});
  graph.estimate_with(nodes[1], odd, Auto{});
  const Catalogue catalogue = standard_catalogue();
  CHECK(difference(graph, parse_graph(to_dot(graph), GraphFormat::dot, catalogue), catalogue) == "");
}

TEST_CASE("numbers survive to the last bit") {
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{.values = {-1.0 / 3, std::nextafter(0.1, 1.0)}}, {});
  graph.add("b", Table{.rows = {{0.1, 0.9}, {1.0 / 3, 2.0 / 3}}, .values = {1e-300, 1e300}}, {a});
  const NodeId c = graph.add("c", Bernoulli{.units = 5}, {a});
  graph.add("d", Bernoulli{.units = 50}, {{c, Pattern::random(1.0 / 3, 18446744073709551615U)}});
  const Catalogue catalogue = standard_catalogue();
  CHECK(difference(graph, parse_graph(to_dot(graph), GraphFormat::dot, catalogue), catalogue) == "");
}

TEST_CASE("a graph without nodes, or without rewards, stays so") {
  const Catalogue catalogue = standard_catalogue();
  CHECK(parse_graph(to_dot(Graph()), GraphFormat::dot, catalogue).node_count() == 0);
  Graph graph;
  graph.add("b", Bernoulli{}, {graph.input("x", 1)});
  CHECK(difference(graph, parse_graph(to_dot(graph), GraphFormat::dot, catalogue), catalogue) == "");
}

TEST_CASE("the file of the design is read as it says") {
  const Graph graph = dot(R"dot(digraph net {
    x [kind=input units=784];  h [kind=bernoulli units=64 values="-1,1" estimator="hnca(assumption=relaxed)"];
    y [kind=categorical classes=10];  r [kind=reward];
    x -> h;  h -> y [density=0.2 seed=3];  y -> r;
})dot");
  Graph expected;
  const NodeId x = expected.input("x", 784);
  const NodeId h = expected.add("h", Bernoulli{.units = 64}, {x});
  const NodeId y = expected.add("y", Categorical{.classes = 10}, {{h, Pattern::random(0.2, 3)}});
  expected.reward("r", {y});
  expected.estimate_with(h, Hnca{.assumption = Assumption::relaxed});
  CHECK(difference(expected, graph, standard_catalogue()) == "");
}

//  a ─→ b ─→ d ─→ (reward)     no kinds: a is an input, what nobody reads feeds a reward
//  └──→ c ─→ e ─↗
TEST_CASE("a plain DOT file, an edge list and GraphML give the same graph with defaults") {
  Graph expected;
  const NodeId a = expected.input("a", 1);
  const NodeId b = expected.add("b", Bernoulli{}, {a});
  const NodeId c = expected.add("c", Bernoulli{}, {a});
  const NodeId d = expected.add("d", Bernoulli{}, {b});
  const NodeId e = expected.add("e", Bernoulli{}, {c});
  expected.reward("reward", {d, e});
  const Catalogue catalogue = standard_catalogue();
  const std::string_view texts[] = {
      "digraph { rankdir=LR; node [shape=box]; a -> { b c }; b -> d [color=red, weight=3]; c -> e; "
      "e [label=<<b>E</b>>] }",
      "strict digraph \"my graph\" {\n# preprocessor\n a->b a->c /* two\nlines */ a->b; b:port:n->d//end\n "
      "c->e }",
      "DIGRAPH x { subgraph cluster_1 { label=\"in\"; a } a -> {subgraph {b; c}} b -> d; \"c\" -> \"\" + "
      "\"e\" }"};
  for (const std::string_view text : texts) {
    CAPTURE(text);
    CHECK(difference(expected, dot(text), catalogue) == "");
  }
  for (const char* text :
       {"a b\na c\nb d\nc e\n", "# comment\r\na -> b\r\na -> c\r\n\r\nb -> d\r\nc -> e\r\n",
        "source,target,weight\na,b,0.5\na,c,1\nb,d,2e3\nc,e,-1", "a;b\na;c\n% other\nb\td\nc  e"}) {
    CAPTURE(text);
    CHECK(difference(expected, parse_graph(text, GraphFormat::edge_list, catalogue), catalogue) == "");
  }
  CHECK(difference(expected,
                   parse_graph(R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="w" for="edge" attr.name="weight"/>
<graph edgedefault="directed"><edge source="a" target="b"><data key="w">1.0</data></edge>
<node id="a"/><node id="b"/><node id="c"/><node id="d"/><node id="e"/>
<edge source="a" target="c"/><edge source="b" target="d"/><edge source="c" target="e"/></graph></graphml>)",
                               GraphFormat::graphml, catalogue),
                   catalogue) == "");
}

TEST_CASE("GraphML brings our attributes along") {
  const Graph graph = parse_graph(R"(<graphml><key id="k" attr.name="kind"/><key id="u" attr.name="units"/>
<key id="d" attr.name="density"/><key id="s" attr.name="seed"/><key id="z" attr.name="colour of the box"/>
<graph edgedefault="undirected"><node id="x"><data key="k">input</data><data key="u">6</data></node>
<node id="h"><data key="u">4</data><data key="z">red</data></node><node id="r"><data key="k">reward</data></node>
<edge source="x" target="h" directed="true"><data key="d">0.5</data><data key="s">7</data></edge>
<edge source="h" target="r" directed="true"/></graph></graphml>)",
                                  GraphFormat::graphml, standard_catalogue());
  Graph expected;
  const NodeId x = expected.input("x", 6);
  expected.reward("r", {expected.add("h", Bernoulli{.units = 4}, {{x, Pattern::random(0.5, 7)}})});
  CHECK(difference(expected, graph, standard_catalogue()) == "");
}

TEST_CASE(
    "GraphML: defaults of keys hold where nothing else is said, and names are UTF-8 whatever the heading") {
  const Graph graph = parse_graph(R"(<?xml version="1.0" encoding="ISO-8859-1"?><graphml>
<key id="u" for="node" attr.name="units"><default>7</default></key>
<graph><node id="größe"/><node id="b"><data key="u">2</data></node><edge source="größe" target="b"/></graph></graphml>)",
                                  GraphFormat::graphml, standard_catalogue());
  CHECK(graph.name(NodeId{0}) == "größe");
  CHECK(graph.shape({0}).units == 7);
  CHECK(graph.shape({1}).units == 2);
}

TEST_CASE("arrows of an edge list need no blanks, and kinds no small letters") {
  const Graph list = parse_graph("a->b\nb->c\n", GraphFormat::edge_list, standard_catalogue());
  CHECK(list.node_count() == 3);
  CHECK(list.edge_count() == 2);
  CHECK(
      dot("digraph { x [kind=Input]; y [kind=Bernoulli]; x -> y; r [kind=REWARD]; y -> r }").reward_count() ==
      1);
  CHECK(format_of("a",
                  "\xEF\xBB\xBF"
                  "digraph {}") == GraphFormat::dot);
}

TEST_CASE("defaults of DOT hold for what comes after them, inside their braces") {
  const Graph graph =
      dot("digraph { x [kind=input]; { node [kind=bernoulli units=3]; edge [density=1 seed=1]; x -> a; a "
          "[units=2] } "
          "b [kind=categorical classes=4]; a -> b; r [kind=reward]; b -> r }");
  CHECK(graph.shape({1}).units == 2);
  CHECK(graph.parents({1})[0].connectivity->drawn_from() == RandomWiring{1, 1});
  CHECK(graph.parents({2})[0].connectivity == nullptr);
  CHECK(graph.shape({2}).outcome_count() == 4);
}

TEST_CASE("nodes are added in the order of the file as far as parents allow") {
  const Graph graph = dot("digraph { d; b; a -> b -> d; a -> c }");
  std::vector<std::string> names;
  for (const NodeId node : graph.nodes()) names.push_back(graph.name(node));
  CHECK(names == std::vector<std::string>{"a", "b", "d", "c"});
}

TEST_CASE("a reward of a plain file finds a name that is free") {
  const Graph graph = parse_graph("x reward\n", GraphFormat::edge_list, standard_catalogue());
  CHECK(graph.name(RewardId{0}) == "reward_");
}

TEST_CASE("the format follows from the ending, then from the beginning") {
  CHECK(format_of("a.gv", "a b") == GraphFormat::dot);
  CHECK(format_of("a.csv", "digraph") == GraphFormat::edge_list);
  CHECK(format_of("a.graphml", "") == GraphFormat::graphml);
  CHECK(format_of("a", "\n strict digraph {}") == GraphFormat::dot);
  CHECK(format_of("a", "  <?xml") == GraphFormat::graphml);
  CHECK(format_of("a", "1 2") == GraphFormat::edge_list);
}

TEST_CASE("estimators are named with whatever options they have") {
  const auto estimator = [](const std::string& text) {
    return parse_graph("digraph { x [kind=input]; a [kind=bernoulli estimator=\"" + text +
                           "\"]; b [kind=bernoulli]; r [kind=reward]; x -> a -> b -> r; }",
                       GraphFormat::dot, "net");
  };
  const Graph graph = estimator("hnca( steps = 3, assumption = relaxed )");
  CHECK(graph.choice({1}).chosen()->name() == "hnca(steps=3,assumption=relaxed)");
  CHECK(to_dot(parse_graph(to_dot(graph), GraphFormat::dot)) == to_dot(graph));
  CHECK(estimator("straight-through(through=clipped)").choice({1}).chosen()->name() ==
        "straight-through(through=clipped)");
  CHECK(refusal([&] { estimator("hnca(steps=0)"); }) ==
        "net:1: error[bad-attribute]: node 'a': steps=\"0\" is not a whole number from 1 to 2147483647\n"
        "  help: steps=1");
  CHECK(refusal([&] { estimator("hnca(assumption=none)"); }) ==
        "net:1: error[bad-attribute]: node 'a': assumption=\"none\" is not one of enforced, relaxed\n"
        "  help: assumption=enforced");
  CHECK(refusal([&] { estimator("hnca(step=2)"); }) ==
        "net:1: error[unknown-attribute]: node 'a': nothing here is called 'step'; did you mean 'steps'?\n"
        "  help: what is understood here: assumption, steps");
}
