#include <hindsight/graph/rulings.hpp>

#include <new>
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
  if (prefers_elimination_ || !is_within_limit(node)) return of_its_own_ = rule(node, reward, known);
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
  const int steps = estimator.needs().hindsight_steps;
  try {
    Verdict verdict = estimator.admissible(known);
    if (estimator.needs().pathwise && verdict.admissible && !known.children_have_slopes)
      return undefined("one of its children has no backpropagate, so its slope is not known");
    return verdict.admissible && steps == 1 && !is_within_limit(node) ? over_limit(node) : verdict;
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
  if (!is_within_limit(node) && planner_.costliest(node, reward, steps, elimination_limit_).is_one_step)
    return over_limit(node);  // messages will do
  return verdict;
}

std::optional<EliminationPlan> Rulings::over_elimination_limit(int steps, NodeId node, RewardId reward) {
  EliminationPlan plan = planner_.costliest(node, reward, steps, elimination_limit_);
  if (plan.is_complete) return std::nullopt;
  // Tables a hundred times as large would not fit into memory, and most refusals are told in few words.
  if (refused_eliminations_ <= shown_per_code)
    plan = planner_.costliest(node, reward, steps, 100 * elimination_limit_);
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
  int fitting = 1;
  while (fitting + 1 < steps && planner_.costliest(node, reward, fitting + 1, elimination_limit_).is_complete)
    ++fitting;
  const std::size_t summed = plan.variables.size() - 1;
  verdict.why = fmt::format(
      "summing out {} unit{} takes {}{:.3g} operations per sample for one unit, more than the limit of "
      "{:.3g}; "
      "the largest table joins {}; {}",
      summed, summed == 1 ? "" : "s", plan.is_complete ? "" : "more than ", plan.cost, elimination_limit_,
      list_nodes(graph_, plan.largest),
      fitting > 1 ? fmt::format("{} steps fit", fitting) : std::string("not even 2 steps fit"));
  std::string options = known.assumption_1 ? "" : ".assumption = Assumption::relaxed";
  if (fitting > 1) options += fmt::format("{}.steps = {}", options.empty() ? "" : ", ", fitting);
  verdict.alternatives = {
      {fmt::format("Hnca{{{}}}", options), fitting > 1 ? "as many steps as fit" : "one step"},
      {"Reinforce{}", "unbiased everywhere, more variance"}};
  return verdict;
}

std::optional<std::string> Rulings::raise_limit(const AnyEstimator& estimator, NodeId node, RewardId reward) {
  const int steps = estimator.needs().hindsight_steps;
  if (steps < 2) return std::nullopt;
  const auto plan = over_elimination_limit(steps, node, reward);
  if (!plan || !plan->is_complete) return std::nullopt;
  return fmt::format("or compile(graph, {{.elimination_limit = {:.3g}}});", 2 * plan->cost);
}

bool Rulings::is_within_limit(NodeId node) const {
  return reevaluation_cost(graph_, node, contraction_.below_functions(node)) <= reevaluation_limit_;
}

Verdict Rulings::over_limit(NodeId node) const {
  const Downstream& below = contraction_.below_functions(node);
  std::vector<std::string> functions;
  for (const NodeId function : below.functions) functions.push_back(graph_.name(function));
  return {.admissible = false,
          .unbiased = true,
          .reason = Reason::cost,
          .why = fmt::format("evaluating '{}' anew for each of its outcomes takes {:.3g} multiplications per "
                             "sample, more than the limit of {:.3g}",
                             fmt::join(functions, "', '"), reevaluation_cost(graph_, node, below),
                             reevaluation_limit_),
          .alternatives = {{"Reinforce{}", "unbiased everywhere, more variance"}}};
}

}  // namespace hindsight
