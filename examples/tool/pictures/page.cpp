#include "tool/page.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tool/atomic_file.hpp"
#include "tool/overview.hpp"

namespace hindsight::tool {
namespace {

using Json = nlohmann::json;

/// More than this takes a browser many seconds to arrange, and a person cannot read it.
constexpr DrawingLimits page_limits{.items = 1500, .links = 4000, .passed = 8000};

Json messages_of(const std::vector<const Diagnostic*>& diagnostics) {
  Json out = Json::array();
  for (const Diagnostic* diagnostic : diagnostics)
    out.push_back({{"severity", to_string(diagnostic->severity)},
                   {"code", diagnostic->code},
                   {"text", diagnostic->message},
                   {"help", diagnostic->help}});
  return out;
}

Json credit_of(const CreditVerdict& credit) {
  return {{"reward", credit.reward},
          {"estimator", credit.estimator},
          {"mark", credited_by(credit)},
          {"automatic", credit.automatic},
          {"admissible", credit.verdict.admissible && !credit.estimator.empty()},
          {"unbiased", credit.verdict.unbiased},
          {"reason", to_string(credit.verdict.reason)},
          {"why", credit.why}};
}

Json marks_of(const std::vector<Mark>& marks) {
  Json out = Json::array();
  for (const Mark& mark : marks) out.push_back({{"name", mark.name}, {"tone", mark.tone}});
  return out;
}

/// Messages that concern one node, by its name; those that concern none, under the empty name.
using Messages = std::map<std::string_view, std::vector<const Diagnostic*>>;

Json nodes_of(const Overview& view, const Messages& messages) {
  Json items = Json::array(), links = Json::array(), columns = Json::array();
  for (const Item& item : view.items) {
    Json credits = Json::array();
    for (const CreditVerdict* credit : item.credits) credits.push_back(credit_of(*credit));
    const auto said = messages.find(item.name);
    items.push_back({{"name", item.name},
                     {"look", to_string(item.look)},
                     {"kind", item.kind},
                     {"caption", caption(item)},
                     {"units", item.units},
                     {"level", item.level},
                     {"column", item.level},
                     {"assumption", assumption(item)},
                     {"violates", item.violates},
                     {"marks", item.marks},
                     {"credits", std::move(credits)},
                     {"messages", said == messages.end() ? Json::array() : messages_of(said->second)}});
  }
  for (const Proof& proof : view.proofs)
    items[static_cast<std::size_t>(proof.node)]["proof"] = {{"child", proof.child},
                                                            {"edge", proof.edge},
                                                            {"route", proof.route},
                                                            {"edge_names", proof.edge_names},
                                                            {"route_names", proof.route_names}};
  for (const ItemLink& link : view.links) {
    Json each{{"from", link.from}, {"to", link.to}};
    if (link.sparse) each.update({{"sparse", true}, {"pairs", link.pairs}, {"all_pairs", link.all_pairs}});
    if (link.on_edge) each["on_edge"] = true;
    if (link.on_route) each["on_route"] = true;
    links.push_back(std::move(each));
  }
  for (int level = 0; level < view.levels; ++level) columns.push_back(level_caption({level, level}));
  if (!view.items.empty() && view.items.back().look == Look::reward) columns.push_back("rewards");
  return {{"view", "nodes"},
          {"remark", ""},
          {"items", std::move(items)},
          {"links", std::move(links)},
          {"columns", std::move(columns)},
          {"marks", marks_of(view.marks)}};
}

Json groups_of(const LevelView& view) {
  Json items = Json::array(), links = Json::array(), columns = Json::array();
  for (const Group& group : view.groups) {
    // The colour of the most frequent estimator; the details tell the others.
    std::vector<int> mark;
    std::size_t most = 0;
    for (const auto& [number, nodes] : group.marks)
      if (nodes > most) {
        mark = {number};
        most = nodes;
      }
    items.push_back({{"name", group.kind},
                     {"look", to_string(group.look)},
                     {"caption", counted(group.nodes, group.look == Look::reward ? "reward" : "node")},
                     {"column", group.band},
                     {"nodes", group.nodes},
                     {"units", group.units},
                     {"violating", group.violating},
                     {"marks", mark},
                     {"counts", group.marks},
                     {"examples", group.examples}});
  }
  for (const GroupLink& link : view.links)
    links.push_back({{"from", link.from}, {"to", link.to}, {"edges", link.edges}});
  for (const auto& band : view.bands) columns.push_back(level_caption(band));
  if (!view.groups.empty() && view.groups.back().look == Look::reward) columns.push_back("rewards");
  std::string remark =
      "This graph is too large to draw node by node. Each box stands for all nodes of one level and kind.";
  if (view.links_left_out > 0)
    remark += fmt::format(" The {} with fewest edges are left out.", counted(view.links_left_out, "line"));
  return {{"view", "groups"},
          {"remark", remark},
          {"items", std::move(items)},
          {"links", std::move(links)},
          {"columns", std::move(columns)},
          {"marks", marks_of(view.marks)}};
}

Json data_of(const Graph& graph, const Report& report) {
  Messages messages;
  for (const Diagnostic& diagnostic : report.diagnostics) messages[diagnostic.node].push_back(&diagnostic);
  Json data = fits(graph, page_limits) ? nodes_of(overview(graph, report), messages)
                                       : groups_of(level_view(graph, report));
  std::size_t violating = 0;
  for (const NodeSummary& node : report.nodes) violating += node.assumption_1 ? 0 : 1;
  data["counts"] = census(graph);
  data["admissible"] = report.admissible();
  data["assumption"] = report.nodes.empty() ? "" : violating == 0 ? "holds" : "violated";
  data["violating"] = violating;
  data["messages"] = messages_of(messages[""]);
  return data;
}

/// JSON that may stand in a script element: nothing in it can end or open one.
std::string for_script(const Json& data) {
  std::string out;
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace)) switch (c) {
      case '<':
      case '>':
      case '&':
        out += fmt::format("\\u{:04x}", static_cast<int>(c));
        break;
      default:
        out += c;
    }
  return out;
}

/// The last line of dagre asks developers' tools for a file that is not there.
std::string_view without_source_map(std::string_view program) {
  return program.substr(0, program.find("//# sourceMappingURL="));
}

/// Puts the parts in place of "@name@"; what was put is not looked at again.
std::string filled(std::string_view page, const std::map<std::string_view, std::string_view>& parts) {
  std::string out;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = page[at] == '@' ? page.find('@', at + 1) : std::string_view::npos;
    const auto part =
        end == std::string_view::npos ? parts.end() : parts.find(page.substr(at + 1, end - at - 1));
    if (part == parts.end()) {
      out += page[at++];
    } else {
      out += part->second;
      at = end + 1;
    }
  }
  return out;
}

}  // namespace

std::string page_text(const Graph& graph, const Report& report, const EmbeddedPage& page) {
  if (!page.libraries)
    refuse({.code = "page-library",
            .message = "this program was built without the libraries that its pages are made of",
            .help = {"make setup tool   # fetches them from npm and builds the program again"}});
  const std::string data = for_script(data_of(graph, report));
  return filled(page.html, {{"style", page.style},
                            {"data", data},
                            {"cytoscape", page.libraries->cytoscape},
                            {"dagre-licence", page.libraries->dagre_licence},
                            {"dagre", without_source_map(page.libraries->dagre)},
                            {"arrange", page.arrange},
                            {"drawing", page.drawing},
                            {"details", page.details},
                            {"page", page.page}});
}

void write_page(const Graph& graph, const Report& report, const std::filesystem::path& path) {
  write_atomically(path, page_text(graph, report, embedded_page()));
}

}  // namespace hindsight::tool
