#include <hindsight/graph/validator.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/graph/baseline_rules.hpp>
#include <hindsight/graph/pathwise_rules.hpp>
#include <hindsight/graph/reevaluation.hpp>
#include <hindsight/graph/rulings.hpp>
#include <hindsight/graph/topology.hpp>
#include <hindsight/graph/violations.hpp>
#include <hindsight/graph/witness.hpp>

namespace hindsight {
namespace {

class Examiner {
 public:
  Examiner(const Graph& graph, const Catalogue& catalogue, const ValidateOptions& options)
      : graph_(graph),
        options_(options),
        contraction_(graph),
        violations_(find_violations(graph, contraction_,
                                    options.strict ? InputPolicy::checked : InputPolicy::exempt)),
        rulings_(graph, contraction_, catalogue, options),
        have_slopes_(have_slopes_of_children(graph)) {}

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
    for (Diagnostic& wrong : check_limits(options_)) add(std::move(wrong));
    if (graph_.reward_count() == 0)
      add({.code = "no-reward",
           .message = "the graph has no reward, so there is nothing to learn from",
           .help = {fmt::format("graph.reward(\"reward\", {{{}}});",
                                graph_.name(NodeId{graph_.node_count() - 1}))}});
    list_nodes();
    for (int i = 0; i < graph_.reward_count(); ++i) {
      upstream_.push_back(upstream_of(graph_, {i}));
      read_directly_.push_back(contraction_.read_directly({i}));
    }
    for (int i = 0; i < graph_.node_count(); ++i) examine_node({i});
    std::stable_sort(report.diagnostics.begin(), report.diagnostics.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
    return std::move(result_);
  }

 private:
  using Lines = std::vector<std::string>;
  struct Heading {
    Severity severity = Severity::error;
    std::string_view code;
    NodeId node;
  };

  void add(Diagnostic diagnostic) { result_.report.diagnostics.push_back(std::move(diagnostic)); }

  /// Adds what `write` returns, as often as a report shows a diagnostic; after that only the node's name.
  template <class Write>
  void add(const Heading& heading, const Write& write) {
    Said& said = said_[{heading.severity, heading.code}];
    if (said.times++ < shown_per_code) {
      Diagnostic diagnostic = write();
      diagnostic.severity = heading.severity;
      diagnostic.code = heading.code;
      diagnostic.node = graph_.name(heading.node);
      add(std::move(diagnostic));
      return;
    }
    std::vector<Further>& further = result_.report.further;
    if (!said.further) {
      said.further = further.size();
      further.push_back({heading.severity, std::string(heading.code), {}});
    }
    further[*said.further].nodes.push_back(graph_.name(heading.node));
  }

  int stochastic_nodes() const {
    int count = 0;
    for (int i = 0; i < graph_.node_count(); ++i) count += graph_.is_stochastic({i}) ? 1 : 0;
    return count;
  }

  void list_nodes() {
    const std::vector<int> level = levels(graph_);
    result_.report.nodes.reserve(level.size());
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
        note_violation(node, Severity::warning,
                       [] { return std::string("harmless: an input is given, not credited"); });
      return;
    }
    if (graph_.is_deterministic(node)) {
      examine_function(node);
      return;
    }
    bool credited = false, admissible = true;
    const std::size_t first_credit = result_.report.credits.size(),
                      first_assignment = result_.assignments.size();
    is_violation_reported_ = false;
    for (int i = 0; i < graph_.reward_count(); ++i) {
      if (!upstream_[static_cast<std::size_t>(i)][static_cast<std::size_t>(node.index)]) continue;
      credited = true;
      const Credit& credit = assign(node, {i});
      admissible = admissible && credit.verdict.admissible && !credit.estimator.empty();
    }
    const auto assigned = std::span<const Assignment>(result_.assignments).subspan(first_assignment);
    if (mixes_pathwise(assigned))
      add({.code = "mixed-pathwise", .node = node},
          [&] { return explain_pathwise_mix(graph_, contraction_, assigned); });
    if (!credited) warn_of_no_route(node);
    if (!violations_.contains(node)) return;
    if (!credited)
      note_violation(node, Severity::note,
                     [] { return std::string("nothing depends on it, since no reward credits the node"); });
    else if (admissible)
      note_violation(node, Severity::note, [&] {
        std::set<std::string> estimators;
        for (std::size_t i = first_credit; i < result_.report.credits.size(); ++i)
          estimators.insert(result_.report.credits[i].estimator);
        return fmt::format("credited by {}, which does not need the assumption", fmt::join(estimators, ", "));
      });
  }

  void warn_of_no_route(NodeId node) {
    if (graph_.reward_count() == 0) return;
    add({.severity = Severity::warning, .code = "no-path-to-reward", .node = node}, [&] {
      return Diagnostic{
          .message = "no route leads from it to a reward; its gradient is zero and it will not learn",
          .help = {fmt::format("let a reward, or a node that leads to one, read '{}', or leave it out",
                               graph_.name(node))}};
    });
  }

  /// It learns from the slopes of the stochastic nodes below; a reward that it determines by itself gives
  /// none.
  void examine_function(NodeId node) {
    bool reaches = false;
    for (int i = 0; i < graph_.reward_count(); ++i) {
      reaches = reaches || upstream_[static_cast<std::size_t>(i)][static_cast<std::size_t>(node.index)];
      if (!is_read_directly(node, {i}) || graph_.shape(node).parameter_count() == 0) continue;
      add({.code = "no-gradient", .node = node}, [&] {
        const std::vector<NodeId> read = contraction_.route_to_reward(node, {i});
        return Diagnostic{.message = fmt::format(
                              "reward '{}' follows from it with no stochastic node between; of {} only the "
                              "value is {}, so its parameters have no gradient",
                              graph_.name(RewardId{i}), graph_.is_known({i}) ? "its function" : "a black box",
                              graph_.is_known({i}) ? "known" : "observed"),
                          .witness = {route_names(read, {i})},
                          .help = {fmt::format("let the reward read a stochastic node instead, e.g. "
                                               "graph.add(\"action\", Categorical{{.classes = 2}}, {{{}}});",
                                               graph_.name(read.back()))}};
      });
    }
    if (!reaches) warn_of_no_route(node);
  }

  Route route_names(std::span<const NodeId> nodes, RewardId reward) const {
    Route route;
    for (const NodeId node : nodes) route.push_back(graph_.name(node));
    route.push_back(graph_.name(reward));
    return route;
  }

  bool is_read_directly(NodeId node, RewardId reward) const {
    return read_directly_[static_cast<std::size_t>(reward.index)][static_cast<std::size_t>(node.index)];
  }

  Facts facts(NodeId node, RewardId reward) const {
    return {.assumption_1 = !violations_.contains(node),
            .reads_directly = is_read_directly(node, reward),
            .known = graph_.is_known(reward),
            .has_children = !contraction_.children(node).empty(),
            .outcomes = graph_.shape(node).outcomes(),
            .children_have_slopes = have_slopes_[static_cast<std::size_t>(node.index)]};
  }

  const Credit& assign(NodeId node, RewardId reward) {
    const Facts known = facts(node, reward);
    Credit credit{.node = graph_.name(node),
                  .reward = graph_.name(reward),
                  .estimator = {},
                  .baseline = {},
                  .verdict = {},
                  .why = {},
                  .opinions = {}};
    const Ruling& ruling = rulings_.of(node, reward, known);
    credit.opinions = ruling.opinions;
    std::optional<AnyEstimator> chosen = graph_.choice(node, reward).chosen();
    credit.automatic = !chosen;
    if (chosen) {
      credit.verdict = rulings_.ask(*chosen, node, reward, known);
    } else {
      chosen = ruling.chosen;
      credit.verdict = ruling.verdict;
      credit.why = ruling.passed_over;
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
        add({.severity = Severity::warning, .code = "unused-baseline", .node = node},
            [&] { return explain_unused_baseline(graph_, node, reward, *chosen); });
      if (baseline) {
        credit.baseline = baseline->name();
        if (auto wrong = samples_of_inputs_.check(graph_, node, reward, *baseline))
          add({.code = "replicas-differ", .node = node}, [&] { return std::move(*wrong); });
      }
      result_.assignments.push_back({node, reward, *chosen, baseline});
      judge(node, reward, known, credit, *chosen);
    }
    return result_.report.credits.emplace_back(std::move(credit));
  }

  void refuse_auto(NodeId node, RewardId reward) {
    add({.code = "no-estimator", .node = node}, [&] {
      return Diagnostic{.message = fmt::format("Auto found no admissible, unbiased estimator for reward '{}'",
                                               graph_.name(reward)),
                        .help = {"catalogue.prefer(Reinforce{});"}};
    });
  }

  void judge(NodeId node, RewardId reward, const Facts& known, const Credit& credit,
             const AnyEstimator& chosen) {
    const Needs needs = chosen.needs();
    const Verdict& verdict = credit.verdict;
    if (verdict.admissible && verdict.unbiased) return;
    if (verdict.reason == Reason::policy && !known.assumption_1) {
      refuse_violation(node,
                       [&] { return help(arguments(node, reward, verdict, needs), verdict.alternatives); });
      return;
    }
    const bool direct = known.reads_directly && verdict.reason == Reason::biased && !verdict.admissible;
    add({.severity = verdict.admissible ? Severity::warning : Severity::error,
         .code = direct               ? "reward-reads-node"
                 : verdict.admissible ? "biased-estimator"
                                      : "inadmissible-estimator",
         .node = node},
        [&] {
          Diagnostic diagnostic{
              .message = fmt::format("{} for reward '{}': {}", credit.estimator, credit.reward, verdict.why),
              .help =
                  help(arguments(node, reward, verdict, needs), alternatives(node, reward, verdict, chosen)),
              .reason = verdict.reason};
          const bool no_slopes = needs.pathwise && !verdict.admissible;
          if (direct || (no_slopes && known.reads_directly))
            diagnostic.witness = {route_names(contraction_.route_to_reward(node, reward), reward)};
          else if (no_slopes && !known.children_have_slopes)
            diagnostic.witness = {{graph_.name(node), graph_.name(child_without_slopes(graph_, node))}};
          const double cost = reevaluation_cost(graph_, node, contraction_.below_functions(node), known);
          const auto raised =
              verdict.reason == Reason::cost ? rulings_.raise_limit(chosen, node, reward) : std::nullopt;
          if (raised)
            diagnostic.help.push_back(*raised);
          else if (verdict.reason == Reason::cost && cost > options_.reevaluation_limit)
            diagnostic.help.push_back(
                fmt::format("or compile(graph, {{.reevaluation_limit = {:.3g}}});", 2 * cost));
          return diagnostic;
        });
  }

  /// A violation is told once, with the lines for every reward that it concerns.
  template <class Help>
  void refuse_violation(NodeId node, const Help& help) {
    std::vector<Diagnostic>& said = result_.report.diagnostics;
    if (!std::exchange(is_violation_reported_, true)) {
      const std::size_t at = said.size();
      note_violation(
          node, Severity::error, [] { return std::string(); }, help, Reason::policy);
      violation_ = said.size() > at ? std::optional(at) : std::nullopt;
    } else if (violation_) {
      Lines& lines = said[*violation_].help;
      for (const std::string& line : help())
        if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.insert(lines.end() - 1, line);
    }
  }

  /// The longer call where the shorter one would be overruled, or would say more than was asked.
  std::string arguments(NodeId node, RewardId reward, const Verdict& verdict, const Needs& needs) const {
    const bool per_reward =
        graph_.has_own_choice(node, reward) ||
        (graph_.reward_count() > 1 && verdict.reason != Reason::policy && !needs.pathwise);
    return per_reward ? fmt::format("{}, {}", graph_.name(node), graph_.name(reward)) : graph_.name(node);
  }

  /// Slopes serve all rewards of a node or none, so what takes their place must serve all of them, too.
  std::vector<Alternative> alternatives(NodeId node, RewardId reward, const Verdict& verdict,
                                        const AnyEstimator& chosen) {
    std::vector<Alternative> serving = verdict.alternatives;
    if (!chosen.needs().pathwise || graph_.has_own_choice(node, reward)) return serving;
    for (int i = 0; i < graph_.reward_count(); ++i) {
      if (!upstream_[static_cast<std::size_t>(i)][static_cast<std::size_t>(node.index)]) continue;
      keep_common(serving, rulings_.ask(chosen, node, {i}, facts(node, {i})).alternatives);
    }
    return serving;
  }

  Lines help(const std::string& arguments, std::span<const Alternative> alternatives) const {
    Lines lines;
    if (alternatives.empty()) lines.push_back(fmt::format("graph.estimate_with({}, Auto{{}});", arguments));
    for (const Alternative& alternative : alternatives)
      lines.push_back(fmt::format("graph.estimate_with({}, {});   // {}", arguments, alternative.expression,
                                  alternative.remark));
    return lines;
  }

  template <class Remark>
  void note_violation(NodeId node, Severity severity, const Remark& remark) {
    note_violation(
        node, severity, remark, [] { return Lines{}; }, Reason::none);
  }

  template <class Remark, class Help>
  void note_violation(NodeId node, Severity severity, const Remark& remark, const Help& help, Reason reason) {
    add({.severity = severity, .code = "assumption-1", .node = node}, [&] {
      if (!witnesses_) witnesses_.emplace(graph_, contraction_);
      Diagnostic diagnostic = explain(graph_, witnesses_->shortest(node).value());
      if (const std::string more = remark(); !more.empty()) diagnostic.message += "; " + more;
      const Lines offered = help();
      if (severity == Severity::error)
        diagnostic.help.insert(diagnostic.help.begin(), offered.begin(), offered.end());
      else
        diagnostic.help = offered;
      diagnostic.reason = reason;
      return diagnostic;
    });
  }

  struct Said {
    std::size_t times = 0;
    std::optional<std::size_t> further;  ///< where the report lists the rest
  };

  const Graph& graph_;
  const ValidateOptions options_;
  const Contraction contraction_;
  const Violations violations_;
  Rulings rulings_;
  const std::vector<bool> have_slopes_;  ///< per node: of all its children
  std::optional<WitnessSearch> witnesses_;
  SamplesOfInputs samples_of_inputs_;
  bool is_violation_reported_ = false;    ///< of the node that is being examined
  std::optional<std::size_t> violation_;  ///< where the report shows it
  std::map<std::pair<Severity, std::string_view>, Said> said_;
  std::vector<std::vector<bool>> upstream_, read_directly_;  ///< per reward and node
  Examination result_;
};

}  // namespace

Examination examine(const Graph& graph, const Catalogue& catalogue, const ValidateOptions& options) {
  try {
    return Examiner(graph, catalogue, options).run();
  } catch (const Error& refusal) {  // what would not fit into memory is a finding, too
    Examination examination;
    examination.report.diagnostics = refusal.report().diagnostics;
    return examination;
  }
}

Report validate(const Graph& graph, const Catalogue& catalogue, const ValidateOptions& options) {
  return examine(graph, catalogue, options).report;
}

}  // namespace hindsight
