#include <hindsight/graph/rulings.hpp>

#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/graph/reevaluation.hpp>

namespace hindsight {
namespace {

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
  if (!(options.reevaluation_limit >= 0))
    wrong.push_back({.code = "limit",
                     .message = fmt::format("a reevaluation_limit of {} cannot be kept to; it is 0 or more",
                                            options.reevaluation_limit),
                     .help = {fmt::format("compile(graph, {{.reevaluation_limit = {:g}}});",
                                          ValidateOptions{}.reevaluation_limit)}});
  return wrong;
}

Rulings::Rulings(const Graph& graph, const Contraction& contraction, const Catalogue& catalogue,
                 const ValidateOptions& options)
    : graph_(graph),
      contraction_(contraction),
      catalogue_(catalogue),
      reevaluation_limit_(options.reevaluation_limit),
      elimination_limit_(options.elimination_limit),
      planner_(graph, contraction) {
  for (const AnyEstimator& estimator : catalogue.preferred())
    prefers_elimination_ = prefers_elimination_ || estimator.needs().hindsight_steps > 1;
}

const Ruling& Rulings::of(NodeId node, RewardId reward, const Facts& known) {
  if (prefers_elimination_ || !is_within_limit(node, known)) return of_its_own_ = rule(node, reward, known);
  const auto found = known_.find(known);
  return found != known_.end() ? found->second
                               : known_.emplace(known, rule(node, reward, known)).first->second;
}

Ruling Rulings::rule(NodeId node, RewardId reward, const Facts& known) {
  Ruling ruling;
  std::vector<Opinion> opinions;
  for (const AnyEstimator& estimator : catalogue_.offered())
    opinions.push_back({estimator.name(), consult(estimator, node, known)});
  for (std::size_t i = 0; i < opinions.size(); ++i)
    if (opinions[i].verdict.admissible && catalogue_.offered()[i].needs().hindsight_steps > 1)
      opinions[i].verdict.why += "; its cost is worked out where it is chosen";
  ruling.opinions = std::move(opinions);
  for (const AnyEstimator& estimator : catalogue_.preferred()) {
    Verdict verdict = ask(estimator, node, reward, known);
    if (verdict.admissible && verdict.unbiased) {
      ruling.chosen = estimator;
      ruling.verdict = std::move(verdict);
      break;
    }
    if (ruling.passed_over.empty())
      ruling.passed_over = fmt::format("not {}: {}", estimator.name(), verdict.why);
  }
  return ruling;
}

/// A user's estimator that cannot even answer is not admissible; validate must not throw for it.
Verdict Rulings::consult(const AnyEstimator& estimator, NodeId node, const Facts& known) const {
  const Needs needs = estimator.needs();
  const bool reruns =
      needs.hindsight_steps == 1 || (needs.candidate_rewards && known.known && known.reads_directly);
  try {
    Verdict verdict = estimator.admissible(known);
    if (needs.pathwise && verdict.admissible && !known.children_have_slopes)
      return undefined("one of its children has no backpropagate, so its slope is not known");
    return verdict.admissible && reruns && !is_within_limit(node, known) ? over_limit(node, known) : verdict;
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

Verdict Rulings::ask(const AnyEstimator& estimator, NodeId node, RewardId reward, const Facts& known) {
  const int steps = estimator.needs().hindsight_steps;
  Verdict verdict = consult(estimator, node, known);
  if (steps < 2 || !verdict.admissible) return verdict;
  if (const auto plan = over_elimination_limit(steps, node, reward))
    return refuse_elimination(*plan, steps, node, reward, known);
  if (!is_within_limit(node, known) &&
      planner_.costliest(node, reward, steps, elimination_limit_).is_one_step)
    return over_limit(node, known);  // messages will do
  return verdict;
}

std::optional<EliminationPlan> Rulings::over_elimination_limit(int steps, NodeId node, RewardId reward) {
  EliminationPlan plan = planner_.costliest(node, reward, steps, elimination_limit_);
  if (plan.is_complete) return std::nullopt;
  // Tables a hundred times as large would not fit into memory, and most refusals are told in few words.
  if (refused_eliminations_ <= shown_per_code) {
    EliminationPlan more = planner_.costliest(node, reward, steps, 100 * elimination_limit_);
    if (more.cost > elimination_limit_) plan = std::move(more);
  }
  return plan;
}

Verdict Rulings::refuse_elimination(const EliminationPlan& plan, int steps, NodeId node, RewardId reward,
                                    const Facts& known) {
  Verdict verdict{
      .admissible = false, .unbiased = true, .reason = Reason::cost, .why = {}, .alternatives = {}};
  // A report writes out only the first; working out how many steps would fit takes time.
  if (refused_eliminations_++ >= shown_per_code) {
    verdict.why = fmt::format("summing units out takes more operations per sample than the limit of {:.3g}",
                              elimination_limit_);
    verdict.alternatives = {{"Reinforce{}", "unbiased everywhere, more variance"}};
    return verdict;
  }
  const int fitting = most_steps(steps, node, reward);
  const std::string fit =
      fitting > 1 ? fmt::format("{} steps fit", fitting) : std::string("not even 2 steps fit");
  if (plan.is_explored) {
    const std::size_t summed = plan.variables.size() - 1;
    verdict.why = fmt::format(
        "summing out {} unit{} takes {}{:.3g} operations per sample for one unit, more than the limit of "
        "{:.3g}; the largest table joins {}; {}",
        summed, summed == 1 ? "" : "s", plan.is_complete ? "" : "more than ", plan.cost, elimination_limit_,
        list_nodes(graph_, plan.largest), fit);
  } else {
    verdict.why = fmt::format("too many edges lie within its steps to plan what to sum out; {}", fit);
  }
  std::string options = known.assumption_1 ? "" : ".assumption = Assumption::relaxed";
  if (fitting > 1) options += fmt::format("{}.steps = {}", options.empty() ? "" : ", ", fitting);
  verdict.alternatives = {
      {fmt::format("Hnca{{{}}}", options), fitting > 1 ? "as many steps as fit" : "one step"},
      {"Reinforce{}", "unbiased everywhere, more variance"}};
  return verdict;
}

/// More steps never cost less: the number that fits is found by doubling, then by halves.
int Rulings::most_steps(int fewer_than, NodeId node, RewardId reward) {
  const auto fits = [&](int steps) {
    return planner_.costliest(node, reward, steps, elimination_limit_).is_complete;
  };
  int fitting = 1, over = fewer_than;
  for (int steps = 2; steps < over && steps > 0; steps *= 2)
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

std::optional<std::string> Rulings::raise_limit(const AnyEstimator& estimator, NodeId node, RewardId reward) {
  const int steps = estimator.needs().hindsight_steps;
  if (steps < 2) return std::nullopt;
  const auto plan = over_elimination_limit(steps, node, reward);
  if (!plan || !plan->is_complete || 2 * plan->cost > largest_limit) return std::nullopt;
  return fmt::format("or compile(graph, {{.elimination_limit = {:.3g}}});", 2 * plan->cost);
}

bool Rulings::is_within_limit(NodeId node, const Facts& known) const {
  return reevaluation_cost(graph_, node, contraction_.below_functions(node), known) <= reevaluation_limit_;
}

Verdict Rulings::over_limit(NodeId node, const Facts& known) const {
  const Downstream& below = contraction_.below_functions(node);
  std::vector<std::string> functions;
  for (const NodeId function : below.functions) functions.push_back(graph_.name(function));
  return {.admissible = false,
          .unbiased = true,
          .reason = Reason::cost,
          .why = fmt::format("evaluating '{}' anew for each of its outcomes takes {:.3g} multiplications per "
                             "sample, more than the limit of {:.3g}",
                             fmt::join(functions, "', '"), reevaluation_cost(graph_, node, below, known),
                             reevaluation_limit_),
          .alternatives = {{"Reinforce{}", "unbiased everywhere, more variance"}}};
}

}  // namespace hindsight
