#include <hindsight/core/report.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <hindsight/core/terminal_text.hpp>

namespace hindsight {
namespace {

constexpr std::size_t rows_shown = 40;
constexpr int shown_per_code = 20;

using Row = std::array<std::string, 7>;

std::string population(const NodeSummary& node) {
  return node.units == 1 ? node.kind : fmt::format("{} ×{}", node.kind, node.units);
}

std::string assumption(const NodeSummary& node) {
  if (node.deterministic) return "computed";
  if (!node.checked) return "given";
  return node.assumption_1 ? "holds" : "violated";
}

/// One row per node and reward that credits it; a node without credit has one row.
std::vector<Row> table(const Report& report) {
  std::multimap<std::string_view, const Credit*> credits;
  for (const Credit& credit : report.credits) credits.emplace(credit.node, &credit);
  std::vector<Row> rows;
  for (const NodeSummary& node : report.nodes) {
    const auto [first, last] = credits.equal_range(node.name);
    const Row blank{std::to_string(node.level), node.name, population(node), assumption(node), "", "", ""};
    if (first == last) rows.push_back(blank);
    for (auto at = first; at != last; ++at) {
      const Credit& credit = *at->second;
      Row row = at == first ? blank : Row{};
      row[4] = credit.reward;
      row[5] = credit.automatic ? credit.estimator : credit.estimator + " *";
      row[6] = credit.why;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string draw(const std::vector<Row>& rows, const TerminalText& text) {
  const Row head{"level", "node", "kind", "Assumption 1", "reward", "estimator", "because"};
  const std::size_t shown = std::min(rows.size(), rows_shown);
  std::array<std::size_t, head.size()> widths{};
  for (std::size_t column = 0; column < head.size(); ++column) {
    widths[column] = display_width(head[column]);
    for (std::size_t i = 0; i < shown; ++i)
      widths[column] = std::max(widths[column], display_width(rows[i][column]));
  }
  const auto line = [&](const Row& row) {
    std::string out = " ";
    for (std::size_t column = 0; column < row.size(); ++column)
      out += ' ' + padded(row[column], widths[column] + 1);
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  };
  std::string out = text.faint(line(head)) + '\n';
  for (std::size_t i = 0; i < shown; ++i) out += line(rows[i]) + '\n';
  if (rows.size() > shown) out += fmt::format("  … and {} more rows\n", rows.size() - shown);
  return out;
}

std::string count(std::size_t number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string write(const Report& report, Colours colours) {
  const TerminalText text(colours);
  std::string out;
  if (!report.nodes.empty()) {
    out += fmt::format("{}, {}, {}: ", count(report.nodes.size(), "node"), count(report.edges, "edge"),
                       count(report.rewards, "reward"));
    out += report.admissible() ? text.good("admissible") : text.severe(Severity::error, "not admissible");
    out += report.assumption_1_holds() ? ", Assumption 1 holds everywhere\n\n"
                                       : ", Assumption 1 is violated\n\n";
    out += draw(table(report), text);
    const bool chosen = std::any_of(report.credits.begin(), report.credits.end(),
                                    [](const Credit& c) { return !c.automatic; });
    if (chosen) out += text.faint("  * chosen by estimate_with; the others by Auto") + '\n';
    if (!report.diagnostics.empty()) out += '\n';
  }
  std::map<std::pair<Severity, std::string_view>, int> counts;
  for (const Diagnostic& diagnostic : report.diagnostics)
    if (++counts[{diagnostic.severity, diagnostic.code}] <= shown_per_code)
      out += text.diagnostic(diagnostic) + '\n';
  for (const auto& [kind, number] : counts)
    if (number > shown_per_code)
      out +=
          fmt::format("… and {} more {}[{}]\n", number - shown_per_code, to_string(kind.first), kind.second);
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace

bool Report::admissible() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(),
                      [](const Diagnostic& d) { return d.severity == Severity::error; });
}

bool Report::assumption_1_holds() const {
  return std::all_of(nodes.begin(), nodes.end(), [](const NodeSummary& node) { return node.assumption_1; });
}

std::string to_string(const Report& report) { return write(report, Colours::off); }
std::string to_coloured_string(const Report& report) { return write(report, Colours::on); }

}  // namespace hindsight
