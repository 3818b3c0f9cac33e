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

#include <hindsight/graph/topology.hpp>

namespace hindsight {
namespace {

class Examiner {
 public:
  Examiner(const Graph& graph, const Catalogue& catalogue, const ValidateOptions& options)
      : graph_(graph), catalogue_(catalogue), strict_(options.strict) {
    const auto inputs = strict_ ? InputPolicy::checked : InputPolicy::exempt;
    for (Violation& violation : find_violations(graph, inputs))
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
    for (int i = 0; i < graph_.node_count(); ++i) count += graph_.is_input({i}) ? 0 : 1;
    return count;
  }

  void list_nodes() {
    const std::vector<int> level = levels(graph_);
    for (int i = 0; i < graph_.node_count(); ++i) {
      const NodeId node{i};
      result_.report.nodes.push_back({.name = graph_.name(node),
                                      .kind = std::string(graph_.kind(node)),
                                      .units = graph_.shape(node).units,
                                      .level = level[static_cast<std::size_t>(i)],
                                      .checked = strict_ || !graph_.is_input(node),
                                      .assumption_1 = !violations_.contains(node)});
    }
  }

  void examine_node(NodeId node) {
    if (graph_.is_input(node)) {
      if (violations_.contains(node))
        note_violation(node, Severity::warning, "harmless: an input is given, not credited", {});
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
    if (!credited && graph_.reward_count() > 0)
      add({.severity = Severity::warning,
           .code = "no-path-to-reward",
           .node = graph_.name(node),
           .message = "no route leads from it to a reward; its gradient is zero and it will not learn",
           .help = {fmt::format("let a reward, or a node that leads to one, read '{}', or leave it out",
                                graph_.name(node))}});
    if (!violations_.contains(node)) return;
    if (!credited)
      note_violation(node, Severity::note, "nothing depends on it, since no reward credits the node", {});
    else if (admissible)
      note_violation(
          node, Severity::note,
          fmt::format("credited by {}, which does not need the assumption", fmt::join(estimators, ", ")), {});
  }

  Facts facts(NodeId node, RewardId reward) const {
    const auto reads = graph_.reads(reward);
    return {.assumption_1 = !violations_.contains(node),
            .reads_directly = std::binary_search(reads.begin(), reads.end(), node),
            .has_children = !graph_.children(node).empty(),
            .outcomes = graph_.shape(node).outcomes()};
  }

  /// A user's estimator that cannot even answer is not admissible; validate must not throw for it.
  static Verdict ask(const AnyEstimator& estimator, const Facts& known) {
    if (const int steps = estimator.needs().hindsight_steps; steps > 1)
      return undefined(fmt::format("it asks for {} steps of hindsight; the backward pass brings one", steps));
    try {
      return estimator.admissible(known);
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
      credit.opinions.push_back({estimator.name(), ask(estimator, known)});
    std::optional<AnyEstimator> chosen = graph_.choice(node, reward).chosen();
    credit.automatic = !chosen;
    if (!chosen) chosen = choose(known, credit);
    if (chosen) {
      credit.estimator = chosen->name();
      credit.verdict = ask(*chosen, known);
      if (credit.why.empty()) credit.why = credit.verdict.why;
      result_.assignments.push_back({node, reward, *chosen});
      judge(node, reward, known, credit);
    }
    return result_.report.credits.emplace_back(std::move(credit));
  }

  /// Auto: the first preferred estimator that is admissible and unbiased; `why` tells what was refused before
  /// it.
  std::optional<AnyEstimator> choose(const Facts& known, Credit& credit) {
    for (const AnyEstimator& estimator : catalogue_.preferred()) {
      const Verdict verdict = ask(estimator, known);
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
    if (direct) diagnostic.witness = {{graph_.name(node), graph_.name(reward)}};
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
    Route longer;
    for (const UnitRef& ref : violation.route) longer.push_back(name(ref));
    if (severity == Severity::error)
      help.push_back(fmt::format("or drop the edge {} → {}", name(violation.node), name(violation.child)));
    std::string message =
        fmt::format("Assumption 1 is violated: '{}' and its descendant '{}' are both parents of '{}'",
                    name(violation.node), name(violation.coparent), name(violation.child));
    if (!remark.empty()) message += "; " + remark;
    add({.severity = severity,
         .code = "assumption-1",
         .node = graph_.name(node),
         .message = std::move(message),
         .witness = {{name(violation.node), name(violation.child)}, std::move(longer)},
         .help = std::move(help),
         .reason = reason});
  }

  const Graph& graph_;
  const Catalogue& catalogue_;
  bool strict_;
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
