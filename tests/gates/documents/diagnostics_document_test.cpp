// Every code that the library and its command-line tool can say has an entry in docs/diagnostics.md, and
// every entry a code.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "support/chain.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

const std::filesystem::path source_dir = HINDSIGHT_SOURCE_DIR;

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What the expression's first group matches, wherever it does.
std::set<std::string> all(const std::string& text, const char* expression) {
  const std::regex regex(expression);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

/// The literals of `.code = …`, which may choose among several, and those that callbacks are called with.
std::set<std::string> codes_of_the_library() {
  std::set<std::string> codes;
  for (const char* folder : {"core", "nodes", "graph", "estimators", "examples/tool"})
    for (const auto& file : std::filesystem::recursive_directory_iterator(source_dir / folder)) {
      if (file.path().extension() != ".cpp" && file.path().extension() != ".hpp") continue;
      const std::string text = read(file.path());
      for (const std::string& value : all(text, R"(\bcode = ([^,;]*))"))
        codes.merge(all(value, R"re("([a-z0-9-]+)")re"));
      codes.merge(all(text, R"re("([a-z]+-threw)")re"));
      codes.merge(all(text, R"re("(data-[a-z]+)")re"));
    }
  return codes;
}

/// The first text of the code's entry.
std::string documented(const std::string& code) {
  const std::string document = read(source_dir / "docs/diagnostics.md");
  const auto entry = document.find("\n### `" + code + "`\n");
  REQUIRE(entry != std::string::npos);
  const std::string fence = "```text\n";
  const auto first = document.find(fence, entry) + fence.size();
  return document.substr(first, document.find("\n```", first) - first);
}

}  // namespace

TEST_CASE("every diagnostic is documented with its text") {
  const std::set<std::string> codes = codes_of_the_library();
  CHECK(codes.size() > 50);
  const std::string document = read(source_dir / "docs/diagnostics.md");
  for (const std::string& code : codes) {
    const auto entry = document.find("\n### `" + code + "`\n");
    CHECK_MESSAGE(entry != std::string::npos, code, " has no entry");
    if (entry == std::string::npos) continue;
    const std::string body = document.substr(entry, document.find("\n##", entry + 1) - entry);
    CHECK_MESSAGE(body.find("[" + code + "]: ") != std::string::npos, code, " has no text");
  }
  for (const std::string& entry : all(document, "\n### `([^`]*)`"))
    CHECK_MESSAGE(codes.contains(entry), entry, " is no longer said");
}

// Numbers of cores and names of instruction sets differ from machine to machine.
TEST_CASE("threads and instruction sets are refused in the words of the document") {
  const auto anywhere = [](std::string text) {
    text = std::regex_replace(text, std::regex("has [0-9]+ cores"), "has N cores");
    text = std::regex_replace(text, std::regex("threads = [0-9]+"), "threads = N");
    return std::regex_replace(text, std::regex("plan for [^;]*; it runs: [^\n]*"), "plan for A; it runs: B");
  };
  Chain chain;
  CHECK(anywhere(refusal([&] { chain.model.workspace(16, {.threads = 10000}); })) ==
        anywhere(documented("thread-count")));
  CHECK(anywhere(refusal([&] { compile(chain.graph, {.instructions = static_cast<InstructionSet>(99)}); })) ==
        anywhere(documented("instruction-set")));
}
