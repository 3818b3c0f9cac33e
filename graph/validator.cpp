#include <hindsight/graph/validator.hpp>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/graph/reevaluation.hpp>
#include <hindsight/graph/topology.hpp>

namespace hindsight {
namespace {

class Examiner {
 public:
  Examiner(const Graph& graph, const Catalogue& catalogue, const ValidateOptions& options)
      : graph_(graph), catalogue_(catalogue), options_(options), contraction_(graph) {
    const auto inputs = options.strict ? InputPolicy::checked : InputPolicy::exempt;
    for (Violation& violation : find_violations(graph, contraction_, inputs))
      violations_.emplace(violation.node.node, std::move(violation));
  }

  Examination run() {
    Report& report = result_.report;
    report.edges = graph_.edge_count();
    report.rewards = static_cast<std::size_t>(graph_.reward_count());
    if (stochastic_nodes() == 0) {
      add({.code = "empty-graph",
           .message = "the graph has no stochastic nodes, so there is nothing to learn",
           .help = {"graph.add(\"a\", Bernoulli{}, {});"}});
      return std::move(result_);
    }
    if (graph_.reward_count() == 0)
      add({.code = "no-reward",
           .message = "the graph has no reward, so there is nothing to learn from",
           .help = {fmt::format("graph.reward(\"reward\", {{{}}});",
                                graph_.name(NodeId{graph_.node_count() - 1}))}});
    list_nodes();
    for (int i = 0; i < graph_.reward_count(); ++i) upstream_.push_back(upstream_of(graph_, {i}));
    for (int i = 0; i < graph_.node_count(); ++i) examine_node({i});
    std::stable_sort(report.diagnostics.begin(), report.diagnostics.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
    return std::move(result_);
  }

 private:
  void add(Diagnostic diagnostic) { result_.report.diagnostics.push_back(std::move(diagnostic)); }

  int stochastic_nodes() const {
    int count = 0;
    for (int i = 0; i < graph_.node_count(); ++i) count += graph_.is_stochastic({i}) ? 1 : 0;
    return count;
  }

  void list_nodes() {
    const std::vector<int> level = levels(graph_);
    for (int i = 0; i < graph_.node_count(); ++i) {
      const NodeId node{i};
      result_.report.nodes.push_back(
          {.name = graph_.name(node),
           .kind = std::string(graph_.kind(node)),
           .units = graph_.shape(node).units,
           .level = level[static_cast<std::size_t>(i)],
           .checked = graph_.is_stochastic(node) || (options_.strict && graph_.is_input(node)),
           .deterministic = graph_.is_deterministic(node),
           .assumption_1 = !violations_.contains(node)});
    }
  }

  void examine_node(NodeId node) {
    if (graph_.is_input(node)) {
      if (violations_.contains(node))
        note_violation(node, Severity::warning, "harmless: an input is given, not credited", {});
      return;
    }
    if (graph_.is_deterministic(node)) {
      examine_function(node);
      return;
    }
    bool credited = false, admissible = true;
    std::set<std::string> estimators;
    for (int i = 0; i < graph_.reward_count(); ++i) {
      if (!upstream_[static_cast<std::size_t>(i)][static_cast<std::size_t>(node.index)]) continue;
      credited = true;
      const Credit& credit = assign(node, {i});
      admissible = admissible && credit.verdict.admissible && !credit.estimator.empty();
      estimators.insert(credit.estimator);
    }
    if (!credited) warn_of_no_route(node);
    if (!violations_.contains(node)) return;
    if (!credited)
      note_violation(node, Severity::note, "nothing depends on it, since no reward credits the node", {});
    else if (admissible)
      note_violation(
          node, Severity::note,
          fmt::format("credited by {}, which does not need the assumption", fmt::join(estimators, ", ")), {});
  }

  void warn_of_no_route(NodeId node) {
    if (graph_.reward_count() > 0)
      add({.severity = Severity::warning,
           .code = "no-path-to-reward",
           .node = graph_.name(node),
           .message = "no route leads from it to a reward; its gradient is zero and it will not learn",
           .help = {fmt::format("let a reward, or a node that leads to one, read '{}', or leave it out",
                                graph_.name(node))}});
  }

  /// It learns from the slopes of the stochastic nodes below; a reward that it determines by itself gives
  /// none.
  void examine_function(NodeId node) {
    bool reaches = false;
    for (int i = 0; i < graph_.reward_count(); ++i) {
      reaches = reaches || upstream_[static_cast<std::size_t>(i)][static_cast<std::size_t>(node.index)];
      const std::vector<NodeId> read = contraction_.route_to_reward(node, {i});
      if (read.empty() || graph_.shape(node).parameter_count() == 0) continue;
      add({.code = "no-gradient",
           .node = graph_.name(node),
           .message = fmt::format(
               "reward '{}' follows from it with no stochastic node between; of a black box only the "
               "value is observed, so its parameters have no gradient",
               graph_.name(RewardId{i})),
           .witness = {route_names(read, {i})},
           .help = {fmt::format("let the reward read a stochastic node instead, e.g. "
                                "graph.add(\"action\", Categorical{{.classes = 2}}, {{{}}});",
                                graph_.name(read.back()))}});
    }
    if (!reaches) warn_of_no_route(node);
  }

  Route route_names(std::span<const NodeId> nodes, RewardId reward) const {
    Route route;
    for (const NodeId node : nodes) route.push_back(graph_.name(node));
    route.push_back(graph_.name(reward));
    return route;
  }

  Facts facts(NodeId node, RewardId reward) const {
    return {.assumption_1 = !violations_.contains(node),
            .reads_directly = !contraction_.route_to_reward(node, reward).empty(),
            .has_children = !contraction_.children(node).empty(),
            .outcomes = graph_.shape(node).outcomes()};
  }

  /// A user's estimator that cannot even answer is not admissible; validate must not throw for it.
  Verdict ask(const AnyEstimator& estimator, NodeId node, const Facts& known) const {
    const int steps = estimator.needs().hindsight_steps;
    if (steps > 1)
      return undefined(fmt::format("it asks for {} steps of hindsight; the backward pass brings one", steps));
    try {
      const Verdict verdict = estimator.admissible(known);
      return steps > 0 && verdict.admissible ? within_limit(node, verdict) : verdict;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const Error& refusal) {
      const auto& said = refusal.report().diagnostics;
      return undefined(
          fmt::format("its admissible threw: {}", said.empty() ? "an empty report" : said.front().message));
    } catch (const std::exception& problem) {
      return undefined(fmt::format("its admissible threw: {}", problem.what()));
    } catch (...) {
      return undefined("its admissible threw");
    }
  }

  Verdict within_limit(NodeId node, const Verdict& verdict) const {
    const Downstream& below = contraction_.below_functions(node);
    const double cost = reevaluation_cost(graph_, node, below);
    if (cost <= options_.reevaluation_limit) return verdict;
    std::vector<std::string> functions;
    for (const NodeId function : below.functions) functions.push_back(graph_.name(function));
    return {.admissible = false,
            .unbiased = true,
            .reason = Reason::cost,
            .why = fmt::format(
                "evaluating '{}' anew for each of its outcomes takes {:.3g} multiplications per sample, "
                "more than the limit of {:.3g}",
                fmt::join(functions, "', '"), cost, options_.reevaluation_limit),
            .alternatives = {{"Reinforce{}", "unbiased everywhere, more variance"}}};
  }

  static Verdict undefined(std::string why) {
    return {.admissible = false, .unbiased = false, .reason = Reason::undefined, .why = std::move(why)};
  }

  const Credit& assign(NodeId node, RewardId reward) {
    const Facts known = facts(node, reward);
    Credit credit{.node = graph_.name(node),
                  .reward = graph_.name(reward),
                  .estimator = {},
                  .verdict = {},
                  .why = {},
                  .opinions = {}};
    for (const AnyEstimator& estimator : catalogue_.offered())
      credit.opinions.push_back({estimator.name(), ask(estimator, node, known)});
    std::optional<AnyEstimator> chosen = graph_.choice(node, reward).chosen();
    credit.automatic = !chosen;
    if (!chosen) chosen = choose(node, known, credit);
    if (chosen) {
      credit.estimator = chosen->name();
      credit.verdict = ask(*chosen, node, known);
      if (credit.why.empty()) credit.why = credit.verdict.why;
      result_.assignments.push_back({node, reward, *chosen});
      judge(node, reward, known, credit);
    }
    return result_.report.credits.emplace_back(std::move(credit));
  }

  /// Auto: the first preferred estimator that is admissible and unbiased; `why` tells what was refused before
  /// it.
  std::optional<AnyEstimator> choose(NodeId node, const Facts& known, Credit& credit) {
    for (const AnyEstimator& estimator : catalogue_.preferred()) {
      const Verdict verdict = ask(estimator, node, known);
      if (verdict.admissible && verdict.unbiased) return estimator;
      if (credit.why.empty()) credit.why = fmt::format("not {}: {}", estimator.name(), verdict.why);
    }
    add({.code = "no-estimator",
         .node = credit.node,
         .message =
             fmt::format("Auto found no admissible, unbiased estimator for reward '{}'", credit.reward),
         .help = {"catalogue.prefer(Reinforce{});"}});
    return std::nullopt;
  }

  void judge(NodeId node, RewardId reward, const Facts& known, const Credit& credit) {
    const Verdict& verdict = credit.verdict;
    if (verdict.admissible && verdict.unbiased) return;
    // The longer call where the shorter one would be overruled, or would say more than was asked.
    const bool per_reward = graph_.has_own_choice(node, reward) ||
                            (graph_.reward_count() > 1 && verdict.reason != Reason::policy);
    const std::string arguments =
        per_reward ? fmt::format("{}, {}", credit.node, credit.reward) : credit.node;
    if (verdict.reason == Reason::policy && !known.assumption_1) {
      if (!reported_[node])
        note_violation(node, Severity::error, "", help(arguments, verdict), Reason::policy);
      reported_[node] = true;
      return;
    }
    const bool direct = known.reads_directly && verdict.reason == Reason::biased && !verdict.admissible;
    Diagnostic diagnostic{
        .severity = verdict.admissible ? Severity::warning : Severity::error,
        .code = direct               ? "reward-reads-node"
                : verdict.admissible ? "biased-estimator"
                                     : "inadmissible-estimator",
        .node = credit.node,
        .message = fmt::format("{} for reward '{}': {}", credit.estimator, credit.reward, verdict.why),
        .help = help(arguments, verdict),
        .reason = verdict.reason};
    if (direct) diagnostic.witness = {route_names(contraction_.route_to_reward(node, reward), reward)};
    if (const double cost = reevaluation_cost(graph_, node, contraction_.below_functions(node));
        verdict.reason == Reason::cost && cost > options_.reevaluation_limit)
      diagnostic.help.push_back(
          fmt::format("or compile(graph, {{.reevaluation_limit = {:.3g}}});", 2 * cost));
    add(std::move(diagnostic));
  }

  std::vector<std::string> help(const std::string& arguments, const Verdict& verdict) const {
    std::vector<std::string> lines;
    if (verdict.alternatives.empty())
      lines.push_back(fmt::format("graph.estimate_with({}, Auto{{}});", arguments));
    for (const Alternative& alternative : verdict.alternatives)
      lines.push_back(fmt::format("graph.estimate_with({}, {});   // {}", arguments, alternative.expression,
                                  alternative.remark));
    return lines;
  }

  void note_violation(NodeId node, Severity severity, const std::string& remark,
                      std::vector<std::string> help, Reason reason = Reason::none) {
    const Violation& violation = violations_.at(node);
    const auto name = [&](const UnitRef& ref) { return to_string(graph_, ref); };
    Route shorter, longer;
    for (const UnitRef& ref : violation.edge) shorter.push_back(name(ref));
    for (const UnitRef& ref : violation.route) longer.push_back(name(ref));
    if (severity == Severity::error)
      help.push_back(fmt::format("or drop the {} {}", violation.edge.size() == 2 ? "edge" : "route",
                                 fmt::join(shorter, " → ")));
    std::string message =
        fmt::format("Assumption 1 is violated: '{}' and its descendant '{}' are both parents of '{}'",
                    name(violation.node), name(violation.coparent), name(violation.child));
    if (!remark.empty()) message += "; " + remark;
    add({.severity = severity,
         .code = "assumption-1",
         .node = graph_.name(node),
         .message = std::move(message),
         .witness = {std::move(shorter), std::move(longer)},
         .help = std::move(help),
         .reason = reason});
  }

  const Graph& graph_;
  const Catalogue& catalogue_;
  const ValidateOptions options_;
  const Contraction contraction_;
  std::map<NodeId, Violation> violations_;
  std::map<NodeId, bool> reported_;
  std::vector<std::vector<bool>> upstream_;
  Examination result_;
};

}  // namespace

Examination examine(const Graph& graph, const Catalogue& catalogue, const ValidateOptions& options) {
  return Examiner(graph, catalogue, options).run();
}

Report validate(const Graph& graph, const Catalogue& catalogue, const ValidateOptions& options) {
  return examine(graph, catalogue, options).report;
}

}  // namespace hindsight
