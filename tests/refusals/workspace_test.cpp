// What models and workspaces refuse before or between runs.
#include <algorithm>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <hindsight/hindsight.hpp>

#include "support/chain.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

std::string readable(double bytes) {
  return bytes < 1e12 ? fmt::format("{:.3g} GB", bytes / 1e9) : fmt::format("{:.3g} TB", bytes / 1e12);
}

std::string memory_of_this_machine() {
  return readable(static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)));
}

}  // namespace

TEST_CASE("a workspace without samples is refused") {
  Chain chain;
  CHECK(chain.refused([&] { chain.model.workspace(0); }) ==
        R"(error[batch-size]: a workspace for 0 samples cannot run; it holds at least 1
  help: model.workspace(16))");
  CHECK(chain.refused([&] { chain.model.workspace(-16); }) ==
        R"(error[batch-size]: a workspace for -16 samples cannot run; it holds at least 1
  help: model.workspace(16))");
  CHECK(chain.model.workspace(1).capacity() == 1);
}

TEST_CASE("a workspace larger than the machine's memory is refused by computing its size") {
  Graph graph;
  graph.reward("r", {graph.add("a", Bernoulli{.units = 100000}, {})});
  const Model model = compile(graph);
  // Per sample: a feature, an outcome and three tables of two for every unit, and the reward.
  CHECK(refusal([&] { model.workspace(2000000000); }) ==
        fmt::format(
            R"(error[too-large]: a workspace for 2000000000 samples would take 6.4 PB; this machine has {}
  help: model.workspace(64)   // and several parts per batch: backward(run, rewards, {{.of = 1024, .continues = true}}))",
            memory_of_this_machine()));
  CHECK(model.workspace(2).capacity() == 2);
}

TEST_CASE("a workspace for no threads, or for more than any machine has, is refused") {
  Chain chain;
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  for (const int threads : {0, -1, 257, 10000, std::numeric_limits<int>::min()})
    CHECK(
        chain.refused([&] { chain.model.workspace(16, {.threads = threads}); }) ==
        fmt::format(
            R"(error[thread-count]: a workspace runs on 1 to 256 threads, not on {}; this machine has {} cores
  help: model.workspace(16, {{.threads = {}}}))",
            threads, cores, std::clamp(cores, 1, 256)));
  CHECK(chain.model.workspace(16, {.threads = 256}).threads() == 256);
  chain.check_runs();
}

TEST_CASE("what is wrong with the samples of a workspace is told before what is wrong with its threads") {
  Chain chain;
  CHECK(chain.refused([&] { chain.model.workspace(0, {.threads = 0}); }) ==
        R"(error[batch-size]: a workspace for 0 samples cannot run; it holds at least 1
  help: model.workspace(16))");
}

TEST_CASE("a plan for instructions that this machine does not have is refused") {
  Chain chain;
  std::string known;
  for (const InstructionSet set : available_instruction_sets())
    known += (known.empty() ? "" : ", ") + std::string(name(set));
  const auto expected = [&](const std::string& wanted) {
    return fmt::format(R"(error[instruction-set]: this machine cannot run a plan for {}; it runs: {}
  help: compile(graph)   // takes the fastest that the machine has)",
                       wanted, known);
  };
  for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    const bool there = known.find(name(set)) != std::string::npos;
    CHECK(refusal([&] { compile(chain.graph, {.instructions = set}); }) ==
          (there ? "nothing was refused" : expected(std::string(name(set)))));
  }
  // No machine has what there is not.
  CHECK(refusal([&] { compile(chain.graph, {.instructions = static_cast<InstructionSet>(99)}); }) ==
        expected("unknown instructions"));
  CHECK(refusal([&] { compile<double>(chain.graph, {.instructions = static_cast<InstructionSet>(-1)}); }) ==
        expected("unknown instructions"));
}

TEST_CASE(
    "a model whose parameters cannot fit into the machine's memory is refused by computing their size") {
  // x(2000000000) ─→ a(1000) ─→ r
  Graph graph;
  const NodeId x = graph.input("x", 2000000000);
  graph.reward("r", {graph.add("a", Bernoulli{.units = 1000}, {x})});
  const std::string rest = fmt::format(
      R"(; this machine has {}
  help: use fewer units, or Pattern::random(density, seed) on the largest edges)",
      memory_of_this_machine());
  CHECK(refusal([&] { compile(graph); }) == "error[too-large]: 2e+12 parameters would take 24 TB" + rest);
  CHECK(refusal([&] { compile<double>(graph); }) ==
        "error[too-large]: 2e+12 parameters would take 32 TB" + rest);
}

TEST_CASE("a stream that cannot be numbered is refused") {
  Chain chain;
  CHECK(chain.refused([&] { chain.run.seek({.stream = 1U << 24}); }) ==
        R"(error[stream-number]: there is no stream 16777216; streams are numbered 0 to 16777215
  help: run.seek({.stream = 1});)");
  CHECK(chain.refused([&] { chain.run.seek({.stream = 4294967295U, .step = 3}); }) ==
        R"(error[stream-number]: there is no stream 4294967295; streams are numbered 0 to 16777215
  help: run.seek({.stream = 1});)");
  chain.run.seek({.stream = (1U << 24) - 1});
  CHECK(chain.run.position().stream == 16777215);
  chain.check_runs();
}

TEST_CASE("a workspace of another model is refused in both directions") {
  Chain chain;
  const Model other = compile(chain.graph, {.seed = 7});
  constexpr const char* expected =
      R"(error[foreign-workspace]: this workspace was made by another model; its arrays do not fit this one
  help: auto run = model.workspace(batch);   // from the model that uses it)";
  CHECK(chain.refused([&] { other.forward(chain.run, {{chain.x, chain.good()}}); }) == expected);
  chain.forward();
  CHECK(chain.refused([&] { other.forward(chain.run, {{chain.x, chain.good()}}); }) == expected);
  CHECK(chain.refused([&] { other.backward(chain.run, {{chain.r, chain.rewards}}); }) == expected);
  chain.model.backward(chain.run, {{chain.r, chain.rewards}});
  chain.check_runs();
}

TEST_CASE("a copy of a model shares its workspaces") {
  Chain chain;
  const Model copy = chain.model;
  copy.forward(chain.run, {{chain.x, chain.good()}});
  chain.model.backward(chain.run, {{chain.r, chain.rewards}});
  chain.check_runs();
}

TEST_CASE("parameters of an unknown name are refused with the names there are") {
  Chain chain;
  constexpr const char* expected = R"(error[unknown-parameter]: there are no parameters called 'a/weight/x'
  help: known: a/weights/x, a/bias, b/weights/a, b/bias)";
  CHECK(chain.refused([&] { chain.model.parameters("a/weight/x"); }) == expected);
  CHECK(chain.refused([&] { std::as_const(chain.model).parameters("a/weight/x"); }) == expected);
  CHECK(chain.refused([&] { chain.run.gradient("a/weight/x"); }) == expected);
  CHECK(chain.model.parameters("a/weights/x").rows() == 2);

  Graph large;
  std::vector<NodeId> nodes;
  for (int i = 0; i < 9; ++i) nodes.push_back(large.add(fmt::format("n{}", i), Bernoulli{}, {}));
  large.reward("r", nodes);
  Model model = compile(large);
  CHECK(refusal([&] { model.parameters(""); }) ==
        R"(error[unknown-parameter]: there are no parameters called ''
  help: known: n0/bias, n1/bias, n2/bias, n3/bias, n4/bias, n5/bias, n6/bias, n7/bias, …)");
}

TEST_CASE("an input has no outcomes and no tables") {
  Chain chain;
  constexpr const char* expected =
      R"(error[input-has-no-outcomes]: node 'x': it is an input: it samples nothing, so there are no outcomes or tables to read
  help: ask for a node that graph.add(…) made)";
  CHECK(chain.refused([&] { chain.run.outcomes(chain.x); }) == expected);
  CHECK(chain.refused([&] { chain.run.log_probs(chain.x); }) == expected);
  CHECK(chain.refused([&] { chain.run.evidence(chain.x); }) == expected);
  CHECK(chain.refused([&] { chain.run.credit(chain.x); }) == expected);
  chain.check_runs();
}

TEST_CASE("an unknown node has no outcomes and no tables") {
  Chain chain;
  CHECK(chain.refused([&] { chain.run.outcomes(NodeId{}); }) ==
        R"(error[unknown-node]: node number -1 does not exist; the model has 3 nodes
  help: use the NodeId that graph.add(…) returned)");
  CHECK(chain.refused([&] { chain.run.log_probs(NodeId{3}); }) ==
        R"(error[unknown-node]: node number 3 does not exist; the model has 3 nodes
  help: use the NodeId that graph.add(…) returned)");
  chain.check_runs();
}

TEST_CASE("what was moved from is refused, and works again once something is moved to it") {
  Chain chain;
  const std::string expected =
      R"(error[moved-from]: this model or workspace was moved from; another has what it held
  help: use the one that it was moved to, or compile(graph) another)";
  Model kept = std::move(chain.model);
  Model& model = chain.model;
  CHECK(model.parameters().empty());
  for (const std::string& refused :
       {refusal([&] { model.workspace(4); }), refusal([&] { model.forward(chain.run, {}); }),
        refusal([&] { model.backward(chain.run, {}); }), refusal([&] { model.parameters("b/bias"); }),
        refusal([&] { model.range("b/bias"); }), refusal([&] { model.range(chain.x); }),
        refusal([&] { model.parameter_names(); }), refusal([&] { model.replicas(); }),
        refusal([&] { model.instructions(); }), refusal([&] { model.report(); }),
        refusal([&] { enumerate(model, {}, {}); })})
    CHECK(refused == expected);

  Workspace kept_run = std::move(chain.run);
  Workspace& run = chain.run;
  for (const std::string& refused :
       {refusal([&] { kept.forward(run, {}); }), refusal([&] { kept.backward(run, {}); }),
        refusal([&] { run.capacity(); }), refusal([&] { run.samples(); }), refusal([&] { run.threads(); }),
        refusal([&] { run.outcomes(chain.x); }), refusal([&] { run.values(chain.x); }),
        refusal([&] { run.log_probs(chain.x); }), refusal([&] { run.evidence(chain.x); }),
        refusal([&] { run.evidence(chain.x, RewardId{0}); }), refusal([&] { run.credit(chain.x); }),
        refusal([&] { run.gradient(); }), refusal([&] { run.gradient("b/bias"); }),
        refusal([&] { run.rewards(RewardId{0}); }), refusal([&] { run.baselines(); }),
        refusal([&] { std::as_const(run).baselines(); }), refusal([&] { run.position(); }),
        refusal([&] { run.seek({}); }), refusal([&] { const Workspace copy = run; })})
    CHECK(refused == expected);

  model = std::move(kept);
  run = std::move(kept_run);
  chain.check_runs();
}

TEST_CASE("a graph that was moved from is empty and can be built anew") {
  Graph graph;
  graph.reward("r", {graph.add("a", Bernoulli{.units = 3}, {graph.input("x", 2)})});
  const Graph kept = std::move(graph);
  CHECK(kept.unit_count() == 5);
  CHECK(kept.edge_count() == 1);
  CHECK(graph.node_count() == 0);
  CHECK(graph.unit_count() == 0);
  CHECK(graph.edge_count() == 0);
  CHECK(!graph.find("a"));
  const NodeId b = graph.add("a", Bernoulli{.units = 2}, {graph.input("x", 2)});
  CHECK(graph.first_unit(b) == 2);
  graph.reward("r", {b});
  CHECK(compile(graph).parameters().size() == 6);
}
