// What is said of graphs that come from files speaks the language of files.
#include <hindsight/graph/graph_file.hpp>

#include <string>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/custom_nodes.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

std::string refused_words(std::string_view text) {
  return refusal([&] { parse_graph(text, GraphFormat::dot, standard_catalogue(), "net"); });
}

/// The lines of help in the report, and nothing else.
std::string help_for(std::string_view text, const ValidateOptions& options = {}) {
  const Report report = validate(parse_graph(text, GraphFormat::dot), options);
  std::string lines;
  for (const Diagnostic& diagnostic : report.diagnostics)
    for (const std::string& line : diagnostic.help) lines += line + "\n";
  return lines;
}

}  // namespace

TEST_CASE("help for a graph that was read is written as attributes of its file") {
  CHECK(
      help_for("digraph { \"my a\" [kind=bernoulli estimator=hnca]; b [kind=bernoulli]; c [kind=bernoulli]; "
               "r [kind=reward]; \"my a\" -> b -> c -> r; \"my a\" -> c }") ==
      "\"my a\" [estimator=\"hnca(assumption=relaxed)\"];   // unbiased on any DAG; for one reward, never "
      "more variance "
      "than "
      "REINFORCE\n"
      "\"my a\" [estimator=reinforce];   // unbiased everywhere, usually more variance\n"
      "or drop the edge my a → c\n");
  CHECK(help_for("digraph { a [kind=bernoulli \"estimator:r\"=hnca]; r [kind=reward]; s [kind=reward]; a -> "
                 "{r s} }") ==
        "a [\"estimator:r\"=reinforce];   // unbiased everywhere, usually more variance\n");
  CHECK(help_for("digraph { x [kind=input] }") == "a [kind=bernoulli];\n");
  CHECK(help_for("digraph { a [kind=bernoulli] }") == "reward [kind=reward]; a -> reward;\n");
  CHECK(help_for("digraph { a [kind=bernoulli]; f [kind=tanh]; r [kind=reward]; a -> f -> r }") ==
        "let the reward read a stochastic node instead, e.g. action [kind=categorical classes=2]; f -> "
        "action;\n");
  CHECK(help_for("digraph { a [kind=bernoulli values=\"1e39,0\"]; r [kind=reward]; a -> r }") ==
        "a [values=\"-1,1\"];\n");
  CHECK(help_for("digraph { a [kind=bernoulli estimator=\"straight-through\" baseline=\"running-mean\"]; "
                 "b [kind=bernoulli]; r [kind=reward]; a -> b -> r }")
            .find("a [baseline=none];\n") != std::string::npos);
  CHECK(help_for(
            "digraph { a [kind=bernoulli \"baseline:r\"=\"leave-one-out(samples=2)\"]; "
            "b [kind=bernoulli baseline=\"leave-one-out(samples=4)\"]; r [kind=reward]; a -> r; b -> r }") ==
        "b [\"baseline:r\"=none];   // or one that wants as many\n");
  CHECK(
      help_for("digraph { a [kind=bernoulli \"estimator:r\"=\"straight-through\" \"estimator:s\"=reinforce]; "
               "b [kind=bernoulli]; r [kind=reward]; s [kind=reward]; a -> b; b -> {r s} }") ==
      "a [\"estimator:s\"=\"straight-through\"];   // for all\n"
      "a [\"estimator:r\"=auto];   // for none\n"
      "a [\"estimator:r\"=\"hnca(assumption=relaxed)\"];   // unbiased on any DAG, needs no slopes\n"
      "a [\"estimator:r\"=reinforce];   // unbiased everywhere, usually more variance\n");
  const std::string deep = help_for(
      "digraph { a [kind=bernoulli estimator=\"hnca(steps=3)\"]; b [kind=bernoulli]; c [kind=bernoulli]; "
      "d [kind=bernoulli]; r [kind=reward]; a -> b -> c -> d -> r }",
      {.elimination_limit = 0});
  CHECK(deep.find("a [estimator=hnca];   // one step\n") != std::string::npos);
  CHECK(deep.find("graph.estimate_with") == std::string::npos);
}

TEST_CASE("a graph that a program builds is helped in C++, and a reduced one as what it came from") {
  Graph graph;
  graph.add("a", Bernoulli{}, {});
  CHECK(validate(graph).diagnostics[0].help[0] == "graph.reward(\"reward\", {a});");
  const Graph read = parse_graph("a b\nb c\na c\n", GraphFormat::edge_list);
  CHECK(read.origin() == Origin::file);
  CHECK(reduce(read, InputPolicy::checked).graph.origin() == Origin::file);
}

TEST_CASE("what nodes refuse is helped in attributes") {
  CHECK(refused_words("digraph { b [kind=bernoulli values=\"1,1\"] }") ==
        "net:1: error[values]: node 'b': its values 1 and 1 must be finite and different, or its children "
        "could not "
        "tell its outcomes apart\n"
        "  help: values=\"0,1\"   // or leave it out: -1,1 is the default");
  CHECK(refused_words("digraph { c [kind=categorical classes=1] }") ==
        "net:1: error[one-class]: node 'c': a Categorical chooses among at least 2 classes, not 1\n"
        "  help: classes=2");
  for (const char* text :
       {"digraph { x [kind=input]; y [kind=bernoulli]; x -> y [density=2] }",
        "digraph { x [kind=input units=2000000]; y [kind=bernoulli units=2000000]; x -> y [density=0.5] }",
        "digraph { x [kind=input]; t [kind=table rows=\"0.5,0.5\"]; x -> t }", "digraph { t [kind=table] }",
        "digraph { t [kind=table rows=\"0.5,0.5\" values=\"1\"] }", "digraph { \"\" [kind=input] }",
        "digraph { r [kind=reward] }", "digraph { x [kind=input estimator=hnca] }",
        "digraph { f [kind=tanh estimator=hnca] }",
        "digraph { a [kind=bernoulli baseline=\"running-mean(decay=1)\"]; r [kind=reward]; a -> r }",
        "digraph { a [kind=bernoulli baseline=\"leave-one-out(samples=1)\"]; r [kind=reward]; a -> r }",
        "digraph { a [kind=bernoulli baseline=\"linear-critic(rate=2)\"]; r [kind=reward]; a -> r }"}) {
    CAPTURE(text);
    const std::string said = refused_words(text);
    CHECK(said.starts_with("net:1: error["));
    for (const char* word :
         {"graph.", "Bernoulli{", "Categorical{", "Table{", "Edge{", "Pattern::", "{.", " ."}) {
      CAPTURE(said);
      CHECK(said.find(word, said.find("help:")) == std::string::npos);
    }
  }
}

TEST_CASE("values that float cannot hold are refused before anything runs, also in C++") {
  Graph graph;
  graph.reward("r", {graph.add("b", Bernoulli{.values = {1e39, 0}}, {})});
  CHECK(to_string(validate(graph).diagnostics.at(0)) ==
        "error[values]: node 'b': its value 1e+39 is infinite as a float, which holds up to 3.4e+38\n"
        "  help: .values = {-1, 1}");
  CHECK_THROWS_AS(compile(graph), Error);
}

TEST_CASE("where nodes have kinds, one that only edges mention is refused") {
  CHECK(refused_words("digraph { x [kind=input]; hidden [kind=bernoulli];\n x -> hiden }") ==
        "net:2: error[undeclared-node]: node 'hiden': only edges mention it, in a file whose nodes have "
        "kinds; did "
        "you mean 'hidden'?\n"
        "  help: hiden [kind=bernoulli];");
  CHECK(refused_words("digraph { x [kind=input]; x -> {\"a b\"} }") ==
        "net:1: error[undeclared-node]: node 'a b': only edges mention it, in a file whose nodes have kinds\n"
        "  help: \"a b\" [kind=bernoulli];");
  for (const char* text :
       {"digraph { x [kind=input]; y; x -> y }", "digraph { x [kind=input]; {y; z} x -> y -> z }",
        "digraph { x [kind=input]; node [kind=bernoulli]; x -> y -> z }",
        "digraph { x [kind=input]; y []; x -> y }", "digraph { x [kind=input]; subgraph s { {y} } x -> y }"})
    CHECK(refused_words(text) == "nothing was refused");
  CHECK(refused_words("digraph { node; a [kind=input] }")
            .starts_with("net:1: error[file-syntax]: '[' after node is expected, but here is ';'"));
}

TEST_CASE("blanks around auto and none mean nothing, and nobody is asked for what he wrote") {
  CHECK(
      refused_words(
          "digraph { a [kind=bernoulli estimator=\" auto\" baseline=\"none \"]; r [kind=reward]; a -> r }") ==
      "nothing was refused");
  CHECK(refused_words("digraph { a [kind=bernoulli baseline=\"none(x=1)\"]; r [kind=reward]; a -> r }")
            .find("mean 'none'") == std::string::npos);
  const std::vector<std::string> known{"none"};
  CHECK(did_you_mean("none", known) == "");
  CHECK(did_you_mean("nome", known) == "; did you mean 'none'?");
  CHECK(did_you_mean("x", std::vector<std::string>{"r"}) == "");
}
