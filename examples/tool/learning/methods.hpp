#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/validator.hpp>

namespace hindsight::tool {

/// Without the blanks around it.
std::string_view trimmed(std::string_view text);

/// A way to learn, as options and results call it and as figures call it.
struct Method {
  std::string name;
  std::string label;
};

/// The methods of the paper, in the order of its legends.
const std::vector<Method>& known_methods();
/// Their names alone.
std::vector<std::string> method_names();

/// What parse_credit_method makes the same of, one text for each method: HNCA over one step is always
/// relaxed, and called "hnca".
std::string method_name(const CreditMethod& method);

/// An estimator as the catalogue names it, perhaps with '+' and a baseline or none. What is refused is told
/// what there is, with `others` among it: names that the caller understands besides.
CreditMethod parse_credit_method(std::string_view text, std::span<const std::string> others = {});

/// What stands in where a method's estimator is not admissible.
std::span<const AnyEstimator> stand_ins();

/// The method with those stand-ins. Refused (method-inadmissible) where the
/// estimator would come to nothing: no node admits it, or none at which it looks further than one step does.
void credit_by(Graph& graph, const CreditMethod& method);
/// Whether that is what was refused.
bool is_inadmissible_method(const Error& problem);

/// One of the methods of the paper, or a method of credit, by the one name that results have for it.
std::string canonical_method(std::string_view text);

}  // namespace hindsight::tool
