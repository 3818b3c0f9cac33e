#include "tool/methods.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/hindsight.hpp>

namespace hindsight::tool {
namespace {

/// The same as plain HNCA where Assumption 1 holds, and unbiased where it does not.
const AnyEstimator& relaxed_hnca() {
  static const AnyEstimator estimator = Hnca{.assumption = Assumption::relaxed};
  return estimator;
}

constexpr std::string_view hnca_name = "hnca", no_baseline = "none";

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

void refuse_useless(const Graph& graph, const CreditMethod& method) {
  if (!method.estimator) return;
  const std::optional<std::string> why = why_useless(graph, *method.estimator, standard_catalogue());
  if (!why) return;
  Diagnostic said{
      .code = "method-inadmissible",
      .message = fmt::format("method '{}' comes to nothing on this network: {}", method_name(method), *why)};
  if (method.estimator != relaxed_hnca())
    said.help.emplace_back("hnca   # one step of hindsight, on any network with hidden units");
  said.help.emplace_back("reinforce   # on any network");
  refuse(said);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

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

std::string method_name(const CreditMethod& method) {
  if (method.estimator != relaxed_hnca()) return method.name();
  return method.name().replace(0, relaxed_hnca().name().size(), hnca_name);
}

CreditMethod parse_credit_method(std::string_view text, std::span<const std::string> others) {
  const Catalogue catalogue = standard_catalogue();
  const std::size_t plus = find_plus(text);
  const std::string_view name = trimmed(text.substr(0, plus));
  const bool is_other = std::find(others.begin(), others.end(), name) != others.end();
  if (is_other && !catalogue.estimator(name))
    refuse({.code = "option",
            .message = fmt::format("method '{}' stands alone: nothing can follow it", name),
            .help = {std::string(name)}});
  CreditMethod method{parse_estimator(name, catalogue, others)};
  if (plus != std::string_view::npos)
    method.baseline = parse_baseline(trimmed(text.substr(plus + 1)), catalogue);
  return method;
}

std::span<const AnyEstimator> stand_ins() {
  static const std::array<AnyEstimator, 2> list{relaxed_hnca(), Reinforce{}};
  return list;
}

void credit_by(Graph& graph, const CreditMethod& method) {
  refuse_useless(graph, method);
  credit_with(graph, method, stand_ins(), standard_catalogue());
}

bool is_inadmissible_method(const Error& problem) {
  const auto& said = problem.report().diagnostics;
  return !said.empty() && said.front().code == "method-inadmissible";
}

std::string canonical_method(std::string_view text) {
  const std::vector<std::string> known = method_names();
  if (std::find(known.begin(), known.end(), trimmed(text)) != known.end()) return std::string(trimmed(text));
  return method_name(parse_credit_method(text, known));
}

}  // namespace hindsight::tool
