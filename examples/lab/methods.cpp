#include "lab/methods.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hindsight/core/nearest_name.hpp>
#include <hindsight/core/terminal_text.hpp>
#include <hindsight/hindsight.hpp>

namespace hindsight::lab {
namespace {

/// The same as plain HNCA where Assumption 1 holds, and unbiased where it does not.
const AnyEstimator& relaxed_hnca() {
  static const AnyEstimator estimator = Hnca{.assumption = Assumption::relaxed};
  return estimator;
}

constexpr std::string_view hnca_name = "hnca", no_baseline = "none";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Where the estimator ends: numbers in brackets may have signs.
std::size_t find_plus(std::string_view text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++open;
    if (text[i] == ')') --open;
    if (text[i] == '+' && open <= 0) return i;
  }
  return std::string_view::npos;
}

[[noreturn]] void refuse_name(std::string_view name, const Catalogue& catalogue,
                              std::span<const std::string> others) {
  std::vector<std::string> known = catalogue.estimator_names();
  std::erase(known, relaxed_hnca().name());
  known.insert(known.end(), others.begin(), others.end());
  refuse({.code = "option",
          .message = fmt::format("there is no method '{}'{}", shortened(name), did_you_mean(name, known)),
          .help = {fmt::format("one of: {}", fmt::join(known, ", ")),
                   fmt::format("an estimator may have a baseline, e.g. \"hnca + running-mean\": {}, {}",
                               fmt::join(catalogue.baseline_names(), ", "), no_baseline)}});
}

AnyEstimator parse_estimator(std::string_view text, const Catalogue& catalogue,
                             std::span<const std::string> others) {
  const std::optional<AnyEstimator> found = catalogue.estimator(text);
  if (!found) refuse_name(text, catalogue, others);
  return found->name() == hnca_name ? relaxed_hnca() : *found;
}

BaselineChoice parse_baseline(std::string_view text, const Catalogue& catalogue) {
  if (text == no_baseline) return NoBaseline{};
  return catalogue.baseline(text);
}

/// Those of a trial's credits at which the estimator can differ from fewer steps: where the reward reads all
/// children, nothing lies between to be looked through.
std::vector<const Credit*> telling_credits(const Graph& graph, const Report& trial, int steps) {
  std::vector<const Credit*> all, further;
  for (const Credit& credit : trial.credits) all.push_back(&credit);
  if (steps <= 1) return all;
  const Contraction contraction(graph);
  std::map<std::string_view, NodeId> nodes;
  for (int i = 0; i < graph.node_count(); ++i) nodes.emplace(graph.name(NodeId{i}), NodeId{i});
  for (int r = 0; r < graph.reward_count(); ++r) {
    const std::vector<bool> is_read = contraction.read_directly({r});
    for (const Credit* credit : all) {
      const auto children = contraction.children(nodes.at(credit->node));
      if (credit->reward == graph.name(RewardId{r}) &&
          std::any_of(children.begin(), children.end(),
                      [&](NodeId child) { return !is_read[static_cast<std::size_t>(child.index)]; }))
        further.push_back(credit);
    }
  }
  return further.empty() ? all : further;
}

void refuse_useless(Graph trial, const CreditMethod& method) {
  for (int i = 0; i < trial.node_count(); ++i)
    if (trial.is_stochastic({i})) estimate_everywhere(trial, {i}, method.estimator);
  const Report report = validate(trial);
  const std::vector<const Credit*> credits =
      telling_credits(trial, report, method.estimator.needs().hindsight_steps);
  if (credits.empty() || std::any_of(credits.begin(), credits.end(),
                                     [](const Credit* credit) { return credit->verdict.admissible; }))
    return;
  refuse({.code = "method-inadmissible",
          .message = fmt::format("method '{}' comes to nothing on this network: node '{}': {}", method.name(),
                                 credits.front()->node, credits.front()->why),
          .help = {"hnca   # one step of hindsight, on any network with hidden units",
                   "reinforce   # on any network"}});
}

}  // namespace

const std::vector<Method>& known_methods() {
  static const std::vector<Method> methods{{"hnca", "HNCA"},
                                           {"reinforce", "REINFORCE"},
                                           {"backprop-tanh", "backprop, tanh"},
                                           {"backprop-sigmoid", "backprop, sigmoid"},
                                           {"backprop-relu", "backprop, ReLU"}};
  return methods;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : known_methods()) names.push_back(method.name);
  return names;
}

std::string CreditMethod::name() const {
  std::string text = estimator == relaxed_hnca() ? std::string(hnca_name) : estimator.name();
  if (!baseline) return text;
  const std::optional<AnyBaseline>& chosen = baseline->chosen();
  return fmt::format("{} + {}", text, chosen ? std::string_view(chosen->name()) : no_baseline);
}

CreditMethod parse_credit_method(std::string_view text, std::span<const std::string> others) {
  const Catalogue catalogue = standard_catalogue();
  const std::size_t plus = find_plus(text);
  CreditMethod method{parse_estimator(trimmed(text.substr(0, plus)), catalogue, others)};
  if (plus != std::string_view::npos)
    method.baseline = parse_baseline(trimmed(text.substr(plus + 1)), catalogue);
  return method;
}

void credit_with(Graph& graph, const CreditMethod& method) {
  refuse_useless(graph, method);
  if (method.baseline) compare_everywhere(graph, *method.baseline);
  const std::array preferred{method.estimator, relaxed_hnca()};
  estimate_with_first(graph, std::span(preferred).first(method.estimator == relaxed_hnca() ? 1 : 2));
}

bool is_inadmissible_method(const Error& problem) {
  const auto& said = problem.report().diagnostics;
  return !said.empty() && said.front().code == "method-inadmissible";
}

std::string canonical_method(std::string_view text) {
  const std::vector<std::string> known = method_names();
  if (std::find(known.begin(), known.end(), text) != known.end()) return std::string(text);
  return parse_credit_method(text, known).name();
}

}  // namespace hindsight::lab
