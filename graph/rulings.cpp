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
                 double reevaluation_limit)
    : graph_(graph), contraction_(contraction), catalogue_(catalogue), limit_(reevaluation_limit) {}

const Ruling& Rulings::of(NodeId node, const Facts& known) {
  if (!is_within_limit(node)) return of_its_own_ = rule(node, known);
  const auto found = known_.find(known);
  return found != known_.end() ? found->second : known_.emplace(known, rule(node, known)).first->second;
}

Ruling Rulings::rule(NodeId node, const Facts& known) const {
  Ruling ruling;
  std::vector<Opinion> opinions;
  for (const AnyEstimator& estimator : catalogue_.offered())
    opinions.push_back({estimator.name(), ask(estimator, node, known)});
  ruling.opinions = std::move(opinions);
  for (const AnyEstimator& estimator : catalogue_.preferred()) {
    Verdict verdict = ask(estimator, node, known);
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
Verdict Rulings::ask(const AnyEstimator& estimator, NodeId node, const Facts& known) const {
  const int steps = estimator.needs().hindsight_steps;
  if (steps > 1)
    return undefined(fmt::format("it asks for {} steps of hindsight; the backward pass brings one", steps));
  try {
    Verdict verdict = estimator.admissible(known);
    if (estimator.needs().pathwise && verdict.admissible && !known.children_have_slopes)
      return undefined("one of its children has no backpropagate, so its slope is not known");
    return steps > 0 && verdict.admissible && !is_within_limit(node) ? over_limit(node) : verdict;
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

bool Rulings::is_within_limit(NodeId node) const {
  return reevaluation_cost(graph_, node, contraction_.below_functions(node)) <= limit_;
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
                             fmt::join(functions, "', '"), reevaluation_cost(graph_, node, below), limit_),
          .alternatives = {{"Reinforce{}", "unbiased everywhere, more variance"}}};
}

}  // namespace hindsight
