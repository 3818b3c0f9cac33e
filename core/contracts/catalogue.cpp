#include <hindsight/core/catalogue.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/core/report.hpp>

namespace hindsight {
namespace {

std::string without_blanks(std::string_view text) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept), [](char c) { return c != ' '; });
  return kept;
}

/// What the kind makes of the options, all of which it must understand.
template <class Kind>
auto read_expression(const Expression& written, const Kind& kind) {
  AttributeReader reader(written.options);
  auto made = kind.read(reader);
  reader.refuse_others([](std::string_view) { return false; });
  return made;
}

}  // namespace

Catalogue& Catalogue::offer(AnyEstimator estimator) {
  offered_.push_back(std::move(estimator));
  return *this;
}

Catalogue& Catalogue::prefer(AnyEstimator estimator) {
  preferred_.push_back(estimator);
  return offer(std::move(estimator));
}

Catalogue& Catalogue::know(NodeKind kind) {
  kind.name = lower_case(kind.name);
  kinds_.push_back(std::move(kind));
  return *this;
}

std::optional<AnyEstimator> Catalogue::estimator(std::string_view name) const {
  const std::string wanted = without_blanks(name);
  const auto offered = std::find_if(offered_.begin(), offered_.end(), [&](const AnyEstimator& estimator) {
    return without_blanks(estimator.name()) == wanted;
  });
  if (offered != offered_.end()) return *offered;
  const auto named = [&](const EstimatorKind& kind) { return wanted.starts_with(kind.name + "("); };
  const auto known = std::find_if(estimators_.begin(), estimators_.end(), named);
  if (known == estimators_.end()) return std::nullopt;
  return read_expression(parse_expression(name), *known);
}

std::vector<std::string> Catalogue::estimator_names() const {
  std::vector<std::string> names;
  for (const AnyEstimator& estimator : offered_) names.push_back(estimator.name());
  return names;
}

std::vector<std::string> Catalogue::baseline_names() const {
  std::vector<std::string> names;
  for (const BaselineKind& kind : baselines_) names.push_back(kind.name);
  return names;
}

AnyBaseline Catalogue::baseline(std::string_view text) const {
  const Expression written = parse_expression(text);
  const auto found = std::find_if(baselines_.begin(), baselines_.end(),
                                  [&](const BaselineKind& kind) { return kind.name == written.name; });
  if (found == baselines_.end()) {
    std::vector<std::string> known = baseline_names();
    known.emplace_back("none");
    refuse({.code = "unknown-baseline",
            .message = fmt::format("there is no baseline called '{}'{}", shortened(written.name),
                                   did_you_mean(written.name, known)),
            .help = {fmt::format("baseline one of: {}", fmt::join(known, ", "))}});
  }
  return read_expression(written, *found);
}

const NodeKind* Catalogue::kind(std::string_view name) const {
  const std::string wanted = lower_case(name);
  const auto found =
      std::find_if(kinds_.begin(), kinds_.end(), [&](const NodeKind& kind) { return kind.name == wanted; });
  return found == kinds_.end() ? nullptr : &*found;
}

std::optional<Attributes> Catalogue::describe(const AnyNode& node) const {
  for (const NodeKind& kind : kinds_) {
    Attributes attributes;
    attributes.set("kind", kind.name);
    if (kind.write(node, attributes)) return attributes;
  }
  return std::nullopt;
}

}  // namespace hindsight
