// Whatever a file holds: validate, reduce and draw end in seconds, with 0, 1 or 2, and say why.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/scratch_folder.hpp"
#include "support/tool_process.hpp"

using namespace hindsight::testing;
using namespace std::string_literals;

namespace {

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

std::string listed(int count, const std::function<std::string(int)>& item) {
  std::string text;
  for (int i = 0; i < count; ++i) text += item(i);
  return text;
}

std::string number(int i) { return std::to_string(i); }

struct File {
  const char* name;
  std::string text;
};

std::vector<File> files() {
  const std::string open = "digraph { x [kind=input]; r [kind=reward]; ", xml = "<graphml><graph>";
  return {
      {"empty.dot", ""},
      {"empty.graphml", ""},
      {"empty.edges", ""},
      {"cut.dot", "digraph { a [kind=bernoulli; b -> "},
      {"quote.dot", "digraph { \"a"},
      {"comment.dot", "digraph { a -> b /* "},
      {"cut.graphml", "<graphml><graph><node id=\"a"},
      {"open.graphml", xml},
      {"bytes.dot",
       listed(5000, [](int i) { return std::string(1, static_cast<char>(i * 7919 % 251 + 1)); })},
      {"bytes",
       "\x7f"
       "ELF\x02\x01\x01" +
           std::string(64, '\0') + "\xff\xfe"},
      {"zeros.dot", "digraph { a\0 -> b }"s},
      {"zeros.edges", std::string(100'000, '\0')},
      {"braces.dot", std::string(1 << 20, '{')},
      {"brackets.dot", "digraph {" + std::string(1 << 20, '[')},
      {"nested.dot", "digraph { " + repeated("subgraph { a -> ", 100'000)},
      {"nested.graphml", repeated("<graph>", 100'000)},
      {"entities.graphml", "<!DOCTYPE g [<!ENTITY a \"" + repeated("b", 1000) + "\"><!ENTITY c \"" +
                               repeated("&a;", 1000) + "\">]><graphml>" + repeated("&c;", 1000) +
                               "</graphml>"},
      {"cycle.edges",
       listed(20'000, [](int i) { return number(i) + " " + number((i + 1) % 20'000) + "\n"; })},
      {"loop.dot", "digraph { a -> a }"},
      {"joined.dot", "digraph { t [kind=tanh]; " +
                         listed(20'000,
                                [](int i) {
                                  return "a" + number(i) + " [kind=bernoulli]; b" + number(i) +
                                         " [kind=bernoulli]; a" + number(i) + " -> t -> b" + number(i) + "; ";
                                }) +
                         "r [kind=reward]; b0 -> r }"},
      {"dense.dot",
       open + "a [kind=bernoulli units=1000000]; x -> a -> r; a -> b [density=1e300]; b [kind=bernoulli "
              "units=1000000]; b -> r }"},
      {"density.dot",
       open + "a [kind=bernoulli units=1000000]; b [kind=bernoulli units=1000000]; x -> a -> b -> r; "
              "a -> b [density=0.9] }"},
      {"units.dot",
       open + "a [kind=bernoulli units=1000000000]; b [kind=bernoulli units=1000000000]; x -> a -> b -> "
              "r; x -> b }"},
      {"wired.dot", open + "a [kind=bernoulli units=1000000000]; x -> a [pattern=\"0>999999999\"]; a -> r }"},
      {"negative.dot", open + "a [kind=bernoulli units=-1]; x -> a -> r }"},
      {"huge.dot", open + "a [kind=bernoulli units=99999999999999999999]; x -> a -> r }"},
      {"classes.dot", open + "a [kind=categorical classes=2147483647]; x -> a -> r }"},
      {"line.edges", listed(50'000, [](int i) { return number(i) + " " + number(i + 1) + "\n"; })},
      {"wide.dot", "digraph { {" + listed(700, [](int i) { return "a" + number(i) + " "; }) + "} -> {" +
                       listed(700, [](int i) { return "b" + number(i) + " "; }) + "} }"},
      {"wider.dot", "digraph { {" + listed(7000, [](int i) { return "a" + number(i) + " "; }) + "} -> {" +
                        listed(7000, [](int i) { return "b" + number(i) + " "; }) + "} }"},
      {"functions.dot", open + listed(3000, [](int i) { return "t" + number(i) + " [kind=tanh]; "; }) +
                            "a [kind=bernoulli]; x -> a -> " +
                            listed(3000, [](int i) { return "t" + number(i) + " -> "; }) +
                            "b; b [kind=bernoulli]; b -> r }"},
      {"names.dot",
       open + "a [kind=bernoulli]; a [kind=categorical]; a [kind=input]; x -> a; x -> a; a -> r }"},
      {"names.graphml", xml + "<node id=\"a\"/><node id=\"a\"/></graph></graphml>"},
      {"lines.dot", "digraph {\r\n a -> b;\r\n b -> c\r\n}\r\n"},
      {"lines.edges", "a b\r\nb c\r\na c\r\n"},
      {"mark.dot",
       "\xEF\xBB\xBF"
       "digraph { a -> b -> c; a -> c }"},
      {"mark16.dot",
       "\xFF\xFE"
       "d\0i\0g\0r\0a\0p\0h\0"s},
      {"long.dot", "digraph { " + std::string(1 << 20, 'a') + " -> b }"},
      {"graph.txt", "digraph { a -> b }"},
      {"undirected.dot", "graph { a -- b }"},
  };
}

/// Puts a limit on the time, so that what hangs is a failure and no hanging test.
Ended within_seconds(const ScratchFolder& folder, int seconds, const std::string& command) {
  return run_in_shell(
      folder, "timeout -s KILL " + std::to_string(seconds) + " $hindsight " + command + " >out 2>log");
}

void check_all_commands(const ScratchFolder& folder, const std::string& name) {
  const std::vector<std::string> commands{"validate " + name, "validate --json " + name,
                                          "reduce " + name + " -o reduced.out",
                                          "draw " + name + " -o drawn.dot"};
  for (const std::string& command : commands) {
    CAPTURE(command);
    const Ended ended = within_seconds(folder, 20, command);
    CAPTURE(ended.said.substr(0, 300));
    CHECK((ended.code == 0 || ended.code == 1 || ended.code == 2));
    const bool in_json = command.find("--json") != std::string::npos;
    if (ended.code == 2) CHECK_FALSE((in_json ? content(folder / "out") : ended.said).empty());
    CHECK(ended.said.size() < 100'000);
  }
}

}  // namespace

TEST_CASE("any file is validated, reduced and drawn, or refused, within seconds") {
  const ScratchFolder folder;
  for (const File& file : files()) {
    std::ofstream(folder / file.name, std::ios::binary) << file.text;
    check_all_commands(folder, file.name);
    std::filesystem::remove(folder / file.name);
  }
}

TEST_CASE("what is no file is refused within seconds") {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "folder.dot");
  std::filesystem::create_symlink("round.dot", folder / "round.dot");
  REQUIRE(mkfifo((folder / "pipe.dot").c_str(), 0600) == 0);
  for (const char* name : {"folder.dot", "missing.dot", "round.dot", "/dev/null", "pipe.dot", "."})
    check_all_commands(folder, name);
  CHECK(within_seconds(folder, 20, "validate /dev/zero").code == 2);
}
