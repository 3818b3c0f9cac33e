// GraphML whose elements stand where they mean nothing, and files of all formats that ask for too much.
#include <hindsight/graph/graph_file.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/custom_nodes.hpp"
#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

const std::string help = "\n  help: <graphml><graph edgedefault=\"directed\">…</graph></graphml>";

std::string refused(std::string_view text, GraphFormat format = GraphFormat::dot) {
  return refusal([&] { parse_graph(text, format, standard_catalogue(), "net"); });
}
std::string refused_xml(std::string_view text) { return refused(text, GraphFormat::graphml); }

std::string numbered(const char* letter, int count, const char* after = " ") {
  std::string text;
  for (int i = 0; i < count; ++i) text += letter + std::to_string(i) + after;
  return text;
}

/// Wide enough for a machine that is busy with other things.
template <class Call>
void within_seconds(double most, const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < most);
}

/// Its read takes more memory than there is.
struct Greedy : SineVote {
  static constexpr std::string_view kind = "Greedy";
  static Greedy read(AttributeReader&) { throw std::bad_alloc(); }
  void write(Attributes&) const {}
};

/// Its read fails as no Error does.
struct Failing : SineVote {
  static constexpr std::string_view kind = "Failing";
  static Failing read(AttributeReader&) { throw std::runtime_error("no luck"); }
  void write(Attributes&) const {}
};

}  // namespace

TEST_CASE("elements of GraphML are refused where they have no place") {
  for (const auto& [text, element, place] :
       {std::tuple("<graphml><key id='a'><default><key id='b'/></default></key><graph/></graphml>", "key",
                   "default"),
        {"<graphml><key id='a'><key id='b'/></key><graph/></graphml>", "key", "key"},
        {"<graphml><default>1</default><graph/></graphml>", "default", "graphml"},
        {"<graphml><graph><node id='a'><node id='b'/></node></graph></graphml>", "node", "node"},
        {"<graphml><graph><node id='a'><edge source='a' target='a'/></node></graph></graphml>", "edge",
         "node"},
        {"<graphml><node id='a'/><graph/></graphml>", "node", "graphml"},
        {"<graphml><key id='a'/><graph><node id='n'><data key='a'><data "
         "key='a'/></data></node></graph></graphml>",
         "data", "data"},
        {"<graphml><key id='a'/><graph><node id='n'><data key='a'><node "
         "id='m'/></data></node></graph></graphml>",
         "node", "data"},
        {"<graphml><graph><key id='a'/></graph></graphml>", "key", "graph"},
        {"<graphml><graphml/></graphml>", "graphml", "graphml"}})
    CHECK(refused_xml(text) ==
          fmt::format("net:1: error[file-syntax]: <{}> has no place in <{}>{}", element, place, help));
  CHECK(refused_xml("<graph/>") == "net:1: error[file-syntax]: <graph> stands outside <graphml>" + help);
  CHECK(refused_xml("<graphml><graph><node id='a'><graph/></node></graph></graphml>") ==
        "net:1: error[file-syntax]: the file holds a second <graph>, or one inside another" + help);
  CHECK(refused_xml("<graphml><key id='a'/>\n<key id='a'/><graph/></graphml>") ==
        "net:2: error[file-syntax]: the key 'a' is there already" + help);
  CHECK(refused_xml(
            "<graphml><graph><node id='n'><data key='k'>3</data></node></graph><key id='k'/></graphml>") ==
        "net:1: error[file-syntax]: <data> names the key 'k', and no <key> before it does" + help);
}

TEST_CASE("elements that mean nothing here are passed over with all they hold") {
  const Graph graph = parse_graph(
      "<graphml><desc>x<key id='u'/></desc><key id='u' for='node' attr.name='units'><desc>y</desc>"
      "<default>2<other>9</other></default></key><data key='z'/><graph><data key='z'/><desc>z</desc>"
      "<node id='a'><port name='p'><data key='u'>5</data></port></node><node id='b'><data "
      "key='u'>3<b>4</b></data>"
      "</node><edge source='a' target='b'/></graph><data key='z'/></graphml>",
      GraphFormat::graphml);
  CHECK(graph.node_count() == 2);
  CHECK(graph.shape({0}).units == 2);
  CHECK(graph.shape({1}).units == 3);
}

TEST_CASE("defaults take time and memory once, not per node") {
  std::string keys = "<graphml>";
  for (int i = 0; i < 800; ++i)
    keys += fmt::format("<key id='k{0}' for='node' attr.name='other{0}'><default>1</default></key>", i);
  keys += "<graph>" + [] {
    std::string nodes;
    for (int i = 0; i < 3000; ++i) nodes += fmt::format("<node id='n{}'/>", i);
    return nodes;
  }() + "</graph></graphml>";
  within_seconds(20, [&] { CHECK(refused_xml(keys) == "nothing was refused"); });
  std::string rewards = "digraph { node [kind=bernoulli";
  for (int i = 0; i < 900; ++i) rewards += fmt::format(" \"estimator:r{}\"=auto", i);
  rewards += "]; " + numbered("n", 3000) + "; " + [] {
    std::string list;
    for (int i = 0; i < 900; ++i) list += fmt::format("n0 -> r{0}; r{0} [kind=reward];", i);
    return list;
  }() + "}";
  // r0 … r899 take the defaults, too, and nodes of kind reward understand no estimator.
  within_seconds(20, [&] { CHECK(refused(rewards) != ""); });
  within_seconds(20, [&] {
    CHECK(refused("digraph { node [" + numbered("z", 999) + "]; " + numbered("n", 3000) + "}")
              .starts_with("net:1: error[unknown-attribute]: node 'n0': nothing here is called 'z0'"));
  });
}

TEST_CASE("what need not be written one by one is counted before it is tried") {
  within_seconds(5, [] {
    CHECK(refused("digraph { {" + numbered("a", 7000) + "} -> {" + numbered("b", 7000) + "} }") ==
          "net:1: error[file-size]: groups such as {a b} -> {c d} make 49000000 edges up to here; "
          "10000000 that are not written one by one is the most\n"
          "  help: gather units into populations: h [kind=bernoulli units=64]");
  });
}

// Sanitizers take more address space than that for themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("wires of a billion units are refused by computing them, and by what the process may take") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  const rlimit less{.rlim_cur = rlim_t{4'000'000'000}, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &less) == 0);
  const std::string text =
      refused("digraph { x [kind=input]; y [kind=bernoulli units=1000000000]; x -> y [pattern=\"0>0\"] }");
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(text ==
        "net:1: error[too-large]: node 'y': the edge from 'x', wired unit by unit, would take 32 GB; this "
        "process may "
        "take 4 GB\n"
        "  help: lower the number of units, or make the edge dense");
}
#endif

TEST_CASE("what a node type throws while it reads becomes an Error, running out of memory too") {
  Catalogue catalogue;
  catalogue.know<Greedy>().know<Failing>();
  const auto refused_by = [&](const char* text) {
    return refusal([&] { parse_graph(text, GraphFormat::dot, catalogue, "net"); });
  };
  CHECK(refused_by("digraph { a [kind=greedy] }") ==
        "net: error[too-large]: the graph that it describes takes more memory than there is\n"
        "  help: gather units into populations: h [kind=bernoulli units=64]");
  CHECK(refused_by("digraph { a [kind=failing] }") ==
        "net:1: error[node-threw]: node 'a': its read threw: no luck\n"
        "  help: let it answer whatever it is asked; to refuse with a reason of its own, let it throw Error");
}

TEST_CASE("pipes with nothing in them and paths that are too long come to an end") {
  const ScratchFolder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  within_seconds(20, [&] { CHECK(read_graph(folder / "pipe").node_count() == 0); });
  const std::string text = refusal([&] { read_graph(std::string(100'000, 'a')); });
  CHECK(text.find("…: error[file-unreadable]: it cannot be opened: File name too long\n") == 4096);
}

TEST_CASE("a name of a file is one word for the shell") {
  const auto help_for = [](const std::string& name) {
    const std::string text =
        refusal([&] { parse_graph("\xff", GraphFormat::dot, standard_catalogue(), name); });
    return text.substr(text.find("utf-8 ") + 6);
  };
  CHECK(help_for("net.dot") == "net.dot > converted");
  CHECK(help_for("my net") == "'my net' > converted");
  CHECK(help_for("a';b") == "'a'\\'';b' > converted");
  CHECK(help_for("-o") == "'-o' > converted");
}
