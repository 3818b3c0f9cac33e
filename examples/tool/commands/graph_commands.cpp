#include "tool/graph_commands.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <hindsight/hindsight.hpp>

#include "tool/atomic_file.hpp"
#include "tool/console.hpp"
#include "tool/drawing.hpp"
#include "tool/file_names.hpp"
#include "tool/memory.hpp"
#include "tool/network.hpp"
#include "tool/page.hpp"
#include "tool/plain_text.hpp"

namespace hindsight::tool {
namespace {

using Json = nlohmann::ordered_json;

/// Names of files need not be UTF-8.
std::string text(const Json& json) {
  return printable_json(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// A graph with all that a report says of it.
struct Examined {
  explicit Examined(Graph described, bool strict)
      : graph(std::move(described)),
        report(validate(graph, {.strict = strict})),
        inputs(strict ? InputPolicy::checked : InputPolicy::exempt) {
    // What could not be found out is no finding.
    if (report.nodes.empty() && report.count("empty-graph") == 0) throw Error(report);
  }

  Finding finding() const {
    return report.assumption_1_holds() && report.admissible() ? Finding::holds : Finding::fails;
  }

  Graph graph;
  Report report;
  InputPolicy inputs;
};

void estimate_all_with(Graph& graph, const std::string& name) {
  const Catalogue catalogue = standard_catalogue();
  const std::optional<AnyEstimator> estimator = catalogue.estimator(name);
  if (!estimator)
    refuse({.code = "option",
            .message = fmt::format("there is no estimator '{}'{}", name,
                                   did_you_mean(name, catalogue.estimator_names())),
            .help = {fmt::format("--estimator one of: {}", fmt::join(catalogue.estimator_names(), ", "))}});
  for (const NodeId node : graph.nodes())
    if (graph.is_stochastic(node)) estimate_everywhere(graph, node, *estimator);
}

Json names(const Graph& graph, std::span<const UnitRef> route) {
  Json list = Json::array();
  for (const UnitRef& ref : route) list.push_back(to_string(graph, ref));
  return list;
}

/// Writes an object whose last members are lists, element by element, so that no list need ever be held in
/// memory. What comes before the first element is written with it, or at the end.
class JsonLists {
 public:
  explicit JsonLists(const Json& head) : unwritten_(text(head)) { unwritten_.pop_back(); }

  void begin(const char* name) {
    close();
    unwritten_ += fmt::format(",\"{}\":[", name);
    in_list_ = true;
    is_empty_ = true;
  }
  void add(const Json& element) {
    print_result("{}{}{}", unwritten_, is_empty_ ? "" : ",", text(element));
    unwritten_.clear();
    is_empty_ = false;
    has_begun_ = true;
  }
  void end() {
    close();
    print_result("{}}}\n", unwritten_);
  }
  /// Instead of what is missing.
  void end_with(const Json& error) {
    close();
    print_result("{},\"error\":{}}}\n", unwritten_, text(error));
  }
  bool has_begun() const { return has_begun_; }

 private:
  void close() {
    if (!in_list_) return;
    unwritten_ += ']';
    in_list_ = false;
  }

  std::string unwritten_;
  bool in_list_ = false, is_empty_ = true, has_begun_ = false;
};

void list_all_violations(const Examined& examined, JsonLists& lists) {
  const Graph& graph = examined.graph;
  for_each_violation(graph, examined.inputs,
                     [&](const UnitRef& node, const UnitRef& child, const UnitRef& coparent) {
                       lists.add({{"node", to_string(graph, node)},
                                  {"child", to_string(graph, child)},
                                  {"coparent", to_string(graph, coparent)}});
                     });
}

/// One per node that violates.
void list_violations(const Examined& examined, JsonLists& lists) {
  const Graph& graph = examined.graph;
  const Violations violations = find_violations(graph, examined.inputs);
  WitnessSearch search(graph);
  std::vector<Violation> found;
  for (const NodeId node : violations.nodes()) found.push_back(search.shortest(node).value());
  for (const Violation& violation : found)
    lists.add({{"node", to_string(graph, violation.node)},
               {"child", to_string(graph, violation.child)},
               {"coparent", to_string(graph, violation.coparent)},
               {"route", names(graph, violation.route)}});
}

void list_diagnostics(const Report& report, Severity severity, JsonLists& lists) {
  for (const Diagnostic& diagnostic : report.diagnostics)
    if (diagnostic.severity == severity)
      lists.add(
          fmt::format("{}{}", diagnostic.node.empty() ? "" : diagnostic.node + ": ", diagnostic.message));
  for (const Further& further : report.further)
    if (further.severity == severity)
      for (const std::string& node : further.nodes) lists.add(fmt::format("{}: {}", node, further.code));
}

void print_lists(const Examined& examined, bool all, JsonLists& lists) {
  const Report& report = examined.report;
  lists.begin("violations");
  all ? list_all_violations(examined, lists) : list_violations(examined, lists);
  lists.begin("verdicts");
  for (const CreditVerdict& credit : report.credits)
    lists.add({{"node", credit.node},
               {"reward", credit.reward},
               {"estimator", credit.estimator},
               {"baseline", credit.baseline.empty() ? Json() : Json(credit.baseline)},
               {"admissible", credit.verdict.admissible},
               {"unbiased", credit.verdict.unbiased},
               {"reason", credit.verdict.admissible
                              ? credit.why
                              : fmt::format("{}: {}", to_string(credit.verdict.reason), credit.why)}});
  lists.begin("errors");
  list_diagnostics(report, Severity::error, lists);
  lists.begin("warnings");
  list_diagnostics(report, Severity::warning, lists);
  lists.end();
}

Json error_of(const Error& refusal) {
  const Diagnostic& said = refusal.report().diagnostics.front();
  Json error{{"code", said.code}, {"place", said.place}, {"node", said.node}, {"message", said.message}};
  if (!said.witness.empty()) error["route"] = said.witness.front();
  return error;
}

/// One object, whatever happens: violations are found while they are printed, and what cannot be found after
/// the first of them ends the object with an error in the place of the rest.
Finding print_json(const std::string& file, const Examined& examined, bool all) {
  const Report& report = examined.report;
  JsonLists lists({{"file", file},
                   {"nodes", examined.graph.node_count()},
                   {"edges", report.edges},
                   {"acyclic", true},
                   {"holds", report.nodes.empty() ? Json() : Json(report.assumption_1_holds())}});
  try {
    within_memory([&] { print_lists(examined, all, lists); });
  } catch (const Error& refusal) {
    if (!lists.has_begun()) throw;
    lists.end_with(error_of(refusal));
    return Finding::bad_input;
  }
  return examined.finding();
}

void print_text(const Examined& examined, bool all) {
  const Graph& graph = examined.graph;
  print_report(examined.report);
  if (!all) return;
  std::size_t count = 0;
  print_result(
      "\nall violations: node → child, and the other parent of the child that descends from the node\n");
  for_each_violation(
      graph, examined.inputs, [&](const UnitRef& node, const UnitRef& child, const UnitRef& coparent) {
        ++count;
        print_result("  {} → {}, {}\n", printable(to_string(graph, node)), printable(to_string(graph, child)),
                     printable(to_string(graph, coparent)));
      });
  print_result("  {} in all\n", count);
}

Finding report_refusal(const std::string& file, const Error& refusal, bool json) {
  if (!json) {
    print_remark("{}\n", printable_lines(refusal.what()));
    return Finding::bad_input;
  }
  Json object{{"file", file}, {"acyclic", nullptr}, {"holds", nullptr}};
  object["error"] = error_of(refusal);
  if (object["error"]["code"] == "cycle") object["acyclic"] = false;
  print_result("{}\n", text(object));
  return Finding::bad_input;
}

}  // namespace

void print_report(const Report& report) {
  if (results_go_to_a_terminal())
    print_result("{:c}\n", report);
  else
    print_result("{}\n", printable_lines(to_string(report)));
}

Graph load_graph(const GraphSource& source) {
  return source.file.empty()
             ? make_topology(source.topology, image_parts({}, mnist_features, mnist_classes)).graph
             : read_graph(source.file);
}

Finding validate_graphs(const ValidateCommand& command) {
  std::vector<GraphSource> sources;
  for (const std::string& file : command.files) sources.push_back({file, ""});
  if (!command.topology.empty()) sources.push_back({"", command.topology});
  if (sources.empty())
    refuse({.code = "option",
            .message = "there is nothing to validate",
            .help = {"hindsight validate net.dot", "hindsight validate --topology small-world"}});
  Finding worst = Finding::holds;
  for (const GraphSource& source : sources) {
    const std::string name = source.file.empty() ? source.topology : source.file;
    Finding finding = Finding::bad_input;
    try {
      finding = within_memory([&] {
        Graph graph = load_graph(source);
        if (!command.estimator.empty()) estimate_all_with(graph, command.estimator);
        const Examined examined(std::move(graph), command.strict);
        if (!command.json && sources.size() > 1)
          print_result("{}{}\n", &source == sources.data() ? "" : "\n", printable(name));
        if (command.json) return print_json(name, examined, command.all);
        print_text(examined, command.all);
        return examined.finding();
      });
    } catch (const Error& refusal) {
      finding = report_refusal(name, refusal, command.json);
    }
    worst = std::max(worst, finding);
  }
  return worst;
}

Finding reduce_graph(const ReduceCommand& command) {
  keep_files_apart({command.source.file}, {command.out});
  const Graph graph = load_graph(command.source);
  const Reduction reduction = reduce(graph, command.strict ? InputPolicy::checked : InputPolicy::exempt);
  const std::string text = to_dot(reduction.graph);
  if (!command.out.empty())
    write_atomically(command.out, text);
  else
    write_result(results_go_to_a_terminal() ? printable_lines(text) : text);
  print_remark("removed {} of {} edges\n", reduction.removed.size(), graph.edge_count());
  for (const RemovedEdge& edge : reduction.removed)
    print_remark("  {} -> {}{}\n", printable(edge.parent), printable(edge.child),
                 edge.whole ? "" : fmt::format(", {} pairs of units", edge.pairs.size()));
  for (const KeptViolation& kept : reduction.kept)
    print_remark("  kept {} -> {}, which violates: {}\n", printable(kept.node), printable(kept.child),
                 printable(kept.why));
  return reduction.kept.empty() ? Finding::holds : Finding::fails;
}

Finding draw_graph(const DrawCommand& command) {
  if (command.out.empty() && command.page.empty())
    refuse({.code = "option",
            .message = "nothing says where to draw",
            .help = {"-o graph.svg", "--html graph.html"}});
  keep_files_apart({command.source.file}, {command.page, command.out});
  const Examined examined(load_graph(command.source), command.strict);
  if (!command.page.empty()) {
    write_page(examined.graph, examined.report, command.page);
    print_result("{}\n", printable(command.page.string()));
  }
  if (command.out.empty()) return Finding::holds;
  const DrawEnd end = draw(examined.graph, examined.report, command.out, command.source.file);
  if (!end.drawn) {
    print_remark("{}\n", printable(end.message));
    return Finding::fails;
  }
  print_result("{}\n", printable(end.written.string()));
  return Finding::holds;
}

}  // namespace hindsight::tool
