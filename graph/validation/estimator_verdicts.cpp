#include <hindsight/graph/estimator_verdicts.hpp>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/graph/clamped_rerun.hpp>
#include <hindsight/graph/help_lines.hpp>

namespace hindsight::internal {
namespace {

constexpr const char* out_of_time =
    "with so many units within its steps and those of other nodes, planning what to sum out takes too long";

const Alternative reinforce_instead{"Reinforce{}", "unbiased everywhere, usually more variance", "reinforce"};

Verdict undefined(std::string why) {
  return {.admissible = false, .unbiased = false, .reason = Reason::undefined, .why = std::move(why)};
}

}  // namespace

std::vector<Diagnostic> check_limits(const ValidateOptions& options) {
  std::vector<Diagnostic> wrong;
  // Written so that NaN is refused.
  if (!(options.elimination_limit >= 0 && options.elimination_limit <= largest_limit))
    wrong.push_back(
        {.code = "limit",
         .message = fmt::format("an elimination_limit of {} cannot be kept to; it lies from 0 to {:g}",
                                options.elimination_limit, largest_limit),
         .help = {fmt::format("compile(graph, {{.elimination_limit = {:g}}});",
                              ValidateOptions{}.elimination_limit)}});
  if (!(options.rerun_limit >= 0))
    wrong.push_back(
        {.code = "limit",
         .message =
             fmt::format("a rerun_limit of {} cannot be kept to; it is 0 or more", options.rerun_limit),
         .help = {fmt::format("compile(graph, {{.rerun_limit = {:g}}});", ValidateOptions{}.rerun_limit)}});
  return wrong;
}

EstimatorVerdicts::EstimatorVerdicts(const Graph& graph, const Contraction& contraction,
                                     const Catalogue& catalogue, const ValidateOptions& options)
    : graph_(graph),
      contraction_(contraction),
      catalogue_(catalogue),
      rerun_limit_(options.rerun_limit),
      elimination_limit_(options.elimination_limit),
      planner_(graph, contraction),
      explainer_(graph, contraction) {
  for (const AnyEstimator& estimator : catalogue.preferred())
    prefers_elimination_ = prefers_elimination_ || estimator.needs().hindsight_steps > 1;
}

const CatalogueVerdicts& EstimatorVerdicts::of(NodeId node, RewardId reward, const Facts& facts) {
  if (prefers_elimination_ || !is_within_limit(node, facts))
    return of_its_own_ = ask_catalogue(node, reward, facts);
  const auto found = known_.find(facts);
  return found != known_.end() ? found->second
                               : known_.emplace(facts, ask_catalogue(node, reward, facts)).first->second;
}

CatalogueVerdicts EstimatorVerdicts::ask_catalogue(NodeId node, RewardId reward, const Facts& facts) {
  CatalogueVerdicts verdicts;
  std::vector<Opinion> opinions;
  for (const AnyEstimator& estimator : catalogue_.offered())
    opinions.push_back({estimator.name(), consult(estimator, node, facts)});
  for (std::size_t i = 0; i < opinions.size(); ++i)
    if (opinions[i].verdict.admissible && catalogue_.offered()[i].needs().hindsight_steps > 1)
      opinions[i].verdict.why += "; its cost is worked out where it is chosen";
  verdicts.opinions = std::move(opinions);
  for (const AnyEstimator& estimator : catalogue_.preferred()) {
    Verdict verdict = ask(estimator, node, reward, facts);
    if (verdict.admissible && verdict.unbiased) {
      verdicts.chosen = estimator;
      verdicts.verdict = std::move(verdict);
      break;
    }
    if (verdicts.passed_over.empty())
      verdicts.passed_over = fmt::format("not {}: {}", estimator.name(), verdict.why);
  }
  return verdicts;
}

/// A user's estimator that cannot even answer is not admissible; validate must not throw for it.
Verdict EstimatorVerdicts::consult(const AnyEstimator& estimator, NodeId node, const Facts& facts) const {
  const Needs needs = estimator.needs();
  const bool reruns = needs.hindsight_steps == 1 ||
                      (needs.candidate_rewards && facts.reward_is_known && facts.reads_directly);
  try {
    Verdict verdict = estimator.admissible(facts);
    if (needs.pathwise && verdict.admissible && !facts.children_have_slopes)
      return undefined("one of its children has no backpropagate, so its slope is not known");
    return verdict.admissible && reruns && !is_within_limit(node, facts) ? over_limit(node, facts) : verdict;
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

Verdict EstimatorVerdicts::ask(const AnyEstimator& estimator, NodeId node, RewardId reward,
                               const Facts& facts) {
  const int steps = estimator.needs().hindsight_steps;
  Verdict verdict = consult(estimator, node, facts);
  if (steps < 2 || !verdict.admissible) return verdict;
  const EliminationPlan plan = planner_.costliest(node, reward, steps, elimination_limit_);
  if (!plan.is_complete) return refuse_elimination(plan, steps, node, reward, facts);
  if (plan.is_one_step && !is_within_limit(node, facts)) return over_limit(node, facts);  // messages will do
  return verdict;
}

/// Tables a hundred times as large would not fit into memory.
EliminationPlan EstimatorVerdicts::explained(EliminationPlan plan, int steps, NodeId node, RewardId reward) {
  EliminationPlan more = explainer_.costliest(node, reward, steps, 100 * elimination_limit_);
  return more.cost > elimination_limit_ ? more : plan;
}

Verdict EstimatorVerdicts::refuse_elimination(const EliminationPlan& refused, int steps, NodeId node,
                                              RewardId reward, const Facts& facts) {
  Verdict verdict{
      .admissible = false, .unbiased = true, .reason = Reason::cost, .why = {}, .alternatives = {}};
  // A report writes out only the first; working out how many steps would fit takes time.
  if (refused_eliminations_++ >= shown_per_code) {
    verdict.why =
        planner_.is_in_time()
            ? fmt::format("summing units out takes more operations per sample than the limit of {:.3g}",
                          elimination_limit_)
            : out_of_time;
    verdict.alternatives = {reinforce_instead};
    return verdict;
  }
  const bool is_in_time = planner_.is_in_time();
  const int found = most_steps(steps, node, reward);
  const int fitting = is_in_time && explainer_.is_in_time() ? found : 1;
  const char* const none_fits = explainer_.is_in_time() ? "not even 2 steps fit" : "fewer steps may fit";
  const std::string fit = fitting > 1 ? fmt::format("{} steps fit", fitting) : std::string(none_fits);
  const EliminationPlan plan = explained(refused, steps, node, reward);
  if (!is_in_time) {
    verdict.why = out_of_time;
  } else if (plan.is_explored) {
    const std::size_t summed = plan.variables.size() - 1;
    verdict.why = fmt::format(
        "summing out {} unit{} takes {}{:.3g} operations per sample for one unit, more than the limit of "
        "{:.3g}; the largest table joins {}; {}",
        summed, summed == 1 ? "" : "s", plan.is_complete ? "" : "more than ", plan.cost, elimination_limit_,
        list_nodes(graph_, plan.largest), fit);
  } else {
    verdict.why = fmt::format("too many edges lie within its steps to plan what to sum out; {}", fit);
  }
  std::vector<std::string> options, in_file;
  if (!facts.assumption_1) options.emplace_back(".assumption = Assumption::relaxed");
  if (fitting > 1) options.push_back(fmt::format(".steps = {}", fitting));
  if (fitting > 1) in_file.push_back(fmt::format("steps={}", fitting));
  if (!facts.assumption_1) in_file.emplace_back("assumption=relaxed");
  verdict.alternatives = {
      {fmt::format("Hnca{{{}}}", fmt::join(options, ", ")), fitting > 1 ? "as many steps as fit" : "one step",
       in_file.empty() ? "hnca" : fmt::format("hnca({})", fmt::join(in_file, ","))},
      reinforce_instead};
  return verdict;
}

/// More steps never cost less: the number that fits is found by doubling, then by halves.
int EstimatorVerdicts::most_steps(int fewer_than, NodeId node, RewardId reward) {
  const auto fits = [&](int steps) {
    return explainer_.costliest(node, reward, steps, elimination_limit_).is_complete;
  };
  int fitting = 1, over = fewer_than;
  for (int steps = 2; steps < over; steps = std::min(steps, over - steps) + steps)
    if (fits(steps))
      fitting = steps;
    else
      over = steps;
  while (over - fitting > 1) {
    const int middle = fitting + (over - fitting) / 2;
    (fits(middle) ? fitting : over) = middle;
  }
  return fitting;
}

std::optional<std::string> EstimatorVerdicts::raise_limit(const AnyEstimator& estimator, NodeId node,
                                                          RewardId reward) {
  const int steps = estimator.needs().hindsight_steps;
  if (steps < 2) return std::nullopt;
  const EliminationPlan plan = explainer_.costliest(node, reward, steps, 100 * elimination_limit_);
  if (!plan.is_complete || plan.cost <= elimination_limit_ || 2 * plan.cost > largest_limit)
    return std::nullopt;
  return HelpLines(graph_).raise_limit("elimination_limit", 2 * plan.cost);
}

bool EstimatorVerdicts::is_within_limit(NodeId node, const Facts& facts) const {
  return rerun_cost(graph_, node, contraction_.below_functions(node), facts) <= rerun_limit_;
}

Verdict EstimatorVerdicts::over_limit(NodeId node, const Facts& facts) const {
  const Downstream& below = contraction_.below_functions(node);
  std::vector<std::string> functions;
  for (const NodeId function : below.functions) functions.push_back(graph_.name(function));
  return {
      .admissible = false,
      .unbiased = true,
      .reason = Reason::cost,
      .why = fmt::format("evaluating '{}' anew for each of its outcomes takes {:.3g} multiplications per "
                         "sample, more than the limit of {:.3g}",
                         fmt::join(functions, "', '"), rerun_cost(graph_, node, below, facts), rerun_limit_),
      .alternatives = {reinforce_instead}};
}

}  // namespace hindsight::internal
