#include <hindsight/core/report.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <hindsight/core/terminal_text.hpp>

namespace hindsight {
namespace {

constexpr std::size_t rows_shown = 40;

using Row = std::array<std::string, 7>;

std::string population(const NodeSummary& node) {
  return node.units == 1 ? node.kind : fmt::format("{} ×{}", node.kind, node.units);
}

std::string assumption(const NodeSummary& node) {
  if (node.deterministic) return "computed";
  if (!node.checked) return "given";
  return node.assumption_1 ? "holds" : "violated";
}

/// The rows that are shown, and how many there are in all.
struct Table {
  std::vector<Row> rows;
  std::size_t count = 0;
};

/// One row per node and reward that credits it; a node without credit has one row.
Table table(const Report& report) {
  std::unordered_map<std::string_view, std::vector<const CreditVerdict*>> credits;
  for (const CreditVerdict& credit : report.credits) credits[credit.node].push_back(&credit);
  Table table;
  std::vector<Row>& rows = table.rows;
  for (const NodeSummary& node : report.nodes) {
    const auto found = credits.find(node.name);
    table.count += found == credits.end() ? 1 : found->second.size();
    if (rows.size() >= rows_shown) continue;
    const Row blank{std::to_string(node.level), node.name, population(node), assumption(node), "", "", ""};
    if (found == credits.end()) {
      rows.push_back(blank);
      continue;
    }
    for (const CreditVerdict* at : found->second) {
      const CreditVerdict& credit = *at;
      Row row = at == found->second.front() ? blank : Row{};
      row[4] = credit.reward;
      row[5] = credit.estimator + (credit.baseline.empty() ? "" : " − " + credit.baseline) +
               (credit.automatic ? "" : " *");
      row[6] = credit.why;
      rows.push_back(std::move(row));
    }
  }
  rows.resize(std::min(rows.size(), rows_shown));
  for (Row& row : rows)
    for (std::string& cell : row) cell = printable(cell);
  return table;
}

std::string draw(const Table& table, const internal::TerminalText& text) {
  const std::vector<Row>& rows = table.rows;
  const Row head{"level", "node", "kind", "Assumption 1", "reward", "estimator", "because"};
  std::array<std::size_t, head.size()> widths{};
  for (std::size_t column = 0; column < head.size(); ++column) {
    widths[column] = internal::display_width(head[column]);
    for (const Row& row : rows)
      widths[column] = std::max(widths[column], internal::display_width(row[column]));
  }
  const auto line = [&](const Row& row) {
    std::string out = " ";
    for (std::size_t column = 0; column < row.size(); ++column)
      out += ' ' + internal::left_aligned(row[column], widths[column] + 1);
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  };
  std::string out = text.faint(line(head)) + '\n';
  for (const Row& row : rows) out += line(row) + '\n';
  if (table.count > rows.size()) out += fmt::format("  … and {} more rows\n", table.count - rows.size());
  return out;
}

std::string count(std::size_t number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string write(const Report& report, internal::Colours colours) {
  const internal::TerminalText text(colours);
  std::string out;
  if (!report.nodes.empty()) {
    out += fmt::format("{}, {}, {}: ", count(report.nodes.size(), "node"), count(report.edges, "edge"),
                       count(report.rewards, "reward"));
    out += report.admissible() ? text.good("admissible") : text.severe(Severity::error, "not admissible");
    out += report.assumption_1_holds() ? ", Assumption 1 holds everywhere\n\n"
                                       : ", Assumption 1 is violated\n\n";
    out += draw(table(report), text);
    const bool chosen = std::any_of(report.credits.begin(), report.credits.end(),
                                    [](const CreditVerdict& c) { return !c.automatic; });
    if (chosen) out += text.faint("  * chosen by estimate_with; the others by Auto") + '\n';
    if (!report.diagnostics.empty()) out += '\n';
  }
  std::map<std::pair<Severity, std::string_view>, std::size_t> counts;
  for (const Diagnostic& diagnostic : report.diagnostics)
    if (++counts[{diagnostic.severity, diagnostic.code}] <= shown_per_code)
      out += text.diagnostic(diagnostic) + '\n';
  for (auto& [kind, number] : counts) number -= std::min(number, shown_per_code);
  for (const Further& rest : report.further) counts[{rest.severity, rest.code}] += rest.nodes.size();
  for (const auto& [kind, number] : counts)
    if (number > 0)
      out += fmt::format("… and {} more {}[{}]\n", number, to_string(kind.first), printable(kind.second));
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace

bool Report::admissible() const {
  const auto is_error = [](const auto& said) { return said.severity == Severity::error; };
  return std::none_of(diagnostics.begin(), diagnostics.end(), is_error) &&
         std::none_of(further.begin(), further.end(), is_error);
}

std::size_t Report::count(std::string_view code) const {
  std::size_t number = 0;
  for (const Diagnostic& diagnostic : diagnostics) number += diagnostic.code == code ? 1 : 0;
  for (const Further& rest : further) number += rest.code == code ? rest.nodes.size() : 0;
  return number;
}

bool Report::assumption_1_holds() const {
  return !nodes.empty() &&
         std::all_of(nodes.begin(), nodes.end(), [](const NodeSummary& node) { return node.assumption_1; });
}

std::string to_string(const Report& report) { return write(report, internal::Colours::off); }
std::string to_coloured_string(const Report& report) { return write(report, internal::Colours::on); }

std::string to_string(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return {};
}

std::string to_string(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "none";
    case Reason::biased:
      return "biased";
    case Reason::policy:
      return "policy";
    case Reason::cost:
      return "cost";
    case Reason::undefined:
      return "undefined";
  }
  return {};
}

std::string to_string(const Diagnostic& diagnostic) {
  return internal::TerminalText(internal::Colours::off).diagnostic(diagnostic);
}

Error::Error(Diagnostic diagnostic) {
  text_ = to_string(diagnostic);
  report_.diagnostics.push_back(std::move(diagnostic));
}

void refuse(Diagnostic diagnostic) { throw Error(std::move(diagnostic)); }

Error::Error(Report report) : report_(std::move(report)), text_(to_string(report_)) {}

}  // namespace hindsight
