#include <hindsight/core/report.hpp>

#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace hindsight;

namespace {

NodeSummary node(std::string name, std::string kind, int units, int level) {
  return {.name = std::move(name), .kind = std::move(kind), .units = units, .level = level};
}

//  x ─→ a ─→ größe ─→ reward "gain", which reads a too
Report small() {
  Report report;
  report.nodes = {node("x", "input", 784, 0), node("a", "Bernoulli", 64, 1),
                  node("größe", "Categorical", 1, 2)};
  report.nodes[0].checked = false;
  report.credits = {{.node = "a",
                     .reward = "gain",
                     .estimator = "reinforce",
                     .automatic = true,
                     .verdict = {},
                     .why = "gain reads it",
                     .opinions = {}},
                    {.node = "a",
                     .reward = "bonus",
                     .estimator = "hnca",
                     .automatic = false,
                     .verdict = {},
                     .why = "Assumption 1 holds",
                     .opinions = {}},
                    {.node = "größe",
                     .reward = "gain",
                     .estimator = "reinforce",
                     .automatic = true,
                     .verdict = {},
                     .why = "gain reads it",
                     .opinions = {}}};
  report.edges = 2;
  report.rewards = 2;
  return report;
}

Report wide(int nodes) {
  Report report;
  for (int i = 0; i < nodes; ++i) report.nodes.push_back(node("n" + std::to_string(i), "Bernoulli", 1, 0));
  report.rewards = 1;
  return report;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

/// Drops everything from an escape character to the next 'm'.
std::string without_colours(const std::string& text) {
  std::string plain;
  bool inside = false;
  for (const char c : text) {
    inside = inside || c == '\x1b';
    if (!inside) plain += c;
    inside = inside && c != 'm';
  }
  return plain;
}

}  // namespace

TEST_CASE("a report is admissible unless a diagnostic is an error") {
  Report report = small();
  CHECK(report.admissible());
  report.diagnostics.push_back({.severity = Severity::note, .code = "n"});
  report.diagnostics.push_back({.severity = Severity::warning, .code = "w"});
  CHECK(report.admissible());
  report.diagnostics.push_back({.severity = Severity::error, .code = "e"});
  CHECK_FALSE(report.admissible());
  CHECK(Report{}.admissible());
}

TEST_CASE("Assumption 1 holds unless a node violates it") {
  Report report = small();
  CHECK(report.assumption_1_holds());
  report.nodes[1].assumption_1 = false;
  CHECK_FALSE(report.assumption_1_holds());
  CHECK_FALSE(Report{}.assumption_1_holds());  // nothing was checked
}

TEST_CASE("a report lists nodes and credits in columns of characters") {
  CHECK(to_string(small()) ==
        "3 nodes, 2 edges, 2 rewards: admissible, Assumption 1 holds everywhere\n"
        "\n"
        "  level  node   kind           Assumption 1  reward  estimator  because\n"
        "  0      x      input ×784     given\n"
        "  1      a      Bernoulli ×64  holds         gain    reinforce  gain reads it\n"
        "                                             bonus   hnca *     Assumption 1 holds\n"
        "  2      größe  Categorical    holds         gain    reinforce  gain reads it\n"
        "  * chosen by estimate_with; the others by Auto");
}

TEST_CASE("a report ends with its diagnostics") {
  Report report = wide(1);
  report.nodes[0].assumption_1 = false;
  report.diagnostics = {
      {.severity = Severity::error, .code = "one", .node = "n0", .message = "first", .help = {"do this"}},
      {.severity = Severity::note, .code = "two", .message = "second"}};
  CHECK(to_string(report) ==
        "1 node, 0 edges, 1 reward: not admissible, Assumption 1 is violated\n"
        "\n"
        "  level  node  kind       Assumption 1  reward  estimator  because\n"
        "  0      n0    Bernoulli  violated\n"
        "\n"
        "error[one]: node 'n0': first\n"
        "  help: do this\n"
        "note[two]: second");
  report.nodes.clear();
  CHECK(to_string(report) == "error[one]: node 'n0': first\n  help: do this\nnote[two]: second");
}

TEST_CASE("an empty report says nothing") { CHECK(to_string(Report{}).empty()); }

TEST_CASE("a table stops after 40 rows and says how many it left out") {
  CHECK(to_string(wide(40)).find("more rows") == std::string::npos);
  CHECK(lines(to_string(wide(40))) == 43);

  const std::string text = to_string(wide(45));
  CHECK(lines(text) == 44);
  const std::string last = "  … and 5 more rows";
  CHECK(text.substr(text.size() - last.size()) == last);
  CHECK(text.find("n39") != std::string::npos);
  CHECK(text.find("n40") == std::string::npos);
}

TEST_CASE("a row that is not shown widens no column") {
  Report report = wide(41);
  report.nodes[40].name = "a very long name indeed";
  CHECK(to_string(report).find("  level  node  kind       Assumption 1") != std::string::npos);
}

TEST_CASE("formatting is plain and the letter c adds colours") {
  Report report = small();
  report.diagnostics = {
      {.severity = Severity::warning, .code = "w", .message = "m", .witness = {{"a", "b"}}}};
  const std::string plain = fmt::format("{}", report), coloured = fmt::format("{:c}", report);
  CHECK(plain == to_string(report));
  CHECK(coloured == to_coloured_string(report));
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(without_colours(coloured) == plain);
  CHECK(coloured.find("rewards: \x1b[32madmissible\x1b[0m, Assumption 1") != std::string::npos);
  CHECK(coloured.find("\x1b[1;33mwarning[w]\x1b[0m: m") != std::string::npos);
  CHECK(coloured.find("\x1b[2m  level  node") != std::string::npos);
  report.diagnostics[0].severity = Severity::error;
  CHECK(fmt::format("{:c}", report).find("\x1b[1;31mnot admissible\x1b[0m") != std::string::npos);
  CHECK(fmt::format("<{}>", Report{}) == "<>");
}

TEST_CASE("any other format letter is refused") {
  CHECK_THROWS_AS(static_cast<void>(fmt::format(fmt::runtime("{:x}"), Report{})), fmt::format_error);
  CHECK_THROWS_AS(static_cast<void>(fmt::format(fmt::runtime("{:cc}"), Report{})), fmt::format_error);
}

TEST_CASE("an error made of a report says and holds that report") {
  Report report = small();
  report.diagnostics = {{.severity = Severity::error, .code = "e", .message = "m"}};
  const Error error(report);
  CHECK(std::string(error.what()) == to_string(report));
  CHECK(error.report().credits.size() == 3);
}
