#include <hindsight/core/report.hpp>

#include <doctest/doctest.h>

#include <hindsight/core/terminal_text.hpp>

using namespace hindsight;
using namespace hindsight::internal;

namespace {

Diagnostic everything() {
  return {.severity = Severity::error,
          .code = "assumption-1",
          .node = "a",
          .message = "a parent of its child 'd' is its descendant",
          .witness = {{"a", "d"}, {"a", "b", "c", "d"}},
          .help = {"graph.estimate_with(a, Reinforce{});", "drop the edge a → d"},
          .reason = Reason::policy};
}

}  // namespace

TEST_CASE("severities and reasons have names") {
  CHECK(to_string(Severity::note) == "note");
  CHECK(to_string(Severity::warning) == "warning");
  CHECK(to_string(Severity::error) == "error");
  CHECK(to_string(Reason::none) == "none");
  CHECK(to_string(Reason::biased) == "biased");
  CHECK(to_string(Reason::policy) == "policy");
  CHECK(to_string(Reason::cost) == "cost");
  CHECK(to_string(Reason::undefined) == "undefined");
}

TEST_CASE("a diagnostic says code and node and rule and reason and witness and help") {
  CHECK(to_string(everything()) ==
        "error[assumption-1]: node 'a': a parent of its child 'd' is its descendant (policy)\n"
        "    a ────────→ d\n"
        "    a → b → c → d\n"
        "  help: graph.estimate_with(a, Reinforce{});\n"
        "  help: drop the edge a → d");
}

TEST_CASE("a diagnostic leaves out what it does not have") {
  CHECK(
      to_string(Diagnostic{.severity = Severity::warning, .code = "no-reward", .message = "there is none"}) ==
      "warning[no-reward]: there is none");
  CHECK(to_string(Diagnostic{.severity = Severity::note, .code = "c", .node = "n", .message = "m"}) ==
        "note[c]: node 'n': m");
}

TEST_CASE("arrowheads of all routes end in one column") {
  const Diagnostic diagnostic{
      .code = "c", .message = "m", .witness = {{"a", "b", "d"}, {"a", "d"}, {"long name", "b", "c", "d"}}};
  CHECK(to_string(diagnostic) ==
        "error[c]: m\n"
        "    a → b ────────────→ d\n"
        "    a ────────────────→ d\n"
        "    long name → b → c → d");
}

TEST_CASE("names of several bytes take one column per character") {
  CHECK(display_width("größe") == 5);
  CHECK(display_width("") == 0);
  CHECK(display_width("→") == 1);
  CHECK(left_aligned("größe", 7) == "größe  ");
  CHECK(left_aligned("größe", 3) == "größe");
  const Diagnostic diagnostic{
      .code = "c", .message = "m", .witness = {{"größe", "d"}, {"größe", "σ-unit", "d"}}};
  CHECK(to_string(diagnostic) ==
        "error[c]: m\n"
        "    größe ─────────→ d\n"
        "    größe → σ-unit → d");
}

TEST_CASE("a route of one name and a route of none are drawn without arrows") {
  CHECK(TerminalText(Colours::off).routes({{"a"}, {}}) == "    a\n    \n");
  CHECK(TerminalText(Colours::off).routes({}).empty());
}

TEST_CASE("colours mark severity and names and help and change no other character") {
  CHECK(TerminalText(Colours::on).diagnostic(everything()) ==
        "\x1b[1;31merror[assumption-1]\x1b[0m: node 'a': a parent of its child 'd' is its descendant"
        "\x1b[2m (policy)\x1b[0m\n"
        "    \x1b[1ma\x1b[0m ────────→ \x1b[1md\x1b[0m\n"
        "    \x1b[1ma\x1b[0m → \x1b[1mb\x1b[0m → \x1b[1mc\x1b[0m → \x1b[1md\x1b[0m\n"
        "  \x1b[32mhelp:\x1b[0m graph.estimate_with(a, Reinforce{});\n"
        "  \x1b[32mhelp:\x1b[0m drop the edge a → d");
  CHECK(TerminalText(Colours::off).diagnostic(everything()) == to_string(everything()));
  CHECK(TerminalText(Colours::on).severe(Severity::warning, "w") == "\x1b[1;33mw\x1b[0m");
  CHECK(TerminalText(Colours::on).severe(Severity::note, "n") == "\x1b[1;36mn\x1b[0m");
}

TEST_CASE("an error made of one diagnostic says and holds that diagnostic") {
  const Error error(everything());
  CHECK(std::string(error.what()) == to_string(everything()));
  REQUIRE(error.report().diagnostics.size() == 1);
  CHECK(error.report().diagnostics[0].code == "assumption-1");
  CHECK(error.report().diagnostics[0].witness == everything().witness);
  CHECK_FALSE(error.report().admissible());
}

TEST_CASE("refuse throws an error that is a std exception") {
  CHECK_THROWS_WITH_AS(refuse({.code = "c", .message = "m", .help = {"h"}}), "error[c]: m\n  help: h", Error);
  CHECK_THROWS_AS(refuse({.code = "c"}), std::exception);
}

TEST_CASE("a copied error keeps its text") {
  Error copy(Diagnostic{.code = "other"});
  {
    const Error error(everything());
    copy = error;
  }
  CHECK(std::string(copy.what()) == to_string(everything()));
}

TEST_CASE("what a terminal would obey is spelled out, and nothing else is changed") {
  CHECK(printable("größe 日本 \xF0\x9F\x98\x80 \"\\'/ \u200d \u2029x") ==
        "größe 日本 \xF0\x9F\x98\x80 \"\\'/ \u200d \\u2029x");
  CHECK(printable("\x1b[31m\n\t\x7f") == "\\u001b[31m\\u000a\\u0009\\u007f");
  CHECK(printable("\u0080\u009f\u00a0") == "\\u0080\\u009f\u00a0");
  CHECK(printable("\u202a\u202e\u2066\u2069\u200e\u200f\u061c") ==
        "\\u202a\\u202e\\u2066\\u2069\\u200e\\u200f\\u061c");
  CHECK(printable("a\xff\xc3") == "a\\xff\\xc3");
  CHECK(printable("\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80") == "\\xc0\\x80\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
  CHECK(printable(std::string_view("\0", 1)) == "\\u0000");
  CHECK(printable("") == "");
}

TEST_CASE("names and words from outside are spelled out wherever they are said") {
  const std::string bad = "\x1b]0;x\x07";
  const Diagnostic diagnostic{
      .code = bad, .node = bad, .message = bad, .witness = {{bad, "b"}}, .help = {bad}, .place = bad};
  const std::string shown = printable(bad);
  CHECK(to_string(diagnostic) == shown + ": error[" + shown + "]: node '" + shown + "': " + shown + "\n    " +
                                     shown + " → b\n  help: " + shown);
  CHECK(std::string(Error(diagnostic).what()) == to_string(diagnostic));
  Report report;
  report.nodes = {{.name = bad, .kind = bad, .units = 1}};
  report.credits = {{.node = bad,
                     .reward = bad,
                     .estimator = bad,
                     .baseline = bad,
                     .verdict = {},
                     .why = bad,
                     .opinions = {}}};
  report.further = {{Severity::error, bad, {bad}}};
  CHECK(fmt::format("{}", report).find('\x1b') == std::string::npos);
  CHECK(fmt::format("{}", report).find('\x07') == std::string::npos);
}
