// Whatever a file holds: validate, reduce and draw end in seconds as they should, and say why.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/scratch_folder.hpp"
#include "support/share.hpp"
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

/// What becomes of a file: the exit code of each command, and of what is refused the diagnostic's code.
struct Ends {
  int validate = 2, reduce = 2, draw = 2;
  const char* code = "";
};

constexpr Ends fine{.validate = 0, .reduce = 0, .draw = 0};
/// Nothing can be learned, which is no finding of reduce.
constexpr Ends nothing{.validate = 1, .reduce = 0, .draw = 0};
constexpr Ends refused(const char* code) { return {.code = code}; }

struct File {
  const char* name;
  std::string text;
  Ends ends;
};

std::vector<File> files() {
  const std::string open = "digraph { x [kind=input]; r [kind=reward]; ", xml = "<graphml><graph>";
  return {
      {"empty.dot", "", refused("file-syntax")},
      {"empty.graphml", "", refused("file-syntax")},
      {"empty.edges", "", nothing},
      {"cut.dot", "digraph { a [kind=bernoulli; b -> ", refused("file-syntax")},
      {"quote.dot", "digraph { \"a", refused("file-syntax")},
      {"comment.dot", "digraph { a -> b /* ", refused("file-syntax")},
      {"cut.graphml", "<graphml><graph><node id=\"a", refused("file-syntax")},
      {"open.graphml", xml, refused("file-syntax")},
      {"bytes.dot", listed(5000, [](int i) { return std::string(1, static_cast<char>(i * 7919 % 251 + 1)); }),
       refused("file-encoding")},
      {"bytes",
       "\x7f"
       "ELF\x02\x01\x01" +
           std::string(64, '\0') + "\xff\xfe",
       refused("file-encoding")},
      {"zeros.dot", "digraph { a\0 -> b }"s, refused("file-encoding")},
      {"zeros.edges", std::string(100'000, '\0'), refused("file-encoding")},
      {"braces.dot", std::string(1 << 20, '{'), refused("file-syntax")},
      {"brackets.dot", "digraph {" + std::string(1 << 20, '['), refused("file-syntax")},
      {"nested.dot", "digraph { " + repeated("subgraph { a -> ", 100'000), refused("file-syntax")},
      {"nested.graphml", repeated("<graph>", 100'000), refused("file-syntax")},
      {"entities.graphml",
       "<!DOCTYPE g [<!ENTITY a \"" + repeated("b", 1000) + "\"><!ENTITY c \"" + repeated("&a;", 1000) +
           "\">]><graphml>" + repeated("&c;", 1000) + "</graphml>",
       refused("file-syntax")},
      {"cycle.edges", listed(20'000, [](int i) { return number(i) + " " + number((i + 1) % 20'000) + "\n"; }),
       refused("cycle")},
      {"loop.dot", "digraph { a -> a }", refused("self-loop")},
      {"joined.dot",
       "digraph { t [kind=tanh]; " +
           listed(20'000,
                  [](int i) {
                    return "a" + number(i) + " [kind=bernoulli]; b" + number(i) + " [kind=bernoulli]; a" +
                           number(i) + " -> t -> b" + number(i) + "; ";
                  }) +
           "r [kind=reward]; b0 -> r }",
       refused("too-large")},
      {"dense.dot",
       open + "a [kind=bernoulli units=1000000]; x -> a -> r; a -> b [density=\"1e300\"]; b [kind=bernoulli "
              "units=1000000]; b -> r }",
       refused("pattern")},
      {"density.dot",
       open + "a [kind=bernoulli units=1000000]; b [kind=bernoulli units=1000000]; x -> a; b -> r; "
              "a -> b [density=0.9] }",
       refused("too-large")},
      {"units.dot",
       open + "a [kind=bernoulli units=1000000000]; b [kind=bernoulli units=1000000000]; x -> a -> b -> "
              "r; x -> b }",
       fine},
      {"wired.dot", open + "a [kind=bernoulli units=2000000000]; x -> a [pattern=\"0>1999999999\"]; a -> r }",
       refused("too-large")},
      {"negative.dot", open + "a [kind=bernoulli units=-1]; x -> a -> r }", refused("bad-attribute")},
      {"huge.dot", open + "a [kind=bernoulli units=99999999999999999999]; x -> a -> r }",
       refused("bad-attribute")},
      {"classes.dot", open + "a [kind=categorical classes=2147483647]; x -> a -> r }", fine},
      {"line.edges", listed(50'000, [](int i) { return number(i) + " " + number(i + 1) + "\n"; }), fine},
      {"wide.dot",
       "digraph { {" + listed(700, [](int i) { return "a" + number(i) + " "; }) + "} -> {" +
           listed(700, [](int i) { return "b" + number(i) + " "; }) + "} }",
       fine},
      {"wider.dot",
       "digraph { {" + listed(7000, [](int i) { return "a" + number(i) + " "; }) + "} -> {" +
           listed(7000, [](int i) { return "b" + number(i) + " "; }) + "} }",
       refused("file-size")},
      {"functions.dot",
       open + listed(3000, [](int i) { return "t" + number(i) + " [kind=tanh]; "; }) +
           "a [kind=bernoulli]; x -> a -> " + listed(3000, [](int i) { return "t" + number(i) + " -> "; }) +
           "b; b [kind=bernoulli]; b -> r }",
       fine},
      {"names.dot",
       open + "a [kind=bernoulli]; a [kind=categorical]; a [kind=input]; x -> a; x -> a; a -> r }",
       refused("duplicate-edge")},
      {"names.graphml", xml + "<node id=\"a\"/><node id=\"a\"/></graph></graphml>", refused("file-syntax")},
      {"lines.dot", "digraph {\r\n a -> b;\r\n b -> c\r\n}\r\n", fine},
      {"lines.edges", "a b\r\nb c\r\na c\r\n", fine},
      {"mark.dot",
       "\xEF\xBB\xBF"
       "digraph { a -> b -> c; a -> c }",
       fine},
      {"mark16.dot",
       "\xFF\xFE"
       "d\0i\0g\0r\0a\0p\0h\0"s,
       refused("file-encoding")},
      {"long.dot", "digraph { " + std::string(1 << 20, 'a') + " -> b }", refused("file-syntax")},
      {"graph.txt", "digraph { a -> b }", refused("file-syntax")},
      {"undirected.dot", "graph { a -- b }", refused("file-syntax")},
  };
}

/// Puts a limit on the time, so that what hangs is a failure and no hanging test.
Ended within_seconds(const ScratchFolder& folder, int seconds, const std::string& command) {
  return run_in_shell(
      folder, "timeout -s KILL " + std::to_string(seconds) + " $hindsight " + command + " >out 2>log");
}

/// All commands, one after another; under a sanitizer one of them, another for each file.
void check_commands(const ScratchFolder& folder, const std::string& name, const Ends& ends) {
  static std::size_t turn = 0;
  struct Command {
    std::string words;
    int expected;
  };
  const std::vector<Command> commands{{"validate " + name, ends.validate},
                                      {"validate --json " + name, ends.validate},
                                      {"reduce " + name + " -o reduced.out", ends.reduce},
                                      {"draw " + name + " -o drawn.dot", ends.draw}};
  ++turn;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (under_sanitizer && (turn + i) % commands.size() != 0) continue;
    const auto& [words, expected] = commands[i];
    CAPTURE(words);
    const Ended ended = within_seconds(folder, 20, words);
    CAPTURE(ended.said.substr(0, 300));
    CHECK(ended.code == expected);
    CHECK(ended.said.size() < 100'000);
    if (expected != 2) continue;
    const bool in_json = words.starts_with("validate --json");
    const std::string code =
        in_json ? "\"code\":\"" + std::string(ends.code) + "\"" : "error[" + std::string(ends.code) + "]: ";
    CHECK((in_json ? content(folder / "out") : ended.said).find(code) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("any file is validated, reduced and drawn, or refused, within seconds") {
  const ScratchFolder folder;
  for (const File& file : files()) {
    std::ofstream(folder / file.name, std::ios::binary) << file.text;
    check_commands(folder, file.name, file.ends);
    std::filesystem::remove(folder / file.name);
  }
}

TEST_CASE("what is no file is refused within seconds") {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "folder.dot");
  std::filesystem::create_symlink("round.dot", folder / "round.dot");
  REQUIRE(mkfifo((folder / "pipe.dot").c_str(), 0600) == 0);
  for (const char* name : {"folder.dot", "missing.dot", "round.dot", "."})
    check_commands(folder, name, refused("file-unreadable"));
  check_commands(folder, "pipe.dot", refused("file-syntax"));
  check_commands(folder, "/dev/null", nothing);
  CHECK(within_seconds(folder, 20, "validate /dev/zero").code == 2);
}
