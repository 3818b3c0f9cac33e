// hindsight validate, reduce, draw and train --graph as a person runs them.
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/scratch_folder.hpp"
#include "support/tool_process.hpp"

using namespace hindsight::testing;
using Json = nlohmann::ordered_json;

namespace {

//  x ─→ a ─→ b ─→ c ─→ r
//       └─────────↗
constexpr const char* skip_edge = R"(digraph net {
  x [kind=input units=784];  a [kind=bernoulli units=4];  b [kind=bernoulli units=3 estimator=hnca];
  c [kind=categorical classes=10];  r [kind=reward];
  x -> a -> b -> c -> r;  a -> c;
}
)";

std::string write(const ScratchFolder& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name) << text;
  return folder / name;
}

}  // namespace

TEST_CASE("validate reports for a person, and its exit code is for a script") {
  const ScratchFolder folder;
  const std::string net = write(folder, "net.dot", skip_edge);
  const Ended ended = run(folder, {"validate", net});
  CHECK(ended.code == 1);
  CHECK(ended.said ==
        "4 nodes, 4 edges, 1 reward: admissible, Assumption 1 is violated\n\n"
        "  level  node  kind          Assumption 1  reward  estimator  because\n"
        "  0      x     input ×784    given\n"
        "  1      a     Bernoulli ×4  violated      r       reinforce  not hnca: Assumption 1 is violated\n"
        "  2      b     Bernoulli ×3  holds         r       hnca *     Assumption 1 holds\n"
        "  3      c     Categorical   holds         r       reinforce  not hnca: the reward reads it and no "
        "child "
        "tells its effect\n"
        "  * chosen by estimate_with; the others by Auto\n\n"
        "note[assumption-1]: node 'a': Assumption 1 is violated: 'a' and its descendant 'b' are both parents "
        "of "
        "'c'; credited by reinforce, which does not need the assumption\n"
        "    a ────→ c\n"
        "    a → b → c\n");
  const Ended all = run(folder, {"validate", "--all", net});
  CHECK(all.said.ends_with("  a → c, b\n  1 in all\n"));
}

TEST_CASE("validate says the same as JSON, one object per file") {
  const ScratchFolder folder;
  const std::string net = write(folder, "net.dot", skip_edge),
                    chain = write(folder, "chain.edges", "x a\na b\n");
  const Ended ended = run(folder, {"validate", "--json", net, chain});
  CHECK(ended.code == 1);
  const std::size_t end = ended.said.find('\n');
  const Json first = Json::parse(ended.said.substr(0, end)), second = Json::parse(ended.said.substr(end));
  CHECK(first ==
        Json::parse(R"({"file": ")" + net + R"(", "nodes": 4, "edges": 4, "acyclic": true, "holds": false,
    "violations": [{"node": "a", "child": "c", "coparent": "b", "route": ["a", "b", "c"]}],
    "verdicts": [
      {"node": "a", "reward": "r", "estimator": "reinforce", "baseline": null, "admissible": true, "unbiased": true,
       "reason": "not hnca: Assumption 1 is violated"},
      {"node": "b", "reward": "r", "estimator": "hnca", "baseline": null, "admissible": true, "unbiased": true,
       "reason": "Assumption 1 holds"},
      {"node": "c", "reward": "r", "estimator": "reinforce", "baseline": null, "admissible": true, "unbiased": true,
       "reason": "not hnca: the reward reads it and no child tells its effect"}],
    "errors": [], "warnings": []})"));
  const std::string with = write(folder, "with.dot",
                                 "digraph { x [kind=input]; a [kind=bernoulli "
                                 "baseline=\"running-mean(decay=0.9)\"]; r [kind=reward]; x -> a -> r; }");
  CHECK(Json::parse(run(folder, {"validate", "--json", with}).said)["verdicts"][0]["baseline"] ==
        "running-mean(decay=0.9)");
  CHECK(second["holds"] == true);
  CHECK(second["violations"].empty());
  const Json everything = Json::parse(run(folder, {"validate", "--json", "--all", net}).said);
  CHECK(everything["violations"] == Json::parse(R"([{"node": "a", "child": "c", "coparent": "b"}])"));
}

TEST_CASE("what if every node used one estimator: admissible, policy and bias are told apart") {
  const ScratchFolder folder;
  const std::string net = write(folder, "net.dot", skip_edge);
  const auto verdicts = [&](const char* estimator) {
    return Json::parse(run(folder, {"validate", "--json", "--estimator", estimator, net}).said)["verdicts"];
  };
  const Json hnca = verdicts("hnca");
  CHECK(hnca[0]["admissible"] == false);
  CHECK(hnca[0]["unbiased"] == true);
  CHECK(hnca[0]["reason"] == "policy: Assumption 1 is violated");
  CHECK(hnca[2]["unbiased"] == false);
  CHECK(hnca[2]["reason"] == "biased: the reward reads it and no child tells its effect");
  const Json reinforce = verdicts("reinforce");
  for (const Json& verdict : reinforce) CHECK(verdict["admissible"] == true);
  const Ended unknown = run(folder, {"validate", "--estimator", "hcna", net});
  CHECK(unknown.code == 2);
  CHECK(unknown.said.starts_with("error[option]: there is no estimator 'hcna'; did you mean 'hnca'?\n"));
}

TEST_CASE("strict mode checks inputs, and a graph in which all holds has exit code 0") {
  const ScratchFolder folder;
  const std::string net = write(folder, "net.edges", "x a\na b\nx b\n");
  CHECK(run(folder, {"validate", net}).code == 0);
  const Ended strict = run(folder, {"validate", "--strict", "--json", net});
  CHECK(strict.code == 1);
  CHECK(Json::parse(strict.said)["violations"][0]["node"] == "x");
}

TEST_CASE("a bad file does not hide what is said of the others, and decides the exit code") {
  const ScratchFolder folder;
  const std::string net = write(folder, "net.dot", skip_edge),
                    cycle = write(folder, "cycle.edges", "a b\nb a\n");
  const Ended ended = run(folder, {"validate", cycle, net, folder / "missing"});
  CHECK(ended.code == 2);
  CHECK(ended.said.find(cycle + ":2: error[cycle]: node 'a': 2 nodes read each other in a circle") !=
        std::string::npos);
  CHECK(ended.said.find("4 nodes, 4 edges, 1 reward") != std::string::npos);
  CHECK(ended.said.find("error[file-unreadable]") != std::string::npos);
  const Ended json = run(folder, {"validate", "--json", cycle});
  CHECK(json.code == 2);
  const Json object = Json::parse(json.said);
  CHECK(object["acyclic"] == false);
  CHECK(object["error"]["code"] == "cycle");
  CHECK(object["error"]["route"] == Json::parse(R"(["a", "b", "a"])"));
  CHECK(run(folder, {"validate"}).code == 2);
}

// a ─→ b ─→ c, a billion units each but the last, and one pair a[0] → c: unit by unit this is 100 GB.
TEST_CASE("a report that cannot be made is refused, and claims nothing") {
  const ScratchFolder folder;
  const std::string net =
      write(folder, "net.dot",
            "digraph { a [kind=bernoulli units=1000000000]; b [kind=bernoulli units=1000000000]; c "
            "[kind=bernoulli]; r [kind=reward]; a -> b -> c -> r; a -> c [pattern=\"0>0\"]; }");
  for (const char* all : {"--strict", "--all"}) {
    const Ended text = run(folder, {"validate", all, net});
    CHECK(text.code == 2);
    CHECK(text.said.starts_with("error[too-large]: "));
    const Ended json = run(folder, {"validate", "--json", all, net});
    CHECK(json.code == 2);
    const Json object = Json::parse(json.said);
    CHECK(object["holds"] == nullptr);
    CHECK(object["error"]["code"] == "too-large");
  }
  CHECK(run(folder, {"reduce", net, "-o", folder / "reduced.dot"}).code == 2);
  CHECK(run(folder, {"draw", net, "-o", folder / "net.dot.svg"}).code == 2);
  const std::string empty = write(folder, "empty.dot", "digraph { x [kind=input] }");
  const Json nothing = Json::parse(run(folder, {"validate", "--json", empty}).said);
  CHECK(nothing["holds"] == nullptr);
  CHECK(nothing["violations"].empty());
  CHECK(nothing["errors"].size() == 1);
}

// Sanitizers take more address space than that for themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a command that runs out of memory says so") {
  const ScratchFolder folder;
  for (const int kilobytes : {16'000, 20'000, 25'000, 30'000, 40'000}) {
    CAPTURE(kilobytes);
    const Ended ended =
        run_in_shell(folder, "ulimit -v " + std::to_string(kilobytes) +
                                 "; $hindsight validate --topology random:units=3000,seed=1 >out 2>log");
    CAPTURE(ended.said);
    if (ended.code == 127) continue;  // not even the program fits
    CHECK((ended.code == 1 || (ended.code == 2 && ended.said.starts_with("error[too-large]: "))));
    CHECK(ended.said.find("bad_alloc") == std::string::npos);
  }
}
#endif

TEST_CASE("reduce removes what violates, says so, and its result validates") {
  const ScratchFolder folder;
  const std::string net = write(folder, "net.dot", skip_edge), reduced = folder / "reduced.dot";
  const Ended ended = run(folder, {"reduce", net, "-o", reduced});
  CHECK(ended.code == 0);
  CHECK(ended.said == "removed 1 of 4 edges\n  a -> c\n");
  CHECK(run(folder, {"validate", reduced}).code == 0);
  const Ended again = run(folder, {"reduce", reduced});
  CHECK(again.said.find("removed 0 of 3 edges\n") != std::string::npos);
  CHECK(again.said.find(content(reduced)) != std::string::npos);
}

TEST_CASE("draw makes pictures of files and topologies") {
  const ScratchFolder folder;
  const std::string net = write(folder, "net.dot", skip_edge);
  const Ended both = run(folder, {"draw", net, "-o", folder / "net.svg", "--html", folder / "net.html"});
  CHECK(both.code == 0);
  CHECK(content(folder / "net.svg").find("Bernoulli ×4") != std::string::npos);
  CHECK(content(folder / "net.html").starts_with("<!doctype html>"));
  CHECK(run(folder, {"draw", "--topology", "small-world:units=30", "-o", folder / "world.dot"}).code == 0);
  CHECK(run(folder, {"draw", net}).code == 2);
  CHECK(run(folder, {"draw", "-o", folder / "nothing.svg"}).code == 2);
}

TEST_CASE("graphs from files and topologies train, are checkpointed whole, and go on without the file") {
  const ScratchFolder folder;
  const std::string net = write(folder, "net.dot", skip_edge), out = folder / "run";
  const Ended ended = run(folder, {"train", "--graph", net, "--epochs", "1", "--out", out});
  CHECK(ended.code == 0);
  std::filesystem::remove(net);
  const Ended resumed = run(folder, {"train", "--resume", "--epochs", "2", "--out", out});
  CHECK(resumed.code == 0);
  const std::string metrics = content(out + "/metrics.jsonl");
  CHECK(std::count(metrics.begin(), metrics.end(), '\n') == 2);
  for (const char* method : {"hnca", "reinforce"})
    CHECK(run(folder, {"train", "--topology", "skip:units=8", "--method", method, "--epochs", "1", "--out",
                       folder / method})
              .code == 0);
}

TEST_CASE("graphs that cannot classify images are refused with what they lack") {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& text) {
    const Ended ended =
        run(folder, {"train", "--graph", write(folder, "net.dot", text), "--out", folder / "run"});
    CHECK(ended.code == 2);
    CHECK_FALSE(std::filesystem::exists(folder / "run"));
    return ended.said.substr(0, ended.said.find('\n'));
  };
  const std::string opening =
      "error[graph-cannot-classify]: the graph cannot learn to classify these images: ";
  CHECK(refused("digraph { x [kind=input units=4]; y [kind=categorical classes=10]; r [kind=reward]; x -> y "
                "-> r }") == opening + "its input 'x' has 4 units, an image 784 pixels");
  CHECK(refused("digraph { x [kind=input]; z [kind=input]; y [kind=bernoulli]; r [kind=reward]; {x z} -> y "
                "-> r }") == opening + "it has 2 inputs, not one");
  CHECK(refused("digraph { x [kind=input units=784]; y [kind=bernoulli]; x -> y }") ==
        opening + "it has 0 rewards, not one");
  CHECK(refused("digraph { x [kind=input units=784]; y [kind=bernoulli]; r [kind=reward]; x -> y -> r }") ==
        opening + "'y', which its reward reads, is not a single unit with 10 outcomes");
}
