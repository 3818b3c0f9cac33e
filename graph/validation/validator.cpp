#include <hindsight/graph/validation_result.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/core/index.hpp>
#include <hindsight/core/memory.hpp>
#include <hindsight/graph/baseline_rules.hpp>
#include <hindsight/graph/clamped_rerun.hpp>
#include <hindsight/graph/diagnostic_list.hpp>
#include <hindsight/graph/estimator_verdicts.hpp>
#include <hindsight/graph/find_violations.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/help_lines.hpp>
#include <hindsight/graph/pathwise_rules.hpp>
#include <hindsight/graph/unit_routes.hpp>
#include <hindsight/graph/value_rules.hpp>
#include <hindsight/graph/violation_notes.hpp>
#include <hindsight/graph/violations.hpp>

namespace hindsight {
namespace internal {
namespace {

/// With texts that explain it, and the assignment that follows.
constexpr double bytes_per_credit = sizeof(CreditVerdict) + sizeof(Assignment) + 128;

class Validator {
 public:
  Validator(const Graph& graph, const Catalogue& catalogue, const ValidateOptions& options)
      : graph_(graph),
        options_(options),
        contraction_(graph),
        violations_(find_violations(graph, contraction_,
                                    options.strict ? InputPolicy::checked : InputPolicy::exempt)),
        verdicts_(graph, contraction_, catalogue, options),
        have_slopes_(have_slopes_of_children(graph)),
        without_route_(units_without_route(graph)),
        diagnostics_(graph, result_.report),
        violation_notes_(graph, contraction_, diagnostics_) {}

  ValidationResult run() {
    Report& report = result_.report;
    report.edges = graph_.edge_count();
    report.rewards = static_cast<std::size_t>(graph_.reward_count());
    if (stochastic_nodes() == 0) {
      diagnostics_.add({.code = "empty-graph",
                        .message = "the graph has no stochastic nodes, so there is nothing to learn",
                        .help = {lines_.add_stochastic_node()}});
      return std::move(result_);
    }
    for (Diagnostic& wrong : check_limits(options_)) diagnostics_.add(std::move(wrong));
    if (graph_.reward_count() == 0)
      diagnostics_.add({.code = "no-reward",
                        .message = "the graph has no reward, so there is nothing to learn from",
                        .help = {lines_.add_reward(NodeId{graph_.node_count() - 1})}});
    list_nodes();
    const double bits = 2.0 * graph_.reward_count() * graph_.node_count();
    double credits = 0;
    for (const RewardId reward : graph_.rewards()) {
      const std::vector<bool>& upstream = upstream_.emplace_back(upstream_of(graph_, reward));
      for (const NodeId node : graph_.nodes())
        credits += upstream[index(node)] && graph_.is_stochastic(node) ? 1 : 0;
      require_memory(bits / 8 + bytes_per_credit * credits,
                     "a report on every node and every reward that it leads to",
                     "add rewards that credit the same nodes up to one, or split the graph");
      read_directly_.push_back(contraction_.read_directly(reward));
    }
    report.credits.reserve(static_cast<std::size_t>(credits));
    result_.assignments.reserve(static_cast<std::size_t>(credits));
    for (const NodeId node : graph_.nodes()) examine_node(node);
    std::stable_sort(report.diagnostics.begin(), report.diagnostics.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
    return std::move(result_);
  }

 private:
  using Lines = ViolationNotes::Lines;
  int stochastic_nodes() const {
    int count = 0;
    for (const NodeId node : graph_.nodes()) count += graph_.is_stochastic(node) ? 1 : 0;
    return count;
  }

  void list_nodes() {
    const std::vector<int> level = levels(graph_);
    result_.report.nodes.reserve(level.size());
    for (const NodeId node : graph_.nodes()) {
      result_.report.nodes.push_back(
          {.name = graph_.name(node),
           .kind = std::string(graph_.kind(node)),
           .units = graph_.shape(node).units,
           .level = level[index(node)],
           .checked = graph_.is_stochastic(node) || (options_.strict && graph_.is_input(node)),
           .deterministic = graph_.is_deterministic(node),
           .assumption_1 = !violations_.contains(node)});
    }
  }

  void examine_node(NodeId node) {
    if (graph_.is_input(node)) {
      if (violations_.contains(node))
        violation_notes_.note(node, Severity::warning,
                              [] { return std::string("harmless: an input is given, not credited"); });
      return;
    }
    if (graph_.is_deterministic(node)) return examine_function(node);
    if (auto wrong = infinite_value(graph_, node))
      diagnostics_.add({.code = "values", .node = node}, [&] { return std::move(*wrong); });
    bool credited = false, admissible = true;
    const std::size_t first_credit = result_.report.credits.size(),
                      first_assignment = result_.assignments.size();
    ViolationNotes::Refusal violation;
    for (const RewardId reward : graph_.rewards()) {
      if (!upstream_[index(reward)][index(node)]) continue;
      credited = true;
      const CreditVerdict& credit = assign(node, reward, violation);
      admissible = admissible && credit.verdict.admissible && !credit.estimator.empty();
    }
    const auto assigned = std::span<const Assignment>(result_.assignments).subspan(first_assignment);
    if (mixes_pathwise(assigned))
      diagnostics_.add({.code = "mixed-pathwise", .node = node},
                       [&] { return explain_pathwise_mix(graph_, contraction_, assigned); });
    warn_of_lost_units(node);
    if (!violations_.contains(node)) return;
    if (!credited)
      violation_notes_.note(node, Severity::note, [] {
        return std::string("nothing depends on it, since no reward credits the node");
      });
    else if (admissible)
      violation_notes_.note(node, Severity::note, [&] {
        std::set<std::string> estimators;
        for (std::size_t i = first_credit; i < result_.report.credits.size(); ++i)
          estimators.insert(result_.report.credits[i].estimator);
        return fmt::format("credited by {}, which does not need the assumption", fmt::join(estimators, ", "));
      });
  }

  void warn_of_lost_units(NodeId node) {
    if (const LostUnits& lost = without_route_[index(node)]; lost.count > 0 && graph_.reward_count() > 0)
      diagnostics_.add({.severity = Severity::warning, .code = "no-path-to-reward", .node = node},
                       [&] { return explain_lost_units(graph_, node, lost); });
  }

  /// It learns from the slopes of the stochastic nodes below; a reward that it determines by itself gives
  /// none.
  void examine_function(NodeId node) {
    for (const RewardId reward : graph_.rewards()) {
      if (!is_read_directly(node, reward) || graph_.shape(node).parameter_count == 0) continue;
      diagnostics_.add({.code = "no-gradient", .node = node}, [&] {
        const std::vector<NodeId> read = contraction_.route_to_reward(node, reward);
        return Diagnostic{.message = fmt::format(
                              "reward '{}' follows from it with no stochastic node between; of {} only the "
                              "value is {}, so its parameters have no gradient",
                              graph_.name(reward), graph_.is_known(reward) ? "its function" : "a black box",
                              graph_.is_known(reward) ? "known" : "observed"),
                          .witness = {route_names(read, reward)},
                          .help = {lines_.read_stochastic_node(read.back())}};
      });
    }
    warn_of_lost_units(node);
  }

  Route route_names(std::span<const NodeId> nodes, RewardId reward) const {
    Route route;
    for (const NodeId node : nodes) route.push_back(graph_.name(node));
    route.push_back(graph_.name(reward));
    return route;
  }

  bool is_read_directly(NodeId node, RewardId reward) const {
    return read_directly_[index(reward)][index(node)];
  }

  Facts facts_of(NodeId node, RewardId reward) const {
    return {.assumption_1 = !violations_.contains(node),
            .reads_directly = is_read_directly(node, reward),
            .reward_is_known = graph_.is_known(reward),
            .has_children = !contraction_.children(node).empty(),
            .outcome_count = graph_.shape(node).outcome_count(),
            .children_have_slopes = have_slopes_[index(node)]};
  }

  const CreditVerdict& assign(NodeId node, RewardId reward, ViolationNotes::Refusal& violation) {
    const Facts facts = facts_of(node, reward);
    CreditVerdict credit{.node = graph_.name(node),
                         .reward = graph_.name(reward),
                         .estimator = {},
                         .baseline = {},
                         .verdict = {},
                         .why = {},
                         .opinions = {}};
    const CatalogueVerdicts& verdicts = verdicts_.of(node, reward, facts);
    credit.opinions = verdicts.opinions;
    std::optional<AnyEstimator> chosen = graph_.choice(node, reward).chosen();
    credit.automatic = !chosen;
    if (chosen) {
      credit.verdict = verdicts_.ask(*chosen, node, reward, facts);
    } else {
      chosen = verdicts.chosen;
      credit.verdict = verdicts.verdict;
      credit.why = verdicts.passed_over;
      if (!chosen) refuse_auto(node, reward);
    }
    if (chosen) {
      credit.estimator = chosen->name();
      if (credit.why.empty()) credit.why = credit.verdict.why;
      // Slopes hold what their children's signals are; a baseline of the node's own has no place in them.
      std::optional<AnyBaseline> baseline;
      if (!chosen->needs().pathwise)
        baseline = graph_.baseline_of(node, reward).chosen();
      else if (has_baseline_of_its_own(graph_, node, reward))
        diagnostics_.add({.severity = Severity::warning, .code = "unused-baseline", .node = node},
                         [&] { return explain_unused_baseline(graph_, node, reward, *chosen); });
      if (baseline) {
        credit.baseline = baseline->name();
        if (auto wrong = samples_of_inputs_.check(graph_, node, reward, *baseline))
          diagnostics_.add({.code = "replicas-differ", .node = node}, [&] { return std::move(*wrong); });
      }
      result_.assignments.push_back({node, reward, *chosen, baseline});
      judge(node, reward, facts, credit, *chosen, violation);
    }
    return result_.report.credits.emplace_back(std::move(credit));
  }

  void refuse_auto(NodeId node, RewardId reward) {
    diagnostics_.add({.code = "no-estimator", .node = node}, [&] {
      return Diagnostic{.message = fmt::format("Auto found no admissible, unbiased estimator for reward '{}'",
                                               graph_.name(reward)),
                        .help = {lines_.prefer_reinforce(node)}};
    });
  }

  void judge(NodeId node, RewardId reward, const Facts& facts, const CreditVerdict& credit,
             const AnyEstimator& chosen, ViolationNotes::Refusal& violation) {
    const Needs needs = chosen.needs();
    const Verdict& verdict = credit.verdict;
    if (verdict.admissible && verdict.unbiased) return;
    if (verdict.reason == Reason::policy && !facts.assumption_1) {
      violation_notes_.refuse(
          node, [&] { return help(node, concerned(node, reward, verdict, needs), verdict.alternatives); },
          violation);
      return;
    }
    const bool direct = facts.reads_directly && verdict.reason == Reason::biased && !verdict.admissible;
    diagnostics_.add(
        {.severity = verdict.admissible ? Severity::warning : Severity::error,
         .code = direct               ? "reward-reads-node"
                 : verdict.admissible ? "biased-estimator"
                                      : "inadmissible-estimator",
         .node = node},
        [&] {
          Diagnostic diagnostic{
              .message = fmt::format("{} for reward '{}': {}", credit.estimator, credit.reward, verdict.why),
              .help = help(node, concerned(node, reward, verdict, needs),
                           alternatives(node, reward, verdict, chosen)),
              .reason = verdict.reason};
          const bool no_slopes = needs.pathwise && !verdict.admissible;
          if (direct || (no_slopes && facts.reads_directly))
            diagnostic.witness = {route_names(contraction_.route_to_reward(node, reward), reward)};
          else if (no_slopes && !facts.children_have_slopes)
            diagnostic.witness = {{graph_.name(node), graph_.name(child_without_slopes(graph_, node))}};
          const double cost = rerun_cost(graph_, node, contraction_.below_functions(node), facts);
          const auto raised =
              verdict.reason == Reason::cost ? verdicts_.raise_limit(chosen, node, reward) : std::nullopt;
          if (raised)
            diagnostic.help.push_back(*raised);
          else if (verdict.reason == Reason::cost && cost > options_.rerun_limit)
            diagnostic.help.push_back(lines_.raise_limit("rerun_limit", 2 * cost));
          return diagnostic;
        });
  }

  /// The longer call where the shorter one would be overruled, or would say more than was asked.
  std::optional<RewardId> concerned(NodeId node, RewardId reward, const Verdict& verdict,
                                    const Needs& needs) const {
    const bool per_reward =
        graph_.has_own_choice(node, reward) ||
        (graph_.reward_count() > 1 && verdict.reason != Reason::policy && !needs.pathwise);
    return per_reward ? std::optional(reward) : std::nullopt;
  }

  /// Slopes serve all rewards of a node or none, so what takes their place must serve all of them, too.
  std::vector<Alternative> alternatives(NodeId node, RewardId reward, const Verdict& verdict,
                                        const AnyEstimator& chosen) {
    std::vector<Alternative> serving = verdict.alternatives;
    if (!chosen.needs().pathwise || graph_.has_own_choice(node, reward)) return serving;
    for (const RewardId other : graph_.rewards())
      if (upstream_[index(other)][index(node)])
        keep_common(serving, verdicts_.ask(chosen, node, other, facts_of(node, other)).alternatives);
    return serving;
  }

  Lines help(NodeId node, std::optional<RewardId> reward, std::span<const Alternative> alternatives) const {
    Lines lines;
    if (alternatives.empty()) lines.push_back(lines_.estimate_with_auto(node, reward));
    for (const Alternative& alternative : alternatives)
      lines.push_back(lines_.estimate_with(node, reward, alternative));
    return lines;
  }

  const Graph& graph_;
  const HelpLines lines_{graph_};
  const ValidateOptions options_;
  const Contraction contraction_;
  const Violations violations_;
  EstimatorVerdicts verdicts_;
  const std::vector<bool> have_slopes_;         ///< per node: of all its children
  const std::vector<LostUnits> without_route_;  ///< per node
  SamplesOfInputs samples_of_inputs_;
  std::vector<std::vector<bool>> upstream_, read_directly_;  ///< per reward and node
  ValidationResult result_;
  DiagnosticList diagnostics_;
  ViolationNotes violation_notes_;
};

}  // namespace

ValidationResult examine(const Graph& graph, const Catalogue& catalogue, const ValidateOptions& options) {
  try {
    return Validator(graph, catalogue, options).run();
  } catch (const Error& refusal) {  // what would not fit into memory is a finding, too
    ValidationResult result;
    result.report.diagnostics = refusal.report().diagnostics;
    return result;
  }
}

}  // namespace internal

Report validate(const Graph& graph, const Catalogue& catalogue, const ValidateOptions& options) {
  return internal::examine(graph, catalogue, options).report;
}

}  // namespace hindsight
