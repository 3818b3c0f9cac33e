#include "tool/methods.hpp"

#include <map>
#include <string>

#include <doctest/doctest.h>
#include <hindsight/hindsight.hpp>

#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using hindsight::testing::refusal;

namespace {

std::string name_of(const std::string& text) { return method_name(parse_credit_method(text)); }

/// x ─→ h1 ─→ h2 ─→ y ─→ r
Graph two_layers(int units) {
  Graph graph;
  const NodeId x = graph.input("x", 3);
  const NodeId first = graph.add("h1", Bernoulli{.units = units}, {x});
  const NodeId second = graph.add("h2", Bernoulli{.units = units}, {first});
  const NodeId y = graph.add("y", Categorical{.classes = 3}, {second});
  graph.reward("r", {y});
  return graph;
}

/// By node, with the baseline where there is one.
std::map<std::string, std::string> credits(Graph graph, const std::string& method) {
  credit_by(graph, parse_credit_method(method));
  const Report report = validate(graph);
  CHECK(report.admissible());
  std::map<std::string, std::string> all;
  for (const CreditVerdict& credit : report.credits)
    all[credit.node] = credit.estimator + (credit.baseline.empty() ? "" : " + " + credit.baseline);
  return all;
}

using Credits = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("a method has one name, however it is written") {
  CHECK(name_of("hnca") == "hnca");
  CHECK(name_of("hnca( assumption = relaxed )") == "hnca");
  CHECK(name_of("hnca(steps=1)") == "hnca");
  CHECK(name_of("  reinforce+leave-one-out( samples=3 ) ") == "reinforce + leave-one-out(samples=3)");
  CHECK(name_of("hnca(assumption=relaxed, steps=2)") == "hnca(steps=2,assumption=relaxed)");
  CHECK(name_of("hnca + none") == "hnca + none");
  CHECK(name_of("hnca + running-mean(decay=5e-1)") == "hnca + running-mean(decay=0.5)");
  for (const std::string text :
       {"hnca", "reinforce", "hnca(steps=3)", "hindsight-credit", "straight-through",
        "straight-through(through=clipped) + none", "hnca + running-mean(decay=0.5)"})
    CHECK(name_of(name_of(text)) == name_of(text));
  CHECK(canonical_method("backprop-tanh") == "backprop-tanh");
  CHECK(canonical_method("hnca+none") == "hnca + none");
}

TEST_CASE("a method that is none is refused with what there is") {
  const std::vector<std::string> others{"own"};
  CHECK(refusal([&] { parse_credit_method("hnka + running-mean", others); }) ==
        "error[option]: there is no method 'hnka'; did you mean 'hnca'?\n"
        "  help: one of: hnca, reinforce, hnca(steps=2), hindsight-credit, straight-through, "
        "straight-through(through=identity), straight-through(through=clipped), own\n"
        "  help: an estimator may have a baseline, e.g. \"hnca + running-mean\": running-mean, "
        "leave-one-out, linear-critic, none");
  const auto said = [](const std::string& text) { return refusal([&] { parse_credit_method(text); }); };
  CHECK(said("hnca + runing-mean") ==
        "error[unknown-baseline]: there is no baseline called 'runing-mean'; did you mean 'running-mean'?\n"
        "  help: baseline one of: running-mean, leave-one-out, linear-critic, none");
  CHECK(said("hnca(stepz=2)").find("did you mean 'steps'?") != std::string::npos);
  CHECK(said("").find("error[option]: there is no method ''\n") == 0);
  for (const char* text : {"hnca +", "hnca + none + none", "hnca(steps=2", "hnca)", "+", "\x1B[31m"})
    CHECK_MESSAGE(said(text).find("error[") == 0, text);
}

TEST_CASE(
    "every node that admits the method's estimator uses it, the others relaxed HNCA or what Auto says") {
  CHECK(credits(two_layers(3), "hnca") ==
        Credits{{"h1", "hnca(assumption=relaxed)"}, {"h2", "hnca(assumption=relaxed)"}, {"y", "reinforce"}});
  CHECK(credits(two_layers(3), "reinforce + running-mean") == Credits{{"h1", "reinforce + running-mean"},
                                                                      {"h2", "reinforce + running-mean"},
                                                                      {"y", "reinforce + running-mean"}});
  CHECK(credits(two_layers(3), "hnca(steps=2)") ==
        Credits{{"h1", "hnca(steps=2)"}, {"h2", "hnca(steps=2)"}, {"y", "reinforce"}});
  CHECK(credits(two_layers(3), "straight-through").at("h1") == "straight-through");
}

//  a ─→ b ─→ c ─→ y ─→ r      Assumption 1 is violated at a
//  └────────↗
TEST_CASE(
    "where a method's estimator is not admissible relaxed HNCA steps in, on nodes of the same network") {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {a});
  const NodeId c = graph.add("c", Bernoulli{}, {a, b});
  graph.reward("r", {graph.add("y", Categorical{.classes = 2}, {c})});
  CHECK(credits(graph, "hnca(steps=2)") == Credits{{"a", "hnca(assumption=relaxed)"},
                                                   {"b", "hnca(steps=2)"},
                                                   {"c", "hnca(steps=2)"},
                                                   {"y", "reinforce"}});
  graph.baseline(b, RunningMean{});
  CHECK(credits(graph, "hnca").at("b") == "hnca(assumption=relaxed) + running-mean");
  CHECK(credits(graph, "hnca + none").at("b") == "hnca(assumption=relaxed)");
}

TEST_CASE("an estimator that would come to plain HNCA is refused with the validator's reason") {
  const auto said = [](const Graph& graph, const std::string& method) {
    return refusal([&] {
      Graph credited = graph;
      credit_by(credited, parse_credit_method(method));
    });
  };
  CHECK(said(two_layers(64), "hnca(steps=2)") ==
        "error[method-inadmissible]: method 'hnca(steps=2)' comes to nothing on this network: node 'h1': "
        "summing out 64 units takes more than 1.84e+19 operations per sample for one unit, more than the "
        "limit of 1e+05; the largest table joins 'h2'; not even 2 steps fit\n"
        "  help: hnca   # one step of hindsight, on any network with hidden units\n"
        "  help: reinforce   # on any network");
  CHECK(said(two_layers(64), "hindsight-credit").find("error[method-inadmissible]") == 0);
  // Nothing lies between a single layer and the reward: two steps are one, and that is no refusal.
  Graph single;
  const NodeId hidden = single.add("h", Bernoulli{.units = 64}, {single.input("x", 3)});
  single.reward("r", {single.add("y", Categorical{.classes = 3}, {hidden})});
  CHECK(credits(single, "hnca(steps=2)").at("h") == "hnca(steps=2)");
  Graph output_alone;
  output_alone.reward("r", {output_alone.add("y", Categorical{.classes = 3}, {output_alone.input("x", 3)})});
  CHECK(said(output_alone, "hnca").find("node 'y': the reward reads it and no child tells its effect") !=
        std::string::npos);
}
